#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"

int cmd_nmi(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *path = NULL;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 1, 1, &args);
	if (r < 0 || args.help)
		return r;
	path = calls_path("/admin/v1/sessions/", args.items[0], "/nmi", NULL);
	return calls_post_json(cli, path, "{}", NULL);
}
