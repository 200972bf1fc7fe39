#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

#define MODELS_PATH "/admin/v1/models"

enum { BODY_MAX = 4096 };

static int no_memory(struct cli *cli)
{
	return cli_fail(cli, CLI_LOCAL, "Out of memory");
}

/* ---------------------------------------------------------------- list */

static int add_model(struct cli *cli, const struct json_object *model,
		     struct table *t)
{
	const char *const cells[] = {
		view_string(model, "id"),
		view_string(model, "protocol"),
		view_bool(model, "has_key") ? "yes" : "no",
		view_string(model, "upstream_name"),
		view_string(model, "url"),
	};

	return table_add(t, cells) < 0 ? no_memory(cli) : 0;
}

static int list(struct cli *cli)
{
	static const struct table_column columns[] = {
		{ "MODEL", false },	    { "PROTOCOL", false },
		{ "KEY", false },	    { "UPSTREAM NAME", false },
		{ "CALLS GO TO", false },
	};
	_cleanup_(table_freep) struct table *t = table_new(columns, 5);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *models;
	size_t i;
	int r = calls_get_json(cli, MODELS_PATH, &answer);

	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	if (!t)
		return no_memory(cli);
	models = json_member(answer, "models");
	for (i = 0; i < json_array_size(models) && r >= 0; i++)
		r = add_model(cli, json_array_at(models, i), t);
	if (r < 0)
		return r;
	table_print(t, stdout, cli->colour);
	if (json_array_size(models) == 0)
		cli_note("No model is configured: see [model] in "
			 "cupolad.conf(5)");
	return 0;
}

/* ---------------------------------------------------------------- test */

/** struct testing - @all: each answer, for --json; @bad: some model failed */
struct testing {
	struct table *table;
	struct buf text;
	struct json_writer all;
	bool bad;
};

static int add_round(struct cli *cli, struct testing *t, const char *model,
		     const char *what, const struct json_object *round)
{
	char first[TEXT_SHORT_MAX], whole[TEXT_SHORT_MAX], input[TEXT_SHORT_MAX];
	char output[TEXT_SHORT_MAX];
	bool good = view_bool(round, "ok");
	const char *error = view_string(round, "error");
	const char *const cells[] = {
		model, what,   good ? "ok" : error[0] ? "failed" : "not tried",
		first, whole, input, output, error,
	};

	(void)snprintf(first, sizeof(first), "%" PRId64 " ms",
		       view_int(round, "first_piece_ms"));
	(void)snprintf(whole, sizeof(whole), "%" PRId64 " ms",
		       view_int(round, "whole_ms"));
	(void)snprintf(input, sizeof(input), "%" PRId64,
		       view_int(round, "input_tokens"));
	(void)snprintf(output, sizeof(output), "%" PRId64,
		       view_int(round, "output_tokens"));
	return table_add(t->table, cells) < 0 ? no_memory(cli) : 0;
}

static int test_one(struct cli *cli, struct testing *t, const char *name)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(BODY_MAX);
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct json_writer w = JSON_WRITER_INIT(&body);
	int r;

	json_write_object(&w, NULL);
	json_write_string(&w, "model", name);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_USAGE, "'%.64s…' is no model", name);
	r = calls_post_json(cli, MODELS_PATH "/test", buf_str(&body), &answer);
	if (r < 0)
		return r;
	json_write_value(&t->all, NULL, answer);
	if (!view_bool(answer, "ok"))
		t->bad = true;
	r = add_round(cli, t, name, "text", json_member(answer, "text"));
	if (r >= 0)
		r = add_round(cli, t, name, "call",
			      json_member(answer, "call"));
	return r;
}

static int test_all(struct cli *cli, struct testing *t)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *models;
	size_t i;
	int r = calls_get_json(cli, MODELS_PATH, &answer);

	models = json_member(answer, "models");
	if (r >= 0 && json_array_size(models) == 0)
		return cli_fail(cli, CLI_NEGATIVE,
				"No model is configured: see [model] in "
				"cupolad.conf(5)");
	for (i = 0; i < json_array_size(models) && r >= 0; i++)
		r = test_one(cli, t,
			     view_string(json_array_at(models, i), "id"));
	return r;
}

static int print_tests(struct cli *cli, struct testing *t, const char *name)
{
	int r;

	json_write_object(&t->all, NULL);
	json_write_array(&t->all, "tests");
	r = name ? test_one(cli, t, name) : test_all(cli, t);
	json_write_close(&t->all);
	json_write_close(&t->all);
	if (r < 0)
		return r;
	if (json_write_end(&t->all) < 0)
		return no_memory(cli);
	if (cli->json)
		puts(buf_str(&t->text));
	else
		table_print(t->table, stdout, cli->colour);
	return t->bad ? CLI_NEGATIVE : CLI_OK;
}

static int test(struct cli *cli, const char *name)
{
	static const struct table_column columns[] = {
		{ "MODEL", false },	 { "ASKED FOR", false },
		{ "RESULT", false },	 { "FIRST PIECE", true },
		{ "WHOLE", true },	 { "TOKENS IN", true },
		{ "TOKENS OUT", true },	 { "WHY", false },
	};
	struct testing t = {
		.table = table_new(columns, 8),
		.text = BUF_INIT(CLIENT_ANSWER_MAX),
	};
	int r;

	t.all = JSON_WRITER_INIT(&t.text);
	r = t.table ? print_tests(cli, &t, name) : no_memory(cli);
	table_free(t.table);
	buf_done(&t.text);
	return r;
}

int cmd_model(struct cli *cli, int argc, char **argv)
{
	struct args args;
	int r = args_parse(cli, argc, argv, NULL, 0, 2, &args);
	const char *what;

	if (r < 0 || args.help)
		return r;
	what = args.count > 0 ? args.items[0] : "list";
	if (strcmp(what, "list") == 0 && args.count <= 1)
		return list(cli);
	if (strcmp(what, "test") == 0)
		return test(cli, args.count > 1 ? args.items[1] : NULL);
	return cli_fail(cli, CLI_USAGE,
			"What to do with models is list or test [NAME]");
}
