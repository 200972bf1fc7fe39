/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_EXEC_WATCH_H
#define CORE_EXEC_WATCH_H

#include <stdbool.h>
#include <sys/queue.h>

#include "core/exec.h"

/**
 * struct exec_watch - One reader's place (contract in core.h)
 * @next_part:	Offset in e->parts of the part after @part
 * @part:	The part being read
 * @left:	What of it was not read
 * @at:		Next byte of each stream
 * @events:	Id of the event read last
 * @woken:	Told that there is something, and has not looked yet
 */
struct exec_watch {
	LIST_ENTRY(exec_watch) next;
	struct exec *exec;
	void (*wake)(void *userdata);
	void *userdata;

	size_t next_part;
	enum exec_part part;
	uint64_t left;
	size_t at[2];
	uint64_t events;
	bool woken;
	bool over;             /* DONE was read */
	struct exec_view view; /* of STARTED and DONE */
};

#endif
