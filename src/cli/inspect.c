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
#include "cli/text.h"

/*
 * Shows whatever the daemon tells, member by member, without knowing what to
 * expect: what a newer daemon adds is shown, too.
 */

enum { SCALAR_MAX = 1 << 20, INDENT = 2 };

struct place {
	int depth;
};

static int print_member(const char *key, struct json_object *value,
			void *userdata);

/* A number or a word, as JSON writes it; a string without its quotes. */
static char *scalar_text(const struct json_object *value)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(SCALAR_MAX);
	struct json_writer writer = JSON_WRITER_INIT(&text);
	struct json_string s = json_string_of(value);

	if (s.data)
		return text_escape(s.data);
	json_write_value(&writer, NULL, value);
	return json_write_end(&writer) < 0 ? NULL : buf_take(&text, NULL);
}

static bool ends_in_at(const char *key)
{
	size_t length = strlen(key);

	return length > 3 && strcmp(key + length - 3, "_at") == 0;
}

/* Seconds since 1970 say nothing to people. */
static void print_date(const char *number)
{
	time_t when = (time_t)strtoll(number, NULL, 10);
	char text[64];
	struct tm tm;

	if (when > 0 && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		printf(" (%s)", text);
}

static void print_scalar(const char *key, const struct json_object *value)
{
	_cleanup_free_ char *text = scalar_text(value);
	bool is_time = json_kind_of(value) == JSON_INT && ends_in_at(key);

	/* 0 is a time that has not come. */
	if (is_time && text && strcmp(text, "0") == 0)
		fputs("null", stdout);
	else
		fputs(text ? text : "?", stdout);
	if (text && is_time)
		print_date(text);
	putchar('\n');
}

static void print_inner(const struct json_object *value, int depth)
{
	struct place inner = { depth };
	size_t i, count = json_array_size(value);

	(void)json_each_member(value, print_member, &inner);
	for (i = 0; i < count; i++)
		(void)print_member("-", json_array_at(value, i), &inner);
}

static int print_member(const char *key, struct json_object *value,
			void *userdata)
{
	const struct place *place = userdata;
	enum json_kind kind = json_kind_of(value);
	_cleanup_free_ char *safe = text_escape(key);

	printf("%*s%s%s", place->depth * INDENT, "", safe ? safe : "?",
	       strcmp(key, "-") == 0 ? "" : ":");
	if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
		putchar('\n');
		print_inner(value, place->depth + 1);
	} else {
		putchar(' ');
		print_scalar(key, value);
	}
	return 0;
}

int cmd_inspect(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	_cleanup_free_ char *path = NULL;
	struct place top = { 0 };
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 1, 1, &args);
	if (r < 0 || args.help)
		return r;
	path = calls_path(cli->url ? "/v1/containers/" : "/admin/v1/sessions/",
			  args.items[0], NULL);
	r = calls_get_json(cli, path, &answer);
	if (r < 0)
		return r;
	if (cli->json)
		return calls_print_json(cli, answer);
	return json_each_member(answer, print_member, &top);
}
