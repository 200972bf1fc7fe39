#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"

/*
 * The story of one thing, out of the journal: entries have the ids of what they
 * are about in fields. journalctl itself does the reading, with the rights that
 * the person has.
 */

enum { MATCH_MAX = 256, WORDS_MAX = 20 };

/** struct logs - The command line that journalctl gets */
struct logs {
	const char *words[WORDS_MAX + 1];
	size_t count;
	char match[MATCH_MAX];
};

/* By an id's prefix. */
static const struct {
	const char *prefix;
	const char *field;
} fields[] = {
	{ "vm_", "VM_NAME" },
	{ "exec_", "EXEC_ID" },
	{ "req_", "REQUEST_ID" },
	{ "key_", "KEY_ID" },
	{ "cntr_", "SESSION_ID" },
};

/* As W3C's Trace Context has it: 32 lower-case hexadecimal digits. */
static bool is_trace(const char *id)
{
	return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

/* NULL if it is the id of nothing that the journal tells of. */
static const char *field_of(const char *id)
{
	size_t i;

	if (is_trace(id))
		return "TRACE_ID";
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strncmp(id, fields[i].prefix, strlen(fields[i].prefix)) ==
		    0)
			return fields[i].field;
	return NULL;
}

static void add(struct logs *l, const char *word)
{
	if (l->count < WORDS_MAX)
		l->words[l->count++] = word;
}

static int add_match(struct cli *cli, struct logs *l, const char *id)
{
	const char *field;
	int n;

	if (!id) {
		add(l, "SYSLOG_IDENTIFIER=cupolad");
		add(l, "SYSLOG_IDENTIFIER=cupola-vmd");
		return 0;
	}
	field = field_of(id);
	if (!field)
		return cli_fail(cli, CLI_USAGE,
				"'%s' is no id of a container, VM, execution, "
				"request, key or trace",
				id);
	n = snprintf(l->match, sizeof(l->match), "%s=%s", field, id);
	if (n >= MATCH_MAX)
		return cli_fail(cli, CLI_USAGE, "The id is too long");
	add(l, l->match);
	return 0;
}

/* journalctl takes a word that is no number for an option of its own. */
static int add_lines(struct cli *cli, struct logs *l, const char *lines)
{
	if (!*lines || lines[strspn(lines, "0123456789")])
		return cli_fail(cli, CLI_USAGE,
				"--lines takes a number, not '%s'", lines);
	add(l, "--lines");
	add(l, lines);
	return 0;
}

static int become_journalctl(struct cli *cli, struct logs *l)
{
	/* execvp() changes none of them; its prototype is older than const. */
	execvp(l->words[0], (char **)l->words);
	return cli_fail(cli, CLI_LOCAL, "Cannot run journalctl: %s%s",
			strerror(errno),
			errno == ENOENT ?
				"; without systemd the log is where the "
				"daemon's standard error goes" :
				"");
}

int cmd_logs(struct cli *cli, int argc, char **argv)
{
	struct logs l = { .words = { "journalctl", "--no-pager" }, .count = 2 };
	const char *lines = NULL, *since = NULL;
	bool follow = false;
	const struct args_option options[] = {
		{ "follow", 'f', NULL, "go on with what is new",
		  .flag = &follow },
		{ "lines", 'n', "N", "only the newest N", .string = &lines },
		{ "since", 's', "TIME", "as journalctl takes it: '1 hour ago'",
		  .string = &since },
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 1, &args);
	if (r < 0 || args.help)
		return r;
	/* To a person, who looks at nothing, it says that there is nothing. */
	if (cli->json || !cli->terminal)
		add(&l, "--quiet");
	add(&l, cli->json ? "--output=json" : "--output=short-iso");
	if (follow)
		add(&l, "--follow");
	if (lines) {
		r = add_lines(cli, &l, lines);
		if (r < 0)
			return r;
	}
	if (since) {
		add(&l, "--since");
		add(&l, since);
	}
	r = add_match(cli, &l, args.count > 0 ? args.items[0] : NULL);
	return r < 0 ? r : become_journalctl(cli, &l);
}
