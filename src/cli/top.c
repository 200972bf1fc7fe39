#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/views.h"
#include "cli/watch.h"

/*
 * What each VM takes. CPU time only grows; its share is what it grew by between
 * two looks. So one look alone is two in truth, a moment apart.
 */

enum { BAR_WIDTH = 8, CELL_MAX = 96, BYTES_PER_MIB = 1024 * 1024 };

/* Seconds between the two looks of one. */
#define GLANCE 1.0

/* From these shares on it is coloured. */
#define SHARE_WARN 0.7
#define SHARE_BAD 0.9

static const struct table_column columns[] = {
	{ "STATE", false },  { "AGE", true },
	{ "IDLE LEFT", true }, { "CPU", true },
	{ "MEMORY", true },  { "DISK", true },
	{ "LAST EXECUTION", false }, { "POOL", false },
	{ "TENANT", false }, { "ID", false },
};

enum {
	COLUMN_STATE = 0,
	COLUMN_CPU = 3,
	COLUMN_MEMORY,
	COLUMN_DISK,
	COLUMN_LAST,
	COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]),
};

/**
 * struct row - A VM, or a session that waits for one
 * @cpu, @memory, @disk: Shares of what it may have; below 0: not known
 */
struct row {
	const struct json_object *object;
	double cpu;
	double memory;
	double disk;
};

/** struct top - @before: The look before this one, or NULL */
struct top {
	struct json_object *before;
	const struct sort *sort;
	struct watch watch;
};

static bool is_number(const struct json_object *object, const char *key)
{
	return json_kind_of(json_member(object, key)) == JSON_INT;
}

static double share_of(const struct json_object *object, const char *used,
		       double most)
{
	if (!is_number(object, used) || most <= 0)
		return -1;
	return (double)view_int(object, used) / most;
}

/* -------------------------------------------------------------------- order */

static int falling(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_cpu(const void *a, const void *b)
{
	return falling(((const struct row *)a)->cpu,
		       ((const struct row *)b)->cpu);
}

static int by_memory(const void *a, const void *b)
{
	return falling(((const struct row *)a)->memory,
		       ((const struct row *)b)->memory);
}

static int by_disk(const void *a, const void *b)
{
	return falling(((const struct row *)a)->disk,
		       ((const struct row *)b)->disk);
}

static int by_age(const void *a, const void *b)
{
	int64_t first = view_int(((const struct row *)a)->object, "created_at");
	int64_t second = view_int(((const struct row *)b)->object,
				  "created_at");

	return (first > second) - (first < second);
}

/* Those that end soonest first; those that do not, last. */
static int by_idle(const void *a, const void *b)
{
	const char *key = "idle_expires_at";
	int64_t first = view_int(((const struct row *)a)->object, key);
	int64_t second = view_int(((const struct row *)b)->object, key);

	if (!first || !second)
		return !first - !second;
	return (first > second) - (first < second);
}

static const struct sort {
	const char *name;
	int (*compare)(const void *a, const void *b);
} sorts[] = {
	{ "cpu", by_cpu }, { "memory", by_memory }, { "disk", by_disk },
	{ "age", by_age }, { "idle", by_idle },
};

#define SORT_WORDS "cpu memory disk age idle"

/* The name is one of SORT_WORDS. */
static const struct sort *find_sort(const char *name)
{
	const struct sort *s = sorts;

	while (strcmp(s->name, name) != 0)
		s++;
	return s;
}

/* --------------------------------------------------------------------- cells */

static enum table_paint paint_of(double share)
{
	if (share < 0)
		return TABLE_PLAIN;
	if (share < SHARE_WARN)
		return TABLE_GOOD;
	return share < SHARE_BAD ? TABLE_WARN : TABLE_BAD;
}

/* A bar where there is a terminal to look at it, and words behind it. */
static void share_text(const struct cli *cli, double share, const char *words,
		       char room[CELL_MAX])
{
	char bar[BAR_WIDTH + 1];
	int i, full;

	if (share < 0 || !cli->terminal) {
		snprintf(room, CELL_MAX, "%s", share < 0 ? "-" : words);
		return;
	}
	full = (int)lround(fmin(share, 1) * BAR_WIDTH);
	for (i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < full ? '|' : '.';
	bar[i] = '\0';
	snprintf(room, CELL_MAX, "%s %8s", bar, words);
}

static const char *last_text(const struct json_object *object,
			     char room[CELL_MAX])
{
	const struct json_object *now = json_member(object, "executing");
	const struct json_object *last = json_member(object, "last_execution");
	char since[TEXT_SHORT_MAX];

	if (json_kind_of(now) == JSON_OBJECT)
		snprintf(room, CELL_MAX, "runs for %s",
			 text_since(view_int(now, "started_at"), since));
	else if (json_kind_of(last) == JSON_OBJECT)
		snprintf(room, CELL_MAX, "%s, %s ago",
			 view_string(last, "status"),
			 text_since(view_int(last, "ended_at"), since));
	else
		room[0] = '\0';
	return room;
}

static void paint_row(struct table *t, const struct row *row)
{
	const char *last = view_string(
		json_member(row->object, "last_execution"), "status");
	const char *state = view_string(row->object, "state");

	if (strcmp(state, "executing") == 0)
		table_paint(t, COLUMN_STATE, TABLE_GOOD);
	else if (strcmp(state, "stopping") == 0)
		table_paint(t, COLUMN_STATE, TABLE_WARN);
	table_paint(t, COLUMN_CPU, paint_of(row->cpu));
	table_paint(t, COLUMN_MEMORY, paint_of(row->memory));
	table_paint(t, COLUMN_DISK, paint_of(row->disk));
	if (last[0] && strcmp(last, "ok") != 0)
		table_paint(t, COLUMN_LAST, TABLE_WARN);
}

static const char *used_text(const struct json_object *object, const char *key,
			     char *room)
{
	return text_bytes((uint64_t)view_int(object, key), room);
}

static int add_row(struct cli *cli, struct table *t, const struct row *row)
{
	char age[TEXT_SHORT_MAX], idle[TEXT_SHORT_MAX], words[TEXT_SHORT_MAX];
	char cpu[CELL_MAX], memory[CELL_MAX], disk[CELL_MAX], last[CELL_MAX];
	const struct json_object *object = row->object;
	const char *container = view_string(object, "container");
	const char *const cells[COLUMN_COUNT] = {
		view_string(object, "state"),
		text_since(view_int(object, "created_at"), age),
		text_until(view_int(object, "idle_expires_at"), idle),
		cpu,
		memory,
		disk,
		last_text(object, last),
		view_string(object, "pool"),
		view_string(object, "tenant"),
		container[0] ? container : view_string(object, "vm"),
	};

	snprintf(words, sizeof(words), "%.0f %%", 100 * row->cpu);
	share_text(cli, row->cpu, words, cpu);
	share_text(cli, row->memory,
		   used_text(object, "memory_used_bytes", words), memory);
	share_text(cli, row->disk,
		   used_text(object, "disk_used_bytes", words), disk);
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	paint_row(t, row);
	return 0;
}

/* -------------------------------------------------------------------- output */

static int print_table(struct cli *cli, const struct row *rows, size_t count)
{
	_cleanup_(table_freep) struct table *t =
		table_new(columns, COLUMN_COUNT);
	size_t i;
	int r;

	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	for (i = 0; i < count; i++) {
		r = add_row(cli, t, &rows[i]);
		if (r < 0)
			return r;
	}
	table_print(t, stdout, cli->colour);
	return 0;
}

static int write_member(const char *key, struct json_object *value,
			void *userdata)
{
	json_write_value(userdata, key, value);
	return 0;
}

/* What the daemon says of each, and what was made of it. */
static int print_json(struct cli *cli, const struct row *rows, size_t count)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	size_t i;

	json_write_object(&w, NULL);
	json_write_string(&w, "object", "list");
	json_write_array(&w, "data");
	for (i = 0; i < count; i++) {
		json_write_object(&w, NULL);
		(void)json_each_member(rows[i].object, write_member, &w);
		if (rows[i].cpu < 0)
			json_write_null(&w, "cpu_share");
		else
			json_write_double(&w, "cpu_share", rows[i].cpu);
		json_write_close(&w);
	}
	json_write_close(&w);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	puts(buf_str(&text));
	return 0;
}

static void print_pool(const struct json_object *pool)
{
	printf("pool ");
	text_print(stdout, view_string(pool, "name"));
	printf(": %" PRId64 " of %" PRId64 " VMs, %" PRId64 " of %" PRId64
	       " ready\n",
	       view_int(pool, "vms"), view_int(pool, "max"),
	       view_int(pool, "ready"), view_int(pool, "ready_target"));
}

static void print_head(const struct json_object *status)
{
	const struct json_object *pools = json_member(status, "pools");
	const char *drain =
		view_string(json_member(status, "drain"), "state");
	bool drains = drain[0] && strcmp(drain, "off") != 0;
	char taken[TEXT_SHORT_MAX], all[TEXT_SHORT_MAX];
	char sessions[TEXT_SHORT_MAX], vms[TEXT_SHORT_MAX];
	size_t i;

	printf("%s, %s, %s of %s memory promised%s",
	       text_count(view_int(status, "containers"), "session", sessions),
	       text_count(view_int(status, "vms"), "VM", vms),
	       text_bytes((uint64_t)view_int(status, "memory_taken_mib") *
				  BYTES_PER_MIB,
			  taken),
	       text_bytes((uint64_t)view_int(status, "memory_mib") *
				  BYTES_PER_MIB,
			  all),
	       drains ? ", " : "");
	text_print(stdout, drains ? drain : "");
	(void)putchar('\n');
	for (i = 0; i < json_array_size(pools); i++)
		print_pool(json_array_at(pools, i));
	(void)putchar('\n');
}

/* ---------------------------------------------------------------------- looks */

static const struct json_object *find_vm(const struct json_object *list,
					 const char *vm)
{
	const struct json_object *data = json_member(list, "data");
	size_t i, count = json_array_size(data);

	for (i = 0; vm[0] && i < count; i++) {
		const struct json_object *o = json_array_at(data, i);

		if (strcmp(view_string(o, "vm"), vm) == 0)
			return o;
	}
	return NULL;
}

/* Of all its virtual CPUs, from one look to the next. */
static double cpu_share(const struct json_object *before,
			const struct json_object *now,
			const struct json_object *object)
{
	const struct json_object *old =
		find_vm(before, view_string(object, "vm"));
	double passed = (double)(view_int(now, "clock_usec") -
				 view_int(before, "clock_usec"));
	double cpus = (double)view_int(object, "vcpus");
	double used;

	if (!old || passed <= 0 || cpus <= 0 || !is_number(old, "cpu_usec") ||
	    !is_number(object, "cpu_usec"))
		return -1;
	used = (double)(view_int(object, "cpu_usec") -
			view_int(old, "cpu_usec"));
	return used < 0 ? -1 : used / passed / cpus;
}

static int show(struct cli *cli, struct top *top, const struct json_object *now)
{
	const struct json_object *data = json_member(now, "data");
	size_t i, count = json_array_size(data);
	_cleanup_free_ struct row *rows = calloc(count + 1, sizeof(*rows));

	if (!rows)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	for (i = 0; i < count; i++) {
		const struct json_object *o = json_array_at(data, i);

		rows[i] = (struct row){
			.object = o,
			.cpu = cpu_share(top->before, now, o),
			.memory = share_of(
				o, "memory_used_bytes",
				(double)view_int(o, "memory_mib") *
					BYTES_PER_MIB),
			.disk = share_of(o, "disk_used_bytes",
					 (double)view_int(o, "disk_bytes")),
		};
	}
	qsort(rows, count, sizeof(*rows), top->sort->compare);
	return cli->json ? print_json(cli, rows, count) :
			   print_table(cli, rows, count);
}

static int ask(struct cli *cli, struct json_object **ret_now)
{
	return calls_get_json(cli, "/admin/v1/top", ret_now);
}

static int look(struct cli *cli, void *userdata)
{
	static const struct watch glance = { .interval = GLANCE };
	_cleanup_(json_freep) struct json_object *status = NULL;
	_cleanup_(json_freep) struct json_object *now = NULL;
	struct top *top = userdata;
	int r = 0;

	if (!top->before) {
		r = ask(cli, &top->before);
		if (r >= 0)
			r = watch_pause(cli, &glance);
	}
	if (r >= 0)
		r = ask(cli, &now);
	if (r >= 0)
		r = calls_get_json(cli, "/admin/v1/status", &status);
	if (r < 0)
		return r;
	if (!cli->json)
		print_head(status);
	r = show(cli, top, now);
	json_free(top->before);
	top->before = take_ptr(now);
	return r;
}

int cmd_top(struct cli *cli, int argc, char **argv)
{
	struct top top = { .before = NULL };
	const char *sort = sorts[0].name;
	bool once = false;
	const struct args_option options[] = {
		{ "sort", 's', "WHAT", "cpu, memory, disk, age or idle",
		  .string = &sort, .words = SORT_WORDS },
		{ "once", 0, NULL, "look once, as into a pipe",
		  .flag = &once },
		WATCH_OPTIONS(&top.watch),
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	top.sort = find_sort(sort);
	if (cli->terminal && !cli->json)
		top.watch.on = true;
	if (once)
		top.watch.on = false;
	r = watch_run(cli, &top.watch, look, &top);
	json_free(top.before);
	return r;
}
