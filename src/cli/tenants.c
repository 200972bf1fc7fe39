#include <errno.h>
#include <inttypes.h>
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
#include "cli/table.h"
#include "cli/text.h"
#include "cli/views.h"

enum { BODY_MAX = 64 * 1024, TEXT_MAX = 48 };

/* How a limit is written: a count, bytes with a unit, or hours. */
enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_HOURS };

static const struct limit {
	const char *name; /* on the command line */
	const char *key;  /* in the API */
	enum unit unit;
} limits[] = {
	{ "sessions", "max_sessions", UNIT_COUNT },
	{ "executions", "max_executions", UNIT_COUNT },
	{ "requests", "max_requests", UNIT_COUNT },
	{ "rate", "requests_per_minute", UNIT_COUNT },
	{ "bytes", "max_bytes", UNIT_BYTES },
	{ "hours", "session_seconds_per_day", UNIT_HOURS },
};

enum { LIMIT_COUNT = sizeof(limits) / sizeof(limits[0]) };

static const struct limit *find_limit(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++)
		if (strlen(limits[i].name) == length &&
		    memcmp(limits[i].name, name, length) == 0)
			return &limits[i];
	return NULL;
}

/* The power of 1024 that a letter stands for; -1 if it stands for none. */
static int unit_shift(const char *unit)
{
	static const char letters[] = "KMGT";
	const char *at = *unit ? strchr(letters, *unit) : NULL;

	if (!*unit)
		return 0;
	return at && !unit[1] ? 10 * (int)(at - letters + 1) : -1;
}

/* Return: whether @text is a limit; "default" is 0, and 0 is none itself */
static bool read_value(const struct limit *limit, const char *text,
		       int64_t *ret)
{
	double number, scaled;
	int shift = 0;
	char *end;

	if (strcmp(text, "default") == 0) {
		*ret = 0;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	number = strtod(text, &end);
	if (limit->unit == UNIT_BYTES)
		shift = unit_shift(end);
	else if (*end)
		shift = -1;
	if (shift < 0)
		return false;
	scaled = number * (double)(1ull << shift);
	if (limit->unit == UNIT_HOURS)
		scaled *= 3600;
	if (!(scaled >= 1 && scaled < 9e18))
		return false;
	*ret = (int64_t)scaled;
	return limit->unit == UNIT_HOURS || (double)*ret == scaled;
}

static int add_limit(struct cli *cli, const char *word, struct json_writer *w)
{
	const char *equals = strchr(word, '=');
	const struct limit *limit = NULL;
	int64_t value = 0;

	if (equals)
		limit = find_limit(word, (size_t)(equals - word));
	if (!limit)
		return cli_fail(cli, CLI_USAGE,
				"'%s' is no limit: they are sessions=N, "
				"executions=N, requests=N, rate=N, bytes=SIZE "
				"and hours=N, or =default",
				word);
	if (!read_value(limit, equals + 1, &value))
		return cli_fail(cli, CLI_USAGE, "'%s' is no value for '%s'",
				equals + 1, limit->name);
	json_write_int(w, limit->key, value);
	return 0;
}

static void print_value(const struct limit *limit,
			const struct json_object *from)
{
	int64_t value = view_int(from, limit->key);
	char text[TEXT_SHORT_MAX];

	if (value == 0)
		printf("none");
	else if (limit->unit == UNIT_BYTES)
		printf("%s", text_bytes((uint64_t)value, text));
	else if (limit->unit == UNIT_HOURS)
		printf("%.2f", (double)value / 3600);
	else
		printf("%" PRId64, value);
}

static int print_tenant(struct cli *cli, const struct json_object *tenant)
{
	const struct json_object *own = json_member(tenant, "limits");
	const struct json_object *all = json_member(tenant, "effective");
	const struct json_object *holds = json_member(tenant, "holds");
	char text[TEXT_SHORT_MAX];
	size_t i;

	if (cli->json)
		return calls_print_json(cli, tenant);
	printf("tenant: ");
	text_print(stdout, view_string(tenant, "id"));
	printf(" (");
	text_print(stdout, view_string(tenant, "state"));
	printf(")\nholds: %" PRId64 " sessions, %" PRId64 " executions, %" PRId64
	       " requests, %" PRId64 " files, %s\n",
	       view_int(holds, "sessions"), view_int(holds, "executions"),
	       view_int(holds, "requests"), view_int(holds, "files"),
	       text_bytes((uint64_t)view_int(holds, "bytes"), text));
	for (i = 0; i < LIMIT_COUNT; i++) {
		printf("limit %s: ", limits[i].name);
		print_value(&limits[i], all);
		puts(json_member(own, limits[i].key) ? " (its own)" : "");
	}
	return 0;
}

static int change(struct cli *cli, const char *path, const char *id,
		  const struct args *args)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(BODY_MAX);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct json_writer w = JSON_WRITER_INIT(&body);
	int i, r;

	json_write_object(&w, NULL);
	if (id)
		json_write_string(&w, "id", id);
	for (i = 2; i < args->count; i++) {
		r = add_limit(cli, args->items[i], &w);
		if (r < 0)
			return r;
	}
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	r = calls_post_json(cli, path, buf_str(&body), &answer);
	return r < 0 ? r : print_tenant(cli, answer);
}

static int show(struct cli *cli, const char *path)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	int r = calls_get_json(cli, path, &answer);

	return r < 0 ? r : print_tenant(cli, answer);
}

static int add_row(struct cli *cli, const struct json_object *tenant,
		   struct table *t)
{
	const struct json_object *holds = json_member(tenant, "holds");
	char age[TEXT_SHORT_MAX], size[TEXT_SHORT_MAX];
	char sessions[TEXT_MAX], files[TEXT_MAX];
	const char *const cells[] = {
		view_string(tenant, "id"),
		view_string(tenant, "state"),
		text_since(view_int(tenant, "created_at"), age),
		sessions,
		files,
		text_bytes((uint64_t)view_int(holds, "bytes"), size),
	};

	(void)snprintf(sessions, sizeof(sessions), "%" PRId64,
		       view_int(holds, "sessions"));
	(void)snprintf(files, sizeof(files), "%" PRId64,
		       view_int(holds, "files"));
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

static int list(struct cli *cli)
{
	static const struct table_column columns[] = {
		{ "TENANT", false },  { "STATE", false }, { "AGE", true },
		{ "SESSIONS", true }, { "FILES", true },  { "BYTES", true },
	};
	_cleanup_(table_freep) struct table *t = table_new(columns, 6);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *tenants;
	size_t i;
	int r;

	r = calls_get_json(cli, "/admin/v1/tenants", &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	tenants = json_member(answer, "tenants");
	for (i = 0; i < json_array_size(tenants); i++) {
		r = add_row(cli, json_array_at(tenants, i), t);
		if (r < 0)
			return r;
	}
	table_print(t, stdout, cli->colour);
	return 0;
}

int cmd_tenants(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *path = NULL;
	const char *what, *id;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 2 + LIMIT_COUNT, &args);
	if (r < 0 || args.help)
		return r;
	what = args.count > 0 ? args.items[0] : "list";
	id = args.count > 1 ? args.items[1] : NULL;
	if (strcmp(what, "list") == 0 && !id)
		return list(cli);
	if (id)
		path = calls_path("/admin/v1/tenants/", id, NULL);
	if (strcmp(what, "create") == 0 && id)
		return change(cli, "/admin/v1/tenants", id, &args);
	if (strcmp(what, "set") == 0 && args.count > 2)
		return change(cli, path, NULL, &args);
	if (strcmp(what, "show") == 0 && args.count == 2)
		return show(cli, path);
	if (strcmp(what, "delete") == 0 && args.count == 2)
		return calls_delete(cli, path, false);
	return cli_fail(cli, CLI_USAGE,
			"What to do with tenants is create NAME "
			"[LIMIT=VALUE]..., list, show NAME, set NAME "
			"LIMIT=VALUE... or delete NAME");
}
