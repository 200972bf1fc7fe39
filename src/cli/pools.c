#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/views.h"
#include "cli/watch.h"

enum { CELL_MAX = 64, BODY_MAX = 64, IMAGE_MAX = 96, BYTES_PER_MIB = 1 << 20 };

static const struct table_column columns[] = {
	{ "POOL", false },  { "IMAGE", false },       { "READY", true },
	{ "VMS", true },    { "CPUS", true },         { "MEMORY", true },
	{ "DISK", true },   { "ACCELERATOR", false }, { "PROBLEM", false },
};

enum {
	COLUMN_READY = 2,
	COLUMN_PROBLEM = 8,
	COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]),
};

/** struct pools - What was asked for */
struct pools {
	const char *ready; /* set: a number or "default" */
	struct watch watch;
};

/* The digest's first digits tell two images apart as well as all of them. */
static const char *image_text(const struct json_object *pool,
			      char room[IMAGE_MAX])
{
	static const char between[] = "@sha256:";
	const char *image = view_string(pool, "image");
	const char *digest = strstr(image, between);

	if (!digest)
		return image;
	(void)snprintf(room, IMAGE_MAX, "%.*s@%.12s", (int)(digest - image),
		       image, digest + sizeof(between) - 1);
	return room;
}

/* "1 of 3", and what the settings say if that is something else. */
static void ready_text(const struct json_object *pool, char room[CELL_MAX])
{
	int64_t target = view_int(pool, "ready_target");
	int64_t setting = view_int(pool, "ready_setting");
	int n = snprintf(room, CELL_MAX, "%" PRId64 " of %" PRId64,
			 view_int(pool, "ready"), target);

	if (setting != target && n > 0 && n < CELL_MAX)
		(void)snprintf(room + n, (size_t)(CELL_MAX - n),
			       " (settings: %" PRId64 ")", setting);
}

static int add_row(struct cli *cli, struct table *t,
		   const struct json_object *pool)
{
	char image[IMAGE_MAX], ready[CELL_MAX], vms[CELL_MAX], cpus[CELL_MAX];
	char memory[TEXT_SHORT_MAX], disk[TEXT_SHORT_MAX];
	uint64_t mib = (uint64_t)view_int(pool, "memory_mib");
	const char *const cells[COLUMN_COUNT] = {
		view_string(pool, "name"),
		image_text(pool, image),
		ready,
		vms,
		cpus,
		text_bytes(mib * BYTES_PER_MIB, memory),
		text_bytes((uint64_t)view_int(pool, "disk_bytes"), disk),
		view_string(pool, "accelerator"),
		view_string(pool, "problem"),
	};

	ready_text(pool, ready);
	(void)snprintf(vms, sizeof(vms), "%" PRId64 " of %" PRId64,
		       view_int(pool, "vms"), view_int(pool, "max"));
	(void)snprintf(cpus, sizeof(cpus), "%" PRId64, view_int(pool, "vcpus"));
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (view_int(pool, "ready") < view_int(pool, "ready_target"))
		table_paint(t, COLUMN_READY, TABLE_WARN);
	table_paint(t, COLUMN_PROBLEM, TABLE_BAD);
	return 0;
}

static int print_table(struct cli *cli, const struct json_object *pools)
{
	_cleanup_(table_freep) struct table *t =
		table_new(columns, COLUMN_COUNT);
	size_t i;
	int r;

	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	for (i = 0; i < json_array_size(pools); i++) {
		r = add_row(cli, t, json_array_at(pools, i));
		if (r < 0)
			return r;
	}
	table_print(t, stdout, cli->colour);
	return 0;
}

static int look(struct cli *cli, void *userdata)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	int r;

	(void)userdata;
	r = calls_get_json(cli, "/admin/v1/pools", &answer);
	if (r < 0)
		return r;
	return cli->json ? calls_print_json(cli, answer) :
			   print_table(cli, json_member(answer, "pools"));
}

/* A number, or the word for what the settings say. */
static int ready_body(struct cli *cli, const char *ready, char body[BODY_MAX])
{
	unsigned long number;
	char *end;

	if (strcmp(ready, "default") == 0) {
		(void)snprintf(body, BODY_MAX, "{\"ready\":null}");
		return 0;
	}
	errno = 0;
	number = strtoul(ready, &end, 10);
	if (errno || end == ready || *end || ready[0] < '0' || ready[0] > '9')
		return cli_fail(cli, CLI_USAGE,
				"--ready takes a number or 'default', not '%s'",
				ready);
	(void)snprintf(body, BODY_MAX, "{\"ready\":%lu}", number);
	return 0;
}

static int pools_set(struct cli *cli, const struct args *args,
		     const struct pools *pools)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	_cleanup_free_ char *path = NULL;
	char body[BODY_MAX], ready[CELL_MAX];
	int r;

	if (args->count < 2 || !pools->ready)
		return cli_fail(cli, CLI_USAGE,
				"Say which pool, and with --ready how many VMs "
				"it keeps ready");
	r = ready_body(cli, pools->ready, body);
	if (r < 0)
		return r;
	path = calls_path("/admin/v1/pools/", args->items[1], NULL);
	r = calls_post_json(cli, path, body, &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	ready_text(answer, ready);
	printf("%s: %s ready\n", args->items[1], ready);
	return 0;
}

int cmd_pools(struct cli *cli, int argc, char **argv)
{
	struct pools pools = { .ready = NULL };
	const struct args_option options[] = {
		{ "ready", 'r', "N", "set: VMs to keep ready, or 'default'",
		  .string = &pools.ready },
		WATCH_OPTIONS(&pools.watch),
		{ .name = NULL },
	};
	const char *what;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 2, &args);
	if (r < 0 || args.help)
		return r;
	what = args.count > 0 ? args.items[0] : "list";
	if (strcmp(what, "set") == 0)
		return pools_set(cli, &args, &pools);
	if (strcmp(what, "list") != 0 || args.count > 1 || pools.ready)
		return cli_fail(cli, CLI_USAGE,
				"pools takes 'list', or 'set', a pool and "
				"--ready");
	return watch_run(cli, &pools.watch, look, NULL);
}
