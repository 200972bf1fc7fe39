#ifndef CUPOLA_BASE_FS_H
#define CUPOLA_BASE_FS_H

/*
 * Files of our own: state, images, settings. All of this blocks, if only on
 * metadata; what is large belongs on a worker.
 *
 * Paths are relative to a directory descriptor, or AT_FDCWD.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/**
 * fs_read_file() - Read a whole regular file
 * @dirfd:	Directory
 * @path:	File
 * @ret:	Bytes are appended; its maximum is the most that is read
 *
 * Return: 0; -EMSGSIZE if the file is larger, -EISDIR or -EINVAL if it is no
 * regular file, or another negative errno
 */
int fs_read_file(int dirfd, const char *path, struct buf *ret);

/**
 * fs_read_fd() - Read what is left of an open file
 * @fd:		Where it begins
 * @size:	Bytes that there are
 * @ret:	They are appended
 *
 * Return: 0; -EIO if there are fewer, or another negative errno
 */
int fs_read_fd(int fd, size_t size, struct buf *ret);

/**
 * fs_write_file_atomic() - Put a file in place, whole and durable or not at all
 * @dirfd:	Directory
 * @path:	File, replaced if it exists
 * @data:	Bytes
 * @size:	How many
 * @mode:	Permissions, whatever the umask
 *
 * Writes a temporary file next to it, syncs, renames, syncs the directory.
 *
 * Return: 0 or a negative errno
 */
int fs_write_file_atomic(int dirfd, const char *path, const void *data,
			 size_t size, mode_t mode);

/**
 * fs_mkdir_p() - Make a directory and those above it
 * @path:	Directory
 * @mode:	Permissions of what is made, less the umask
 *
 * Return: 0, also if it exists; -ENOTDIR if something else does; or another
 * negative errno
 */
int fs_mkdir_p(const char *path, mode_t mode);

/**
 * fs_open_dir() - Open a directory, without following a link at its end
 *
 * Return: a descriptor or a negative errno
 */
int fs_open_dir(int dirfd, const char *path);

/**
 * fs_remove_tree() - Remove a file, or a directory with everything in it
 * @dirfd:	Directory
 * @name:	Entry; one that is not there is no error
 *
 * Follows no links and goes at most FS_REMOVE_DEPTH_MAX levels down, since only
 * trees that we made are removed.
 *
 * Return: 0 or the first failure, after having removed what could be
 */
int fs_remove_tree(int dirfd, const char *name);

enum {
	FS_REMOVE_DEPTH_MAX = 16,
};

/** fs_sync_dir() - Make the entries of a directory durable */
int fs_sync_dir(int dirfd, const char *path);

/**
 * fs_lock() - Be the only one to use a directory
 * @dirfd:	Directory
 * @path:	Lock file, made if needed; the pid is written into it
 * @ret_holder:	On -EBUSY the pid of who has it, 0 if unknown; may be NULL
 *
 * The lock (F_OFD_SETLK) is the open descriptor's: it ends when the last copy
 * of it is closed, however the process ends. The file stays.
 *
 * Return: a descriptor; -EBUSY if another has the lock, or another negative
 * errno
 */
int fs_lock(int dirfd, const char *path, pid_t *ret_holder);

#endif
