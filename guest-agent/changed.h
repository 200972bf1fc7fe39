/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_CHANGED_H
#define GUEST_CHANGED_H

/*
 * Which files below the data directory are new or changed since last asked.
 *
 * A file is known by inode, size and ctime. User code can set none of these at
 * will: the guest's clock is out of its reach. ctime has the grain of the
 * kernel's tick, so a file that was touched in the very tick it is looked at
 * could change again without a trace; then the scan waits for the next tick and
 * looks once more. Stores through mmap show only once they were written back,
 * which the last scan of a session, after sync, sees.
 *
 * Two static tables, the last scan's and the one being made, take turns, so
 * that what was deleted needs no care. A directory in which there was nothing
 * is looked at again only if its own ctime changed.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "wire/wire.h"

/* Files that can be known at a time; those beyond are reported as too many. */
#define CHANGED_FILES_MAX 131072u

struct changed_key {
	uint64_t inode;
	uint64_t ctime_nsec;
	uint64_t size;
};

/**
 * struct changed_list - What a scan found
 * @count:	Entries in @entries
 * @unlisted:	Changes beyond WIRE_CHANGED_MAX or the room
 * @size:	Bytes used of @entries
 * @entries:	As message_changed_add() writes them
 */
struct changed_list {
	uint32_t count;
	uint32_t unlisted;
	size_t size;
	uint8_t entries[WIRE_CHANGED_BYTES_MAX];
};

/* Begin with no file known. */
void changed_init(void);

/* Scan, and take the result as known. @ret is overwritten. */
void changed_scan(struct changed_list *ret);

/* A file that the host wrote is known, until it changes. */
void changed_note(const struct changed_key *key);

struct changed_key changed_key_from(const struct stat *st);

/* Read a file's key. Return: 0 or -errno */
int changed_key_of(int fd, struct changed_key *ret);

/* Wait until a ctime given from now on differs from @key's: up to one tick. */
void changed_settle(const struct changed_key *key);

/**
 * changed_frame_end() - How many entries fit in a frame
 * @list:	Entries
 * @from:	Offset of the first
 * @room:	Bytes
 * @ret_count:	How many
 *
 * Return: offset behind the last
 */
size_t changed_frame_end(const struct changed_list *list, size_t from,
			 size_t room, uint16_t *ret_count);

#endif
