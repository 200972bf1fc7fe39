#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/transfer.h"
#include "cli/views.h"

enum { COLUMN_COUNT = 7 };

static const struct table_column columns[COLUMN_COUNT] = {
	{ "ARTIFACT", false },  { "PATH", false }, { "BYTES", true },
	{ "AGE", true },        { "BY", false },   { "TENANT", false },
	{ "CONTAINER", false },
};

static int add_row(struct cli *cli, const struct json_object *object,
		   struct table *t)
{
	char size[TEXT_SHORT_MAX], age[TEXT_SHORT_MAX];
	const char *cells[COLUMN_COUNT];
	struct view_file file;
	int r = view_file(cli, object, &file);

	if (r < 0)
		return r;
	cells[0] = file.id;
	cells[1] = file.name;
	cells[2] = text_bytes((uint64_t)file.bytes, size);
	cells[3] = text_since(file.created_at, age);
	cells[4] = file.source;
	cells[5] = view_string(object, "tenant");
	cells[6] = view_string(object, "container_id");
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

static int list(struct cli *cli)
{
	_cleanup_(table_freep) struct table *t =
		table_new(columns, COLUMN_COUNT);

	return calls_print_list(cli, "/admin/v1/artifacts", t, add_row);
}

/* Its name in the container is the tenant's business; here it is its id. */
static int get(struct cli *cli, const char *id)
{
	_cleanup_free_ char *path =
		calls_path("/admin/v1/artifacts/", id, "/content", NULL);
	_cleanup_free_ char *name = NULL;
	int r;

	r = transfer_save(cli, path, ".", id, false, &name);
	if (r >= 0)
		cli_note("Saved as '%s'", name);
	return r;
}

int cmd_artifacts(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *path = NULL;
	const char *what;
	struct args args;
	int i, r;

	r = args_parse(cli, argc, argv, NULL, 0, ARGS_LIST_MAX, &args);
	if (r < 0 || args.help)
		return r;
	what = args.count > 0 ? args.items[0] : "list";
	if (strcmp(what, "list") == 0 && args.count <= 1)
		return list(cli);
	if (strcmp(what, "get") == 0 && args.count == 2)
		return get(cli, args.items[1]);
	if (strcmp(what, "rm") != 0 || args.count < 2)
		return cli_fail(cli, CLI_USAGE,
				"What to do with artifacts is list, get ID or "
				"rm ID...");
	for (i = 1; r >= 0 && i < args.count; i++) {
		free(path);
		path = calls_path("/admin/v1/artifacts/", args.items[i], NULL);
		r = calls_delete(cli, path, false);
	}
	return r;
}
