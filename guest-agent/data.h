/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_DATA_H
#define GUEST_DATA_H

/*
 * The data directory, /mnt/data: where user code keeps its files.
 *
 * Everything below it is in user code's hands, at any moment. So it is only
 * reached through a descriptor, never following a link, never leaving the
 * file system, and what was opened is looked at before it is believed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

/* The user and group that kernels run as, and that owns the files. */
#define SANDBOX_ID 1000

/**
 * data_init() - Say where it is
 * @dir:	Directory, which this module keeps
 * @incoming:	Directory on the same mount that user code cannot reach, for
 *		files that are still being written
 */
void data_init(int dir, int incoming);

int data_dir(void);
int data_incoming(void);

/* openat2() that neither follows links nor leaves. Return: fd or -errno */
int data_open_at(int dir, const char *path, uint64_t flags);

/* Make a new file of the sandbox user's, instead of one of that name. */
int data_create(const char *name);

/* Remove a file. Return: what DELETE is answered with */
enum wire_file_status data_delete(struct bytes path);

/**
 * data_open_parent() - Open the directory that a path is in
 * @path:	Valid by wire_path_valid()
 * @make:	Make missing directories, for the sandbox user
 * @ret_name:	The last component; room for WIRE_PATH_NAME_MAX + 1
 *
 * Return: fd or -errno
 */
int data_open_parent(struct bytes path, bool make, char *ret_name);

/* The word for an errno. */
enum wire_file_status data_status(int error);

#endif
