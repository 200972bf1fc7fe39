#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/hex.h"
#include "base/id.h"

enum {
	READ_CHUNK = 64 << 10,
};

int fs_read_file(int dirfd, const char *path, struct buf *ret)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	char over;
	ssize_t n;

	/* Not blocking: a FIFO must be refused, not waited for. */
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;

	while (buf_room(ret) > 0) {
		n = buf_read(ret, fd, READ_CHUNK);
		if (n <= 0)
			return (int)n;
	}
	/* Full, which is fine if there is nothing more. */
	n = read(fd, &over, 1);
	if (n < 0)
		return -errno;
	return n == 0 ? 0 : -EMSGSIZE;
}

int fs_read_fd(int fd, size_t size, struct buf *ret)
{
	const size_t end = ret->length + size;
	ssize_t n;

	while (ret->length < end) {
		n = buf_read(ret, fd, end - ret->length);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
	}
	return 0;
}

static int write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size > 0) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static int fill_file(int fd, const void *data, size_t size, mode_t mode)
{
	int r;

	if (fchmod(fd, mode) < 0)
		return -errno;
	r = write_all(fd, data, size);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

/* A name next to @path that nobody else will choose. */
static int temporary_name(const char *path, char **ret)
{
	char digits[2 * 8 + 1];
	uint8_t bytes[8];
	int r;

	r = random_bytes(bytes, sizeof(bytes));
	if (r < 0)
		return r;
	hex_encode(bytes, sizeof(bytes), digits);
	return asprintf(ret, "%s.%s.tmp", path, digits) < 0 ? -ENOMEM : 0;
}

/* Makes the directory entry of @path durable. */
static int sync_parent(int dirfd, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = NULL;

	if (!slash)
		return fs_sync_dir(dirfd, ".");
	parent = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	return parent ? fs_sync_dir(dirfd, parent) : -ENOMEM;
}

int fs_write_file_atomic(int dirfd, const char *path, const void *data,
			 size_t size, mode_t mode)
{
	_cleanup_free_ char *temporary = NULL;
	_cleanup_close_ int fd = -1;
	int r;

	r = temporary_name(path, &temporary);
	if (r < 0)
		return r;
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	r = fill_file(fd, data, size, mode);
	if (r == 0 && renameat(dirfd, temporary, dirfd, path) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dirfd, temporary, 0);
		return r;
	}
	return sync_parent(dirfd, path);
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int fs_mkdir_p(const char *path, mode_t mode)
{
	_cleanup_free_ char *copy = strdup(path);
	char *slash;
	int r;

	if (!copy)
		return -ENOMEM;
	for (slash = strchr(copy + (copy[0] == '/'), '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = make_dir(copy, mode);
		*slash = '/';
		if (r < 0)
			return r;
	}
	return make_dir(copy, mode);
}

int fs_open_dir(int dirfd, const char *path)
{
	int fd = openat(dirfd, path,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int remove_entry(int parent, const char *name, unsigned depth);

static int remove_entries(int parent, const char *name, unsigned depth)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	_cleanup_close_ int fd = -1;
	int first = 0, r;
	struct dirent *entry;

	fd = fs_open_dir(parent, name);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)take_fd(fd); /* closedir() closes it now */
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		r = remove_entry(dirfd(dir), entry->d_name, depth);
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

static int remove_entry(int parent, const char *name, unsigned depth)
{
	int r = 0;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return -errno;
	if (depth == FS_REMOVE_DEPTH_MAX)
		return -ELOOP;
	r = remove_entries(parent, name, depth + 1);
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return r < 0 ? r : -errno;
	return r;
}

int fs_remove_tree(int dirfd, const char *name)
{
	return remove_entry(dirfd, name, 0);
}

int fs_sync_dir(int dirfd, const char *path)
{
	_cleanup_close_ int fd = -1;

	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fsync(fd) < 0 ? -errno : 0;
}

/* The kernel does not tell who has an OFD lock, so the file does. */
static pid_t read_holder(int fd)
{
	char text[16];
	ssize_t n;

	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

int fs_lock(int dirfd, const char *path, pid_t *ret_holder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = -1;
	char text[16];
	int n;

	fd = openat(dirfd, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		if (ret_holder)
			*ret_holder = read_holder(fd);
		return -EBUSY;
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return -errno;
	return take_fd(fd);
}
