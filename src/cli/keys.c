#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

enum { BODY_MAX = 64 * 1024 };

struct keys_options {
	const char *name;
	int64_t rate;
	int64_t requests;
	double expires;
	struct args_list scopes;
};

/* What a new key shall be. The tenant is the option that all commands have. */
static int create_body(const struct cli *cli, const struct keys_options *o,
		       struct buf *body)
{
	struct json_writer w = JSON_WRITER_INIT(body);
	size_t i;

	json_write_object(&w, NULL);
	json_write_string(&w, "tenant", cli->tenant ? cli->tenant : "default");
	if (o->name)
		json_write_string(&w, "name", o->name);
	if (o->scopes.count > 0) {
		json_write_array(&w, "scopes");
		for (i = 0; i < o->scopes.count; i++)
			json_write_string(&w, NULL, o->scopes.items[i]);
		json_write_close(&w);
	}
	if (o->expires > 0)
		json_write_int(&w, "expires_after_s", (int64_t)o->expires);
	if (o->rate)
		json_write_int(&w, "requests_per_minute", o->rate);
	if (o->requests)
		json_write_int(&w, "max_requests", o->requests);
	json_write_close(&w);
	return json_write_end(&w);
}

static int keys_create(struct cli *cli, const struct keys_options *o)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(BODY_MAX);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct view_key key;
	int r;

	if (create_body(cli, o, &body) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	/* The tenant of the new key, not whom to act for. */
	cli->tenant = NULL;
	r = calls_post_json(cli, "/admin/v1/keys", buf_str(&body), &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	r = view_key(cli, answer, &key);
	if (r < 0)
		return r;
	cli_note("Key %s of tenant '%s' is shown this once", key.id,
		 key.tenant);
	text_print(stdout, key.key);
	(void)putchar('\n');
	return 0;
}

static const struct table_column columns[] = {
	{ "KEY", false }, { "TENANT", false },    { "NAME", false },
	{ "AGE", true },  { "LAST USED", true },  { "EXPIRES IN", true },
};

/* A key that opens nothing any more must not look like one that does. */
static const char *key_left(const struct view_key *key, char *room)
{
	if (key->revoked_at)
		return "revoked";
	if (key->expires_at && key->expires_at <= (int64_t)time(NULL))
		return "expired";
	return text_until(key->expires_at, room);
}

static int add_key(struct cli *cli, const struct json_object *object,
		   struct table *t)
{
	char age[TEXT_SHORT_MAX], left[TEXT_SHORT_MAX];
	char used[TEXT_SHORT_MAX];
	struct view_key key;
	int r = view_key(cli, object, &key);
	const char *cells[6];

	if (r < 0)
		return r;
	cells[0] = key.id;
	cells[1] = key.tenant;
	cells[2] = key.name;
	cells[3] = text_since(key.created_at, age);
	cells[4] = key.last_used_at ? text_since(key.last_used_at, used) :
				      "never";
	cells[5] = key_left(&key, left);
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

static int keys_list(struct cli *cli)
{
	_cleanup_(table_freep) struct table *t = table_new(columns, 6);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	_cleanup_free_ char *path = NULL;
	const struct json_object *keys;
	size_t i;
	int r;

	/* Whose keys, not whom to act for. */
	path = cli->tenant ?
		       calls_path("/admin/v1/keys?tenant=", cli->tenant, NULL) :
		       strdup("/admin/v1/keys");
	cli->tenant = NULL;
	r = calls_get_json(cli, path, &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	keys = json_member(answer, "keys");
	for (i = 0; t && i < json_array_size(keys); i++) {
		r = add_key(cli, json_array_at(keys, i), t);
		if (r < 0)
			return r;
	}
	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	table_print(t, stdout, cli->colour);
	return 0;
}

static int keys_revoke(struct cli *cli, const char *id)
{
	_cleanup_free_ char *path = calls_path("/admin/v1/keys/", id, NULL);

	return calls_delete(cli, path, false);
}

int cmd_keys(struct cli *cli, int argc, char **argv)
{
	struct keys_options o = { 0 };
	const struct args_option options[] = {
		{ "name", 'n', "NAME", "what create calls the key",
		  .string = &o.name },
		{ "scope", 's', "SCOPE",
		  "what create allows; repeat for more (all)",
		  .list = &o.scopes,
		  .words = "files containers responses toolboxes sessions "
			   "metrics" },
		{ "expires", 'e', "SECONDS", "when create's key ends (never)",
		  .seconds = &o.expires },
		{ "rate", 'r', "N",
		  "requests a minute with create's key (the tenant's)",
		  .number = &o.rate },
		{ "requests", 'R', "N",
		  "requests at a time with create's key (the tenant's)",
		  .number = &o.requests },
		{ .name = NULL },
	};
	const char *what;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 2, &args);
	if (r < 0 || args.help)
		return r;
	what = args.count > 0 ? args.items[0] : "list";
	if (strcmp(what, "create") == 0 && args.count == 1)
		return keys_create(cli, &o);
	if (strcmp(what, "list") == 0 && args.count <= 1)
		return keys_list(cli);
	if (strcmp(what, "revoke") == 0 && args.count == 2)
		return keys_revoke(cli, args.items[1]);
	return cli_fail(cli, CLI_USAGE,
			"What to do with keys is create, list or revoke KEY");
}
