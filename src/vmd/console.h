#ifndef VMD_CONSOLE_H
#define VMD_CONSOLE_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/log.h"
#include "vmd/vmd_proto.h"

/*
 * What a guest writes to its serial console: the newest 64 KiB.
 *
 * QEMU listens on a socket, vmd connects and reads into a ring. A guest that
 * floods it only blocks itself: vmd reads so much and no more per second.
 */

#define CONSOLE_SOCKET "console"	/* name in the VM's directory */

/**
 * struct console - A ring and where it is filled from
 * @fd:		Connected socket, or -1
 * @ring:	VMD_CONSOLE_SIZE bytes, or NULL as long as nothing was said
 * @total:	Bytes that were ever written to it
 * @source:	Reads
 * @awaited:	See console_await(); NULL when it was heard
 * @matched:	Bytes of it that the newest output ends with
 */
struct console {
	int fd;
	uint8_t *ring;
	uint64_t total;
	sd_event_source *source;
	const char *awaited;
	size_t matched;
	void (*heard)(void *userdata);
	void *userdata;
};

#define CONSOLE_INIT ((struct console){ .fd = -1 })

/**
 * console_connect() - Begin to read
 * @path:	Socket
 *
 * Return: 0 or negative errno; the VM runs as well without
 */
int console_connect(struct console *console, sd_event *event,
		    const char *path);

/**
 * console_await() - Hear of the first time that a text is written
 * @text:	Has its first byte only once; must live as long as @console
 * @heard:	Called once. Whoever has a console can write anything: this is a
 *		hint, and may be a lie
 */
void console_await(struct console *console, const char *text,
		   void (*heard)(void *userdata), void *userdata);

/** console_add() - Put bytes into the ring; Return: 0 or negative errno */
int console_add(struct console *console, const void *data, size_t size);

/**
 * console_disconnect() - Read what is still there, and no more after that
 *
 * The ring stays.
 */
void console_disconnect(struct console *console);

/* What console_log_tail() says, in bytes */
#define CONSOLE_TAIL 1024

/** console_log_tail() - Log the end of what was written, as a guest's words */
void console_log_tail(const struct console *console,
		      const struct log_scope *scope);

/** console_done() - Empty it */
void console_done(struct console *console);

/**
 * console_export() - A copy for cupolad, in order
 * @ret_info:	How much
 *
 * Return: a sealed memfd or negative errno
 */
int console_export(const struct console *console,
		   struct vmd_console *ret_info);

#endif
