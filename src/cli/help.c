#include <stdio.h>
#include <stddef.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/help.h"

/* What the line of the usage has no room for, and the call that is looked for. */
static const struct {
	const char *command;
	const char *text;
} more[] = {
	{ "run", "Example:\n"
		 "  cupolactl run report.py --file sales.csv --out charts\n" },
	{ "exec", "Examples:\n"
		  "  cupolactl exec cntr_... -c 'df.describe()'\n"
		  "  echo 'print(1)' | cupolactl exec cntr_...\n" },
	{ "logs", "Examples:\n"
		  "  cupolactl logs cntr_...\n"
		  "  cupolactl logs --follow --since '10 min ago'\n" },
	{ "files", "Without CONTAINER they are those that were uploaded.\n\n"
		   "Examples:\n"
		   "  cupolactl files ls cntr_...\n"
		   "  cupolactl files get cntr_... chart.png --out charts/\n"
		   "  cupolactl files put cntr_... sales.csv\n" },
	{ "keys", "Scopes are files, containers, responses, toolboxes, "
		  "sessions and metrics.\n\n"
		  "Examples:\n"
		  "  cupolactl keys create --tenant acme --name ci --scope "
		  "containers\n"
		  "  cupolactl keys revoke key_...\n" },
	{ "tenants", "Limits are sessions, executions and requests at a time, "
		     "rate (requests a minute),\n"
		     "bytes (2G, say) and hours (of sessions a day); "
		     "LIMIT=default is the daemon's.\n\n"
		     "Example:\n"
		     "  cupolactl tenants set acme sessions=20 bytes=10G\n" },
	{ "pools", "Example:\n"
		   "  cupolactl pools set default --ready 3\n" },
	{ "images", "An IMAGE is NAME, the newest of that name, or "
		    "NAME@DIGITS.\n\n"
		    "  images build NAME | DIRECTORY   make one from its recipe\n"
		    "  images verify [IMAGE...]        compare with the "
		    "manifest\n"
		    "  images export IMAGE FILE        write it as a tar "
		    "archive\n"
		    "  images import FILE              take it from one\n"
		    "  images rm IMAGE...              remove what nobody uses\n"
		    "  images prune [--dry-run]        remove all that no name "
		    "leads to\n"
		    "  images diff IMAGE IMAGE         compare packages and "
		    "sizes\n" },
};

void help_print_more(const char *command)
{
	size_t i;

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strcmp(more[i].command, command) == 0)
			printf("\n%s", more[i].text);
}

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
		return cli_fail(cli, CLI_USAGE, "'%s' is no command; see cupolactl help",
				args.items[0]);
	help[0] = args.items[0];
	cli->command = command->name;
	return command->run(cli, 2, help);
}
