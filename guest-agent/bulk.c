/* SPDX-License-Identifier: Apache-2.0 */
#include "bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bulk_file.h"
#include "changed.h"
#include "data.h"
#include "loop.h"
#include "report.h"
#include "sandbox.h"
#include "wire/message.h"

#define CHILDREN_MAX 8
#define PATIENCE_SEC 30

/* More than the agent ever has open. */
#define FD_MAX 256

static void on_note(struct source *s, uint32_t events);

static pid_t children[CHILDREN_MAX];
/* Children tell of files they wrote, so that these don't count as changed. */
static struct source notes = { .fd = -1, .ready = on_note };
static int note_fd = -1;

int bulk_init(void)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	note_fd = pair[1];
	return source_open(&notes, pair[0], EPOLLIN);
}

/* Written in one piece, and so read. */
static void on_note(struct source *s, uint32_t events)
{
	struct changed_key key;

	(void)events;
	while (read(s->fd, &key, sizeof(key)) == sizeof(key))
		changed_note(&key);
}

static pid_t *find_free(void)
{
	size_t i;

	for (i = 0; i < CHILDREN_MAX; i++)
		if (children[i] == 0)
			return &children[i];
	return NULL;
}

static void refuse(int fd, enum wire_purpose purpose)
{
	const struct message_file file = { .status = WIRE_FILE_BUSY };
	const struct message_end end = { .status = WIRE_FILE_BUSY };
	uint8_t buf[128];
	ssize_t n;

	n = purpose == WIRE_BULK_GET ?
		    message_encode_file(buf, sizeof(buf), 0, &file) :
		    message_encode_end(buf, sizeof(buf), 0, &end);
	(void)!send(fd, buf, (size_t)n, MSG_NOSIGNAL);
}

/*
 * A child must hold nobody's connection open but its own, or the host would
 * not see it closed.
 */
static void close_others(int fd)
{
	int i;

	for (i = STDERR_FILENO + 1; i < FD_MAX; i++)
		if (i != fd && i != note_fd && i != data_dir() &&
		    i != data_incoming())
			(void)close(i);
}

static void become_server(int fd, enum wire_purpose purpose,
			  const uint8_t *rest, size_t size)
{
	const struct timeval patience = { .tv_sec = PATIENCE_SEC };
	int r;

	close_others(fd);
	(void)fcntl(fd, F_SETFL, O_RDWR);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			 sizeof(patience));
	r = sandbox_enter_files();
	if (r < 0) {
		report_error(r, "cannot serve files");
		_exit(1);
	}
	bulk_file_serve(fd, purpose, rest, size, note_fd);
	_exit(0);
}

void bulk_adopt(int fd, enum wire_purpose purpose, const uint8_t *rest,
		size_t size)
{
	pid_t *slot = find_free();
	pid_t pid = slot ? fork() : -1;

	if (pid == 0)
		become_server(fd, purpose, rest, size);
	if (pid < 0)
		refuse(fd, purpose);
	else
		*slot = pid;
	(void)close(fd);
}

bool bulk_reaped(pid_t pid)
{
	size_t i;

	for (i = 0; i < CHILDREN_MAX; i++)
		if (children[i] == pid) {
			children[i] = 0;
			return true;
		}
	return false;
}
