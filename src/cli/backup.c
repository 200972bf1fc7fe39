#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/transfer.h"

static int sync_file(struct cli *cli, int fd, const char *file)
{
	if (fsync(fd) < 0)
		return cli_fail(cli, CLI_LOCAL, "Cannot write '%s': %s", file,
				strerror(errno));
	return 0;
}

/* It has the hashes of keys and more: nobody else may read it. */
int cmd_backup(struct cli *cli, int argc, char **argv)
{
	_cleanup_close_ int fd = -1;
	const char *file;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 1, 1, &args);
	if (r < 0 || args.help)
		return r;
	file = args.items[0];
	if (cli->url)
		return cli_fail(cli, CLI_USAGE,
				"What operators ask is answered on the "
				"daemon's Unix socket only, not with --url");
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return cli_fail(cli, CLI_LOCAL, "Cannot make '%s': %s", file,
				strerror(errno));
	r = transfer_copy(cli, "/admin/v1/backup", fd, file);
	if (r >= 0)
		r = sync_file(cli, fd, file);
	if (r < 0)
		(void)unlink(file); /* half a copy is none */
	return r;
}
