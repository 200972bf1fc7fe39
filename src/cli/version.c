#include <stdio.h>

#include "cli/args.h"
#include "cli/cli.h"

int cmd_version(struct cli *cli, int argc, char **argv)
{
	struct args args;
	int r;

	cli->command = "version";
	r = args_parse(cli, argc, argv, NULL, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	printf(cli->json ? "{\"version\":\"%s\"}\n" : "cupolactl %s\n",
	       PACKAGE_VERSION);
	return 0;
}
