/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_HOST_ROOM_H
#define CORE_HOST_ROOM_H

/*
 * What the host has left at this moment, whoever took the rest.
 *
 * Admission counts what VMs may come to take; this looks at what is there. On a
 * host below one of its floors no VM is started, so that those which run, and
 * the host itself, have what they need to go on.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct core;

/**
 * host_room_read() - Read what the kernel says of the host
 * @name:	A small file below /proc
 * @text:	Its text, ended by a NUL and cut to fit
 *
 * Return: 0 or a negative errno
 */
int host_room_read(const struct core *core, const char *name, char *text,
		   size_t size);

/** host_room_memory() - Read "MemAvailable" of the text of /proc/meminfo
 *
 * Return: 0, or -EBADMSG if the text is another one
 */
int host_room_memory(const char *meminfo, uint64_t *ret_bytes);

/**
 * host_room_check() - Whether the host is above its floors
 *
 * Return: 0; ERR_STORAGE_FULL or ERR_CAPACITY with the numbers
 */
int host_room_check(struct core *core, struct error *err);

#endif
