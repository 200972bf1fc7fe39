#include <stdio.h>

#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/views.h"
#include "cli/watch.h"

static const struct table_column columns[] = {
	{ "CONTAINER", false }, { "NAME", false },      { "STATE", false },
	{ "POOL", false },      { "AGE", true },        { "IDLE LEFT", true },
	{ "HARD LEFT", true },  { "EXECUTIONS", true }, { "MEMORY", true },
	{ "TENANT", false },
};

enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

/* "ended: idle_timeout" says more than "ended". */
static const char *state_text(const struct view_container *c, char *room)
{
	if (!c->ended_reason[0])
		return c->state[0] ? c->state : c->status;
	snprintf(room, TEXT_SHORT_MAX, "ended: %s", c->ended_reason);
	return room;
}

static int add_row(struct cli *cli, const struct json_object *object,
		   struct table *t)
{
	char state[TEXT_SHORT_MAX], age[TEXT_SHORT_MAX];
	char idle[TEXT_SHORT_MAX], hard[TEXT_SHORT_MAX];
	char executions[TEXT_SHORT_MAX];
	struct view_container c;
	int r = view_container(cli, object, &c);
	const char *cells[COLUMN_COUNT];

	if (r < 0)
		return r;
	snprintf(executions, sizeof(executions), "%lld",
		 (long long)c.executions);
	cells[0] = c.id;
	cells[1] = c.name;
	cells[2] = state_text(&c, state);
	cells[3] = c.pool;
	cells[4] = text_since(c.created_at, age);
	cells[5] = text_until(c.idle_expires_at, idle);
	cells[6] = text_until(c.hard_expires_at, hard);
	cells[7] = executions;
	cells[8] = c.memory_limit;
	cells[9] = c.tenant;
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

struct ps {
	bool all;
	struct watch watch;
};

/* The operator's list is on the socket only: it has all tenants. */
static int look(struct cli *cli, void *userdata)
{
	_cleanup_(table_freep) struct table *t =
		table_new(columns, COLUMN_COUNT);
	const struct ps *ps = userdata;
	int r;

	if (cli->url)
		return calls_print_list(cli, "/v1/containers", t, add_row);
	/* On a screen that is drawn anew, it is a part of the picture. */
	r = drain_remind(cli, ps->watch.on && !cli->json ? stdout : stderr);
	if (r < 0)
		return r;
	return calls_print_list(cli,
				ps->all ? "/admin/v1/sessions?all=true" :
					  "/admin/v1/sessions",
				t, add_row);
}

int cmd_ps(struct cli *cli, int argc, char **argv)
{
	struct ps ps = { .all = false };
	const struct args_option options[] = {
		{ "all", 'a', NULL, "those that have ended, too",
		  .flag = &ps.all },
		WATCH_OPTIONS(&ps.watch),
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	return watch_run(cli, &ps.watch, look, &ps);
}
