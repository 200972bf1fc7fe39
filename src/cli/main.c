#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"

#define DEFAULT_SOCKET "/run/cupola/cupola.sock"

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static void cli_init(struct cli *cli)
{
	const char *term = environment("TERM");

	cli->socket = environment("CUPOLA_SOCKET");
	if (!cli->socket)
		cli->socket = DEFAULT_SOCKET;
	cli->api_key = environment("CUPOLA_API_KEY");
	cli->terminal = isatty(STDOUT_FILENO) && term &&
			strcmp(term, "dumb") != 0;
	cli->colour = cli->terminal && !environment("NO_COLOR");
}

static int run_command(struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command = cli_command_find(argv[0]);

	if (!command)
		return cli_fail(cli, CLI_USAGE,
				"'%s' is no command; see cupolactl help",
				argv[0]);
	cli->command = command->name;
	return command->run(cli, argc, argv);
}

static int run(struct cli *cli, int argc, char **argv)
{
	char *help[] = { (char *)"help", NULL };
	bool wants_help;
	int used, r;

	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		return cmd_version(cli, 1, argv);
	r = args_parse_shared(cli, argc, argv, &used, &wants_help);
	if (r < 0)
		return r;
	if (wants_help)
		return run_command(cli, 1, help);
	if (used == argc)
		return cli_fail(cli, CLI_USAGE,
				"A command is missing; see cupolactl help");
	return run_command(cli, argc - used, argv + used);
}

/* What standard output could not take (a full disk) must not pass for done. */
static int finish(struct cli *cli, int r)
{
	if ((fflush(stdout) != 0 || ferror(stdout)) && r >= 0)
		r = cli_fail(cli, CLI_LOCAL, "Cannot write the output: %m");
	if (r >= 0)
		return r;
	cli_note("%s", cli->message);
	return -r;
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	int r;

	/* Widths of characters; messages and figures stay plain. */
	if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
	cli_init(&cli);
	r = finish(&cli, run(&cli, argc, argv));
	client_free(cli.client);
	return r;
}
