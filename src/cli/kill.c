#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"

static int kill_one(struct cli *cli, const char *id)
{
	/* Without the socket one is no operator, and deletes what is one's own. */
	_cleanup_free_ char *path = calls_path(
		cli->url ? "/v1/containers/" : "/admin/v1/sessions/", id, NULL);

	return calls_delete(cli, path, false);
}

int cmd_kill(struct cli *cli, int argc, char **argv)
{
	struct args args;
	int i, r;

	r = args_parse(cli, argc, argv, NULL, 1, ARGS_LIST_MAX, &args);
	if (r < 0 || args.help)
		return r;
	for (i = 0; i < args.count; i++) {
		r = kill_one(cli, args.items[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
