/* SPDX-License-Identifier: Apache-2.0 */
#include "data.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int dir_fd = -1;
static int incoming_fd = -1;

void data_init(int dir, int incoming)
{
	dir_fd = dir;
	incoming_fd = incoming;
}

int data_dir(void)
{
	return dir_fd;
}

int data_incoming(void)
{
	return incoming_fd;
}

/*
 * Lookups that race with user code's renames fail with EAGAIN, and so do opens
 * that user code holds up. One may try again, but not for as long as it likes.
 */
#define OPEN_TRIES 32

int data_open_at(int dir, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS,
	};
	int tries = 0;
	long fd;

	do
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || errno == EAGAIN) &&
	       ++tries < OPEN_TRIES);
	return fd < 0 ? -errno : (int)fd;
}

int data_create(const char *name)
{
	int fd;

	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* Without it the file is only not the sandbox user's to change. */
	(void)!fchown(fd, SANDBOX_ID, SANDBOX_ID);
	return fd;
}

enum wire_file_status data_status(int error)
{
	switch (error) {
	case 0:
		return WIRE_FILE_OK;
	case ENOENT:
		return WIRE_FILE_NOT_FOUND;
	case ELOOP:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
	case EXDEV:
		return WIRE_FILE_NOT_REGULAR;
	case ENAMETOOLONG:
	case EINVAL:
		return WIRE_FILE_BAD_PATH;
	case EACCES:
	case EPERM:
		return WIRE_FILE_DENIED;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return WIRE_FILE_NO_SPACE;
	default:
		return WIRE_FILE_IO;
	}
}

/* One step down. Return: fd or -errno */
static int step_down(int dir, const char *name, bool make)
{
	if (make && mkdirat(dir, name, 0755) == 0)
		(void)!fchownat(dir, name, SANDBOX_ID, SANDBOX_ID,
				AT_SYMLINK_NOFOLLOW);
	return data_open_at(dir, name, O_RDONLY | O_DIRECTORY);
}

int data_open_parent(struct bytes path, bool make, char *ret_name)
{
	int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	size_t begin = 0, i;
	int next;

	for (i = 0; dir >= 0 && i < path.size; i++) {
		if (path.data[i] != '/')
			continue;
		memcpy(ret_name, path.data + begin, i - begin);
		ret_name[i - begin] = '\0';
		next = step_down(dir, ret_name, make);
		(void)close(dir);
		if (next < 0)
			return next;
		dir = next;
		begin = i + 1;
	}
	if (dir < 0)
		return -errno;
	memcpy(ret_name, path.data + begin, path.size - begin);
	ret_name[path.size - begin] = '\0';
	return dir;
}

enum wire_file_status data_delete(struct bytes path)
{
	char name[WIRE_PATH_NAME_MAX + 1];
	int dir = data_open_parent(path, false, name);
	int error = 0;

	if (dir < 0)
		return data_status(-dir);
	/* A link is removed as such; a directory is not for us to remove. */
	if (unlinkat(dir, name, 0) < 0)
		error = errno;
	(void)close(dir);
	return data_status(error);
}
