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
	{ "DONE", false },
};

enum {
	COLUMN_DONE = 3,
	COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]),
};

/* What was done stands in a column of its own, where something was to be done. */
static int add_row(struct table *t, const struct json_object *d, bool fix)
{
	const char *mended = view_string(d, "mended");
	const char *const cells[COLUMN_COUNT] = {
		view_string(d, "kind"),
		view_string(d, "id"),
		view_string(d, "what"),
		mended[0] ? mended : "nothing: this needs a person",
	};
	int r = table_add(t, cells);

	if (r >= 0 && fix)
		table_paint(t, COLUMN_DONE, mended[0] ? TABLE_GOOD : TABLE_BAD);
	return r;
}

static int print_differences(struct cli *cli, bool fix,
			     const struct json_object *differences)
{
	_cleanup_(table_freep) struct table *t =
		table_new(columns, fix ? COLUMN_COUNT : COLUMN_DONE);
	size_t i, count = json_array_size(differences);

	for (i = 0; t && i < count; i++)
		if (add_row(t, json_array_at(differences, i), fix) < 0)
			break;
	if (!t || i < count)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	table_print(t, stdout, cli->colour);
	return 0;
}

/* Those that are still there. */
static size_t count_left(const struct json_object *differences)
{
	size_t i, left = 0;

	for (i = 0; i < json_array_size(differences); i++)
		if (!view_string(json_array_at(differences, i), "mended")[0])
			left++;
	return left;
}

int cmd_audit(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *differences;
	bool fix = false;
	const struct args_option options[] = {
		{ "fix", 'f', NULL, "make right what needs no person",
		  .flag = &fix },
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = fix ? calls_post_json(cli, "/admin/v1/audit", "{}", &answer) :
		  calls_get_json(cli, "/admin/v1/audit", &answer);
	if (r < 0)
		return r;
	differences = json_member(answer, "differences");
	if (json_kind_of(differences) != JSON_ARRAY)
		return cli_fail(cli, CLI_BROKEN,
				"The daemon's answer has no differences");
	if (cli->json)
		r = calls_print_json(cli, answer);
	else if (json_array_size(differences) > 0)
		r = print_differences(cli, fix, differences);
	else
		puts("No differences");
	if (r < 0)
		return r;
	return count_left(differences) > 0 ? CLI_NEGATIVE : CLI_OK;
}
