#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/host.h"
#include "cli/text.h"
#include "cli/views.h"

/*
 * What there is to name, for a shell that completes: a line each, a name and
 * behind a tab what it is.
 *
 * It is asked for while a person types. So a daemon that does not answer has no
 * names, and nothing is said about that.
 */

/**
 * struct kind - Things that have names
 * @path:	Where the daemon lists them; NULL: it does not
 * @member:	The list in its answer; NULL: it answers page by page
 * @name:	The member that is typed
 * @about:	The one that says what it is
 */
static const struct kind {
	const char *kind;
	const char *path;
	const char *member;
	const char *name;
	const char *about;
} kinds[] = {
	{ "containers", "/admin/v1/sessions", NULL, "id", "name" },
	{ "ended", "/admin/v1/sessions?all=true", NULL, "id", "name" },
	{ "vms", "/admin/v1/top", "data", "vm", "state" },
	{ "artifacts", "/admin/v1/artifacts", NULL, "id", "path" },
	{ "keys", "/admin/v1/keys", "keys", "id", "name" },
	{ "tenants", "/admin/v1/tenants", "tenants", "id", "state" },
	{ "pools", "/admin/v1/pools", "pools", "name", "image" },
	{ "models", "/admin/v1/models", "models", "id", "url" },
};

static int print_name(struct cli *cli, const struct json_object *object,
		      void *userdata)
{
	const struct kind *kind = userdata;
	_cleanup_free_ char *name = text_escape(view_string(object, kind->name));
	_cleanup_free_ char *about =
		text_escape(view_string(object, kind->about));

	(void)cli;
	if (name && name[0])
		printf("%s\t%s\n", name, about ? about : "");
	return 0;
}

static int print_kind(struct cli *cli, const struct kind *kind)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct json_object *list;
	size_t i;
	int r;

	if (!kind->member)
		return calls_each(cli, kind->path, print_name, (void *)kind);
	r = calls_get_json(cli, kind->path, &answer);
	list = json_member(answer, kind->member);
	for (i = 0; i < json_array_size(list); i++)
		(void)print_name(cli, json_array_at(list, i), (void *)kind);
	return r;
}

static void print_image(const struct host_image *image, void *userdata)
{
	_cleanup_free_ char *name = text_escape(image->name);

	(void)userdata;
	if (name)
		printf("%s\t%s\n", name, image->digest);
}

static int print_images(struct cli *cli)
{
	_cleanup_free_ char *state = NULL;
	int r = cli_state(cli, &state);

	if (r >= 0)
		(void)host_images(state, print_image, NULL);
	return r;
}

static int print_commands(void)
{
	const struct cli_command *c;

	for (c = cli_commands(); c->name; c++)
		printf("%s\t%s\n", c->name, c->summary);
	return 0;
}

static bool is_kind(const char *kind, const char *word, size_t length)
{
	return strlen(kind) == length && strncmp(kind, word, length) == 0;
}

static int print_word(struct cli *cli, const char *word, size_t length)
{
	size_t i;

	if (is_kind("commands", word, length))
		return print_commands();
	if (is_kind("images", word, length))
		return print_images(cli);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_kind(kinds[i].kind, word, length))
			return print_kind(cli, &kinds[i]);
	return 0;
}

/*
 * Which daemon is meant stands among the words that were typed, as "--socket s"
 * or "--socket=s", in whichever shell.
 */
static void take_typed(struct cli *cli, int count, char **words)
{
	const struct {
		const char *option;
		const char **value;
	} options[] = {
		{ "--socket", &cli->socket },
		{ "--url", &cli->url },
		{ "--tenant", &cli->tenant },
	};
	size_t i, length;
	int at;

	for (at = 0; at < count; at++) {
		for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
			length = strlen(options[i].option);
			if (strncmp(words[at], options[i].option, length) != 0)
				continue;
			if (words[at][length] == '=')
				*options[i].value = words[at] + length + 1;
			else if (!words[at][length] && at + 1 < count)
				*options[i].value = words[at + 1];
		}
	}
}

int completion_print_names(struct cli *cli, const char *what, int count,
			   char **words)
{
	size_t length;

	take_typed(cli, count, words);
	for (; *what; what += length + (what[length] == ' ')) {
		length = strcspn(what, " ");
		if (print_word(cli, what, length) < 0)
			cli_forgive(cli);
	}
	return 0;
}
