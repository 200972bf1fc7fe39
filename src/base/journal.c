/* SPDX-License-Identifier: Apache-2.0 */
#include "base/journal.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

static struct {
	int fd;
	struct sockaddr_un address;
} journal = { .fd = -1 };

/** struct entry - What is sent: all fields, one after the other */
struct entry {
	char data[JOURNAL_ENTRY_MAX];
	size_t used;
};

void journal_open(const char *path)
{
	const size_t room = sizeof(journal.address.sun_path) - 1;

	journal_close();
	journal.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strncpy(journal.address.sun_path, path ? path : JOURNAL_SOCKET, room);
	journal.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

void journal_close(void)
{
	close_fd(&journal.fd);
}

static int append(struct entry *e, const void *data, size_t size)
{
	if (size > sizeof(e->data) - e->used)
		return -EMSGSIZE;
	memcpy(e->data + e->used, data, size);
	e->used += size;
	return 0;
}

/* With a line end in it, a value follows its name by its length. */
static int append_lines(struct entry *e, const char *name, size_t name_size,
			const char *value, size_t size)
{
	const uint64_t length = htole64(size);
	int r;

	r = append(e, name, name_size);
	if (r == 0)
		r = append(e, "\n", 1);
	if (r == 0)
		r = append(e, &length, sizeof(length));
	return r < 0 ? r : append(e, value, size);
}

static int append_field(struct entry *e, const char *field, size_t size)
{
	const char *equals = memchr(field, '=', size);
	size_t name_size;
	int r;

	if (!equals)
		return -EINVAL;
	name_size = (size_t)(equals - field);
	if (memchr(field, '\n', size))
		r = append_lines(e, field, name_size, equals + 1,
				 size - name_size - 1);
	else
		r = append(e, field, size);
	return r < 0 ? r : append(e, "\n", 1);
}

int journal_send(const struct iovec *fields, size_t count)
{
	struct entry e = { .used = 0 };
	size_t i;
	int r;

	if (journal.fd < 0)
		return -ENOTCONN;
	for (i = 0; i < count; i++) {
		r = append_field(&e, fields[i].iov_base, fields[i].iov_len);
		if (r < 0)
			return r;
	}
	/* With the address each time: journald may have been restarted. */
	if (sendto(journal.fd, e.data, e.used, MSG_DONTWAIT | MSG_NOSIGNAL,
		   (const struct sockaddr *)&journal.address,
		   sizeof(journal.address)) >= 0)
		return 0;
	return errno == ENOBUFS ? -EAGAIN : -errno;
}
