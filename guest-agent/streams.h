/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_STREAMS_H
#define GUEST_STREAMS_H

/*
 * What a kernel and its children write: the agent's ends of two pipes.
 *
 * Reading each line at once would have the processor change between two
 * processes twice for each, which costs an emulated one more than to run the
 * line. So a pipe of which little came is left to fill for some milliseconds;
 * it is read before that is over when the execution ends.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/* @output: called with what was written */
void streams_init(void (*output)(enum wire_stream stream, const uint8_t *data,
				 size_t size));

/* @fd is the stream's from now on. Return: 0 or -errno, and it is not */
int streams_open(enum wire_stream stream, int fd);

void streams_close(void);

/* Leave the pipes alone for a while. */
void streams_rest(void);

/* Tell what is in them now; what comes meanwhile may wait. */
void streams_drain(void);

#endif
