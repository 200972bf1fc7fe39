#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/views.h"
#include "cli/watch.h"

enum { LINE_MAX_BYTES = 4096, CELL_MAX = 48 };

static const char *const figures[] = {
	"tenant",	"day",		 "origin",	 "key",
	"sessions",	"live_sessions", "executions",	 "assigned_s",
	"executing_ms", "cpu_ms",	 "memory_gib_s", "bytes_in",
	"bytes_out",	"idle_share",	 "responses",	 "input_tokens",
	"output_tokens", "tool_calls",	 "held_s",
};

enum { FIGURE_COUNT = sizeof(figures) / sizeof(figures[0]) };

/* Names are labels, and all else is numbers: nothing has to be quoted. */
static int csv_line(struct cli *cli, const struct json_object *row)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(LINE_MAX_BYTES);
	size_t i;

	for (i = 0; i < FIGURE_COUNT; i++) {
		const struct json_object *value = json_member(row, figures[i]);
		struct json_string text = json_string_of(value);
		struct json_writer w = JSON_WRITER_INIT(&line);

		if (i > 0)
			(void)putchar(',');
		buf_clear(&line);
		if (text.data) {
			text_print(stdout, text.data);
			continue;
		}
		if (!value)
			continue;
		json_write_value(&w, NULL, value);
		if (json_write_end(&w) < 0)
			return cli_fail(cli, CLI_LOCAL, "Out of memory");
		(void)fwrite(line.data, 1, line.length, stdout);
	}
	(void)putchar('\n');
	return 0;
}

static int print_csv(struct cli *cli, const struct json_object *rows)
{
	size_t i;
	int r = 0;

	for (i = 0; i < FIGURE_COUNT; i++)
		printf("%s%s", i > 0 ? "," : "", figures[i]);
	(void)putchar('\n');
	for (i = 0; r >= 0 && i < json_array_size(rows); i++)
		r = csv_line(cli, json_array_at(rows, i));
	return r;
}

static void hours(char *room, double seconds)
{
	(void)snprintf(room, CELL_MAX, "%.2f", seconds / 3600);
}

static void count(char *room, const struct json_object *row, const char *what)
{
	(void)snprintf(room, CELL_MAX, "%" PRId64, view_int(row, what));
}

/** struct by - What the report may be by, and the column that has it */
static const struct by {
	const char *name;
	const char *title;
} kinds[] = {
	{ "tenant", NULL }, /* it has the first column anyhow */
	{ "day", "DAY" },
	{ "origin", "ORIGIN" },
	{ "key", "KEY" },
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

#define KIND_WORDS "tenant day origin key"

/* The name is one of KIND_WORDS. */
static const struct by *find_kind(const char *name)
{
	const struct by *by = kinds;

	while (strcmp(by->name, name) != 0)
		by++;
	return by;
}

static int add_row(struct cli *cli, const struct json_object *row,
		   const struct by *by, struct table *t)
{
	double assigned = (double)view_int(row, "assigned_s");
	double executing = (double)view_int(row, "executing_ms") / 1000;
	char sessions[CELL_MAX], executions[CELL_MAX], vm[CELL_MAX];
	char run[CELL_MAX], cpu[CELL_MAX], idle[CELL_MAX] = "-";
	char responses[CELL_MAX], tokens[CELL_MAX], calls[CELL_MAX];
	char in[TEXT_SHORT_MAX], out[TEXT_SHORT_MAX];
	const char *tenant = view_string(row, "tenant");
	const char *cells[] = {
		*tenant ? tenant : "(deleted)",
		view_string(row, by->name),
		sessions,
		executions,
		vm,
		run,
		cpu,
		idle,
		text_bytes((uint64_t)view_int(row, "bytes_in"), in),
		text_bytes((uint64_t)view_int(row, "bytes_out"), out),
		responses,
		tokens,
		calls,
	};

	count(sessions, row, "sessions");
	count(executions, row, "executions");
	count(responses, row, "responses");
	count(calls, row, "tool_calls");
	(void)snprintf(tokens, CELL_MAX, "%" PRId64 "+%" PRId64,
		       view_int(row, "input_tokens"),
		       view_int(row, "output_tokens"));
	hours(vm, assigned);
	hours(run, executing);
	hours(cpu, (double)view_int(row, "cpu_ms") / 1000);
	if (assigned > 0)
		(void)snprintf(idle, CELL_MAX, "%.0f %%",
			       100 * (executing < assigned ?
					      1 - executing / assigned :
					      0));
	if (!by->title)
		memmove(cells + 1, cells + 2, sizeof(cells) - 2 * sizeof(*cells));
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

static int print_table(struct cli *cli, const struct json_object *rows,
		       const struct by *by)
{
	struct table_column columns[] = {
		{ "TENANT", false },   { by->title, false },
		{ "SESSIONS", true },  { "EXECUTIONS", true },
		{ "VM HOURS", true },  { "EXECUTING", true },
		{ "CPU HOURS", true }, { "IDLE", true },
		{ "IN", true },        { "OUT", true },
		{ "RESPONSES", true }, { "TOKENS", true },
		{ "CALLS", true },
	};
	_cleanup_(table_freep) struct table *t = NULL;
	size_t i, count = sizeof(columns) / sizeof(columns[0]);
	int r;

	if (!by->title)
		memmove(columns + 1, columns + 2,
			(--count - 1) * sizeof(*columns));
	t = table_new(columns, count);
	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	for (i = 0; i < json_array_size(rows); i++) {
		r = add_row(cli, json_array_at(rows, i), by, t);
		if (r < 0)
			return r;
	}
	table_print(t, stdout, cli->colour);
	return 0;
}

/* The tenant of the shared options is whom to tell of. */
static char *usage_path(struct cli *cli, const char *since, const struct by *by)
{
	const char *tenant = cli->tenant;

	cli->tenant = NULL;
	return calls_path("/admin/v1/usage?by=", by->name,
			  since ? "&since=" : "", since ? since : "",
			  tenant ? "&tenant=" : "", tenant ? tenant : "", NULL);
}

struct usage {
	char *path;
	const struct by *by;
	bool csv;
	struct watch watch;
};

static int look(struct cli *cli, void *userdata)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct usage *usage = userdata;
	const struct json_object *rows;
	int r;

	r = calls_get_json(cli, usage->path, &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	rows = json_member(answer, "usage");
	return usage->csv ? print_csv(cli, rows) :
			    print_table(cli, rows, usage->by);
}

int cmd_usage(struct cli *cli, int argc, char **argv)
{
	struct usage usage = { .path = NULL };
	const char *since = NULL, *what = kinds[0].name;
	const struct args_option options[] = {
		{ "since", 's', "DAY", "first day, as in 2026-11-29 (30 days)",
		  .string = &since },
		{ "by", 'b', "WHAT", "a line for each tenant, day, origin or key",
		  .string = &what, .words = KIND_WORDS },
		{ "csv", 'c', NULL, "comma-separated, with all figures",
		  .flag = &usage.csv },
		WATCH_OPTIONS(&usage.watch),
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	usage.by = find_kind(what);
	usage.path = usage_path(cli, since, usage.by);
	r = watch_run(cli, &usage.watch, look, &usage);
	free(usage.path);
	return r;
}
