#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

/* Typed so far, where names are asked for: more is no command line. */
enum { WORDS_MAX = 4096 };

static const struct completion_shell *const shells[] = {
	&completion_bash,
	&completion_zsh,
	&completion_fish,
};

void completion_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", stdout);
		else
			(void)putchar(*text);
	}
}

bool completion_takes_file(const struct args_option *option)
{
	static const char *const kinds[] = { "FILE", "DIR", "PATH" };
	size_t i;

	for (i = 0; option->value && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(option->value, kinds[i]) == 0)
			return true;
	return false;
}

/** struct telling - To whom options are told, and what of it comes next */
struct telling {
	const struct completion_shell *shell;
	const struct cli_command *command; /* NULL: only the shared ones */
	bool ending;
};

static void on_options(const struct args_option *options,
		       const struct args_option *shared, void *userdata)
{
	const struct telling *t = userdata;

	if (t->command)
		t->shell->command(t->command, options);
	else if (t->ending)
		t->shell->end(shared);
	else
		t->shell->begin(shared);
}

/* A command that is only to tell its options parses nothing and does nothing. */
static int tell(struct telling *t)
{
	const struct cli_command *command = t->command;
	struct cli asked = { .told = on_options, .told_userdata = t };
	char *argv[] = { (char *)"", NULL };

	/* Each of them tells the shared ones as well. */
	if (!command)
		command = cli_commands();
	asked.command = command->name;
	return command->run(&asked, 1, argv);
}

static int write_script(const struct completion_shell *shell)
{
	struct telling t = { .shell = shell };
	const struct cli_command *c;
	int r = tell(&t);

	for (c = cli_commands(); c->name && r >= 0; c++) {
		t.command = c;
		r = tell(&t);
	}
	t.command = NULL;
	t.ending = true;
	return r < 0 ? r : tell(&t);
}

int cmd_completion(struct cli *cli, int argc, char **argv)
{
	struct args args;
	size_t i;
	int r;

	r = args_parse(cli, argc, argv, NULL, 1, WORDS_MAX, &args);
	if (r < 0 || args.help)
		return r;
	if (args.count > 1 && strcmp(args.items[0], "names") == 0)
		return completion_print_names(cli, args.items[1],
					      args.count - 2, args.items + 2);
	if (args.count > 1)
		return cli_fail(cli, CLI_USAGE, "Too many arguments");
	for (i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i]->name, args.items[0]) == 0)
			return write_script(shells[i]);
	return cli_fail(cli, CLI_USAGE,
			"There are completions for bash, zsh and fish, not '%s'",
			args.items[0]);
}
