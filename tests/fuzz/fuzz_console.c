/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A console that says anything, in pieces of any size: the awaited line is heard
 * where it is and nowhere else, and the ring has the newest bytes in order.
 */

#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "vmd/console.h"
#include "vmd/dial.h"

static void on_heard(void *userdata)
{
	unsigned *heard = userdata;

	(*heard)++;
}

static void check_ring(const struct console *console, const uint8_t *data,
		       size_t size)
{
	static uint8_t newest[VMD_CONSOLE_SIZE];
	_cleanup_close_ int fd = -1;
	struct vmd_console info;

	fd = console_export(console, &info);
	if (fd < 0 || info.total != size ||
	    info.length != (size < VMD_CONSOLE_SIZE ? size : VMD_CONSOLE_SIZE))
		abort();
	if (pread(fd, newest, info.length, 0) != (ssize_t)info.length ||
	    (info.length > 0 &&
	     memcmp(newest, data + size - info.length, info.length) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct console console = CONSOLE_INIT;
	size_t at, part, step;
	unsigned heard = 0;
	bool is_there;

	if (size == 0)
		return 0;
	log_set_level(LOG_CRIT);
	step = 1 + data[0];
	data++;
	size--;
	console_await(&console, GUEST_LISTENS, on_heard, &heard);
	for (at = 0; at < size; at += part) {
		part = size - at < step ? size - at : step;
		if (console_add(&console, data + at, part) < 0)
			abort();
	}
	is_there = size > 0 && memmem(data, size, GUEST_LISTENS,
				      strlen(GUEST_LISTENS)) != NULL;
	if (heard != (is_there ? 1 : 0))
		abort();
	check_ring(&console, data, size);
	console_log_tail(&console, NULL);
	console_done(&console);
	return 0;
}
