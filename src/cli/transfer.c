#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/save.h"
#include "cli/transfer.h"

const char *transfer_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int transfer_upload(struct cli *cli, const char *path, const char *file,
		    const char *purpose, struct json_object **ret_answer)
{
	_cleanup_free_ char *what = NULL;
	struct client_request request = {
		.method = "POST",
		.path = path,
		.upload = file,
		.upload_name = transfer_base_name(file),
		.purpose = purpose,
	};
	struct client *client;
	int r;

	if (!request.path || asprintf(&what, "Sending %s", file) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	request.progress = what;
	r = cli_client(cli, &client);
	return r < 0 ? r : client_call_json(client, &request, ret_answer);
}

/* Where a content goes while it comes. */
struct target {
	struct cli *cli;
	int fd;
	const char *name;
};

static int write_content(const void *data, size_t length, void *userdata)
{
	const struct target *to = userdata;

	while (length > 0) {
		ssize_t n = write(to->fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cli_fail(to->cli, CLI_LOCAL,
					"Cannot write '%s': %s", to->name,
					strerror(errno));
		data = (const char *)data + n;
		length -= (size_t)n;
	}
	return 0;
}

int transfer_copy(struct cli *cli, const char *path, int fd, const char *name)
{
	_cleanup_free_ char *what = NULL;
	struct target to = { cli, fd, name };
	struct client_request request = {
		.method = "GET",
		.path = path,
		.sink = write_content,
		.userdata = &to,
	};
	struct client *client;
	int r;

	if (!request.path || asprintf(&what, "Fetching %s", name) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	request.progress = what;
	r = cli_client(cli, &client);
	return r < 0 ? r : client_call(client, &request, NULL);
}

static int cannot_save(struct cli *cli, int r, const char *name)
{
	if (r == -ELOOP)
		return cli_fail(cli, CLI_LOCAL,
				"Cannot save '%s': a symbolic link stands in "
				"its way",
				name);
	return cli_fail(cli, CLI_LOCAL, "Cannot save '%s': %s", name,
			strerror(-r));
}

int transfer_save(struct cli *cli, const char *path, const char *directory,
		  const char *name, bool overwrite, char **ret_name)
{
	_cleanup_(save_freep) struct save *save = NULL;
	_cleanup_free_ char *got = NULL;
	int r;

	r = save_begin(directory, name, overwrite, &save);
	if (r < 0)
		return cannot_save(cli, r, name);
	got = strdup(save_name(save));
	if (!got)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	r = transfer_copy(cli, path, save_fd(save), got);
	if (r < 0)
		return r;
	r = save_commit(save);
	if (r < 0)
		return cannot_save(cli, r, got);
	if (ret_name)
		*ret_name = take_ptr(got);
	return 0;
}

int transfer_read_local(struct cli *cli, const char *file, struct buf *ret)
{
	_cleanup_close_ int opened = -1;
	int fd = STDIN_FILENO;
	ssize_t n;

	if (strcmp(file, "-") != 0) {
		opened = open(file, O_RDONLY | O_CLOEXEC);
		if (opened < 0)
			return cli_fail(cli, CLI_LOCAL, "Cannot read '%s': %s",
					file, strerror(errno));
		fd = opened;
	}
	do {
		n = buf_read(ret, fd, 65536);
	} while (n > 0 || n == -EINTR);
	if (n == -EMSGSIZE)
		return cli_fail(cli, CLI_LOCAL,
				"'%s' is larger than the %zu KiB allowed", file,
				ret->max / 1024);
	if (n < 0)
		return cli_fail(cli, CLI_LOCAL, "Cannot read '%s': %s", file,
				strerror((int)-n));
	return 0;
}
