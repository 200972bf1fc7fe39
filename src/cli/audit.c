#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/views.h"

static const struct table_column columns[] = {
	{ "KIND", false },
	{ "ID", false },
	{ "DIFFERENCE", false },
};

static int print_differences(struct cli *cli,
			     const struct json_object *differences)
{
	_cleanup_(table_freep) struct table *t = table_new(columns, 3);
	size_t i, count = json_array_size(differences);

	for (i = 0; t && i < count; i++) {
		const struct json_object *d = json_array_at(differences, i);
		const char *const cells[] = { view_string(d, "kind"),
					      view_string(d, "id"),
					      view_string(d, "what") };

		if (table_add(t, cells) < 0)
			break;
	}
	if (!t || i < count)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	table_print(t, stdout, cli->colour);
	return 0;
}

int cmd_audit(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *differences;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = calls_get_json(cli, "/admin/v1/audit", &answer);
	if (r < 0)
		return r;
	differences = json_member(answer, "differences");
	if (json_kind_of(differences) != JSON_ARRAY)
		return cli_fail(cli, CLI_BROKEN,
				"The daemon's answer has no differences");
	if (cli->json)
		r = calls_print_json(cli, answer);
	else if (json_array_size(differences) > 0)
		r = print_differences(cli, differences);
	else
		puts("No differences");
	if (r < 0)
		return r;
	return json_array_size(differences) > 0 ? CLI_NEGATIVE : CLI_OK;
}
