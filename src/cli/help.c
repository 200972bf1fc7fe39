#include <stdio.h>
#include <stddef.h>

#include "cli/args.h"
#include "cli/cli.h"

static void print_overview(void)
{
	const struct cli_command *c;

	printf("Usage: cupolactl [OPTION]... COMMAND [ARGUMENT]...\n\n"
	       "Run code in Cupola's microVMs, and look after them.\n\n"
	       "Commands:\n");
	for (c = cli_commands(); c->name; c++)
		printf("  %-10s  %s\n", c->name, c->summary);
	printf("\nOptions of every command:\n");
	args_print_options(NULL);
	printf("      --version             print the version\n\n"
	       "cupolactl help COMMAND explains one command; cupolactl(1) has "
	       "it all.\n");
}

int cmd_help(struct cli *cli, int argc, char **argv)
{
	char *help[] = { NULL, (char *)"--help", NULL };
	const struct cli_command *command;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 1, &args);
	if (r < 0 || args.help)
		return r;
	if (args.count == 0) {
		print_overview();
		return 0;
	}
	command = cli_command_find(args.items[0]);
	if (!command)
		return cli_fail(cli, CLI_USAGE, "'%s' is no command",
				args.items[0]);
	help[0] = args.items[0];
	cli->command = command->name;
	return command->run(cli, 2, help);
}
