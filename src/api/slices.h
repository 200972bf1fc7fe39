/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SLICES_H
#define API_SLICES_H

/*
 * An answer that is a long list.
 *
 * Reading thousands of rows would keep everybody else waiting for tens of
 * milliseconds. So they are read in slices, and each is made when the client
 * has taken the one before; a list that fits into one is an answer like any
 * other. Rows may come and go meanwhile. Where a slice ends is known by the id
 * of its last row, and should that be gone by the id of one before: none is
 * skipped and none comes twice. A list that cannot go on is cut off, so that
 * nobody takes it for complete.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/id.h"
#include "core/core.h"

struct request;

enum {
	SLICES_ROWS = 200,	/* at a time: less than a millisecond */
};

/**
 * struct slices - A list under way, part of what a request keeps as its work
 * @req:	Its text is written to this one's writer
 * @read:	Read a page: write its rows, and call slices_row() for each
 * @close:	Write what is behind the last row
 * @userdata:	For both
 * @rest:	What is still wanted; its "after" is where the next slice begins
 *
 * All these are the caller's to set. What is below is for it to read.
 *
 * @count:	Rows of the last slice
 * @more:	There are rows behind it
 * @ids:	Of the last slice, which may be longer: the last of them
 * @closed:	The whole text is made
 */
struct slices {
	struct request *req;
	int (*read)(void *userdata, const struct core_page *page,
		    bool *ret_more, struct error *err);
	void (*close)(void *userdata);
	void *userdata;
	struct core_page rest;

	unsigned count;
	bool more;
	char ids[SLICES_ROWS][ID_SIZE];
	bool closed;
};

/** slices_row() - A row was written */
void slices_row(struct slices *slices, const char *id);

/**
 * slices_reply() - Answer with the list, whose beginning has been written
 *
 * Return: as a handler
 */
int slices_reply(struct slices *slices, struct error *err);

#endif
