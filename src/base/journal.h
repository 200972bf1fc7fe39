/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_BASE_JOURNAL_H
#define CUPOLA_BASE_JOURNAL_H

/*
 * Entries to systemd's journal, in its native protocol.
 *
 * libsystemd's own sd_journal_sendv() waits while journald reads nothing, and
 * with it all who want to log: one daemon that hangs would be two. Here an
 * entry that is not taken at once is not taken.
 */

#include <stddef.h>
#include <sys/uio.h>

enum {
	/* Of all fields of an entry together. */
	JOURNAL_ENTRY_MAX = 16384,
};

/**
 * journal_open() - Be ready to send; to be called once, before threads
 * @path:	Of the socket of journald; NULL for the system's
 */
void journal_open(const char *path);

/** journal_close() - Send nothing any more */
void journal_close(void);

/**
 * journal_send() - Hand over an entry, without waiting
 * @fields:	NAME=value each, the value of any bytes
 * @count:	How many there are
 *
 * May be called from any thread.
 *
 * Return: 0; -EAGAIN if the journal takes nothing at the moment, so that the
 * entry is lost; another negative errno if there is no journal
 */
int journal_send(const struct iovec *fields, size_t count);

#endif
