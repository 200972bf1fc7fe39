/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_BULK_FILE_H
#define GUEST_BULK_FILE_H

/*
 * Files over one connection, in a process of its own that may block: any number
 * to the host, or one from it.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/**
 * bulk_file_serve() - Do what the connection is for
 * @fd:		Blocking, with timeouts
 * @purpose:	WIRE_BULK_GET or WIRE_BULK_PUT
 * @rest:	What was received already
 * @size:	Its bytes
 * @note_fd:	Where to write the key (changed.h) of a file that was written
 */
void bulk_file_serve(int fd, enum wire_purpose purpose, const uint8_t *rest,
		     size_t size, int note_fd);

#endif
