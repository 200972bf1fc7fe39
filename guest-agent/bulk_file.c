/* SPDX-License-Identifier: Apache-2.0 */
#include "bulk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "changed.h"
#include "data.h"
#include "vsock.h"
#include "wire/frame.h"
#include "wire/message.h"

static int connection = -1;
static uint8_t in[WIRE_FRAME_MAX];
static size_t in_size, in_used;
static uint8_t out[WIRE_FRAME_MAX];
static uint8_t content[WIRE_CHUNK_MAX];

/* Return: 0 or -errno; what cannot be sent has nobody to be told */
static int send_all(ssize_t size)
{
	const uint8_t *at = out;

	while (size > 0) {
		size_t piece = size < VSOCK_SEND_MAX ? (size_t)size :
						       VSOCK_SEND_MAX;
		ssize_t n = send(connection, at, piece, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			size -= n;
		}
	}
	return size < 0 ? (int)size : 0;
}

/* Receive a frame, which is valid until the next call. */
static int receive(enum wire_phase phase, struct frame *ret)
{
	size_t used;
	int r;

	in_size -= in_used;
	memmove(in, in + in_used, in_size);
	in_used = 0;
	while ((r = frame_next(in, in_size, ret, &used)) == 0) {
		ssize_t n = recv(connection, in + in_size,
				 sizeof(in) - in_size, 0);

		if (n == 0)
			return -ECONNRESET;
		if (n < 0 && errno != EINTR)
			return -errno;
		in_size += n > 0 ? (size_t)n : 0;
	}
	if (r < 0)
		return r;
	in_used = used;
	return frame_may_say(WIRE_HOST, phase, ret->type) ? 0 : -EPROTO;
}

/* @digest is not looked at if the status is a failure. */
static int send_end(enum wire_file_status status, const uint8_t *digest)
{
	struct message_end m = { .status = status };

	if (status == WIRE_FILE_OK || status == WIRE_FILE_GROWN)
		memcpy(m.sha256, digest, sizeof(m.sha256));
	return send_all(message_encode_end(out, sizeof(out), 0, &m));
}

/* Return: fd of a regular file, or -errno */
static int open_regular(struct bytes path, struct changed_key *ret_key)
{
	char name[WIRE_PATH_MAX + 1];
	struct stat st;
	int fd;

	memcpy(name, path.data, path.size);
	name[path.size] = '\0';
	fd = data_open_at(data_dir(), name, O_RDONLY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -EISDIR;
	}
	*ret_key = changed_key_from(&st);
	return fd;
}

/*
 * From now on whoever writes to the file is seen in its key. The key changes
 * with the tick of the clock: so this one has to pass. A store through mmap
 * changes it once, when the page becomes dirty: so none is left dirty.
 */
static void watch_for_writers(int fd, const struct changed_key *key)
{
	changed_settle(key);
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE_AND_WAIT);
}

static int send_data(const uint8_t *data, size_t size)
{
	const struct message_data m = { .data = { data, size } };

	return send_all(message_encode_data(out, sizeof(out), WIRE_DATA, 0,
					    &m));
}

/*
 * Read the first @left bytes, however the file grows, and hash them.
 * Return: a status, or -errno if they could not be sent
 */
static int read_through(int fd, uint64_t left, bool send,
			uint8_t ret_digest[static WIRE_SHA256_SIZE])
{
	struct sha256_ctx sha;

	sha256_init(&sha);
	while (left > 0) {
		size_t want = left < sizeof(content) ? (size_t)left :
						       sizeof(content);
		ssize_t n = read(fd, content, want);
		int r = 0;

		if (n <= 0)
			return n < 0 ? WIRE_FILE_IO : WIRE_FILE_CHANGED;
		sha256_update(&sha, (size_t)n, content);
		if (send)
			r = send_data(content, (size_t)n);
		if (r < 0)
			return r;
		left -= (uint64_t)n;
	}
	sha256_digest(&sha, WIRE_SHA256_SIZE, ret_digest);
	return WIRE_FILE_OK;
}

/*
 * What of a file that was sent? If it changed meanwhile it is read once more.
 * Bytes that are the same in both passes are those that the file began with
 * between the two; others may be a mixture that it never held.
 */
static int judge_content(int fd, const struct changed_key *before,
			 const uint8_t digest[static WIRE_SHA256_SIZE])
{
	uint8_t again[WIRE_SHA256_SIZE];
	struct changed_key after;
	int status;

	if (changed_key_of(fd, &after) < 0)
		return WIRE_FILE_IO;
	if (memcmp(&after, before, sizeof(after)) == 0)
		return WIRE_FILE_OK;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return WIRE_FILE_IO;
	status = read_through(fd, before->size, false, again);
	if (status != WIRE_FILE_OK)
		return status;
	return memcmp(again, digest, sizeof(again)) == 0 ? WIRE_FILE_GROWN :
							   WIRE_FILE_CHANGED;
}

static int send_content(int fd, const struct changed_key *key)
{
	uint8_t digest[WIRE_SHA256_SIZE] = { 0 };
	int status;

	watch_for_writers(fd, key);
	status = read_through(fd, key->size, true, digest);
	if (status == WIRE_FILE_OK)
		status = judge_content(fd, key, digest);
	if (status < 0)
		return status;
	return send_end((enum wire_file_status)status, digest);
}

/* Return: 0 if another file may be asked for, or -errno */
static int serve_get(void)
{
	struct message_file answer = { .status = WIRE_FILE_OK };
	struct changed_key key = { 0 };
	struct message_path m;
	struct frame f;
	int fd, r;

	r = receive(WIRE_PHASE_GET, &f);
	if (r >= 0)
		r = message_decode_path(&f, &m);
	if (r < 0)
		return r;
	fd = open_regular(m.path, &key);
	if (fd < 0)
		answer.status = data_status(-fd);
	answer.size = key.size;
	r = send_all(message_encode_file(out, sizeof(out), 0, &answer));
	if (fd < 0)
		return r;
	if (r >= 0)
		r = send_content(fd, &key);
	(void)close(fd);
	return r;
}

static int write_all(int fd, struct bytes data)
{
	while (data.size > 0) {
		ssize_t n = write(fd, data.data, data.size);

		if (n < 0)
			return -errno;
		data.data += n;
		data.size -= (size_t)n;
	}
	return 0;
}

/*
 * Receive content into @fd. Return: a status, or -errno if the connection is
 * of no use any more
 */
static int receive_content(int fd, uint64_t left,
			   uint8_t ret_digest[static WIRE_SHA256_SIZE])
{
	struct sha256_ctx sha;
	struct message_data m;
	struct frame f;
	int r;

	sha256_init(&sha);
	while (left > 0) {
		r = receive(WIRE_PHASE_RECEIVING, &f);
		if (r >= 0)
			r = message_decode_data(&f, &m);
		if (r < 0)
			return r;
		if (m.data.size > left)
			return WIRE_FILE_MISMATCH;
		sha256_update(&sha, m.data.size, m.data.data);
		r = write_all(fd, m.data);
		if (r < 0)
			return (int)data_status(-r);
		left -= m.data.size;
	}
	sha256_digest(&sha, WIRE_SHA256_SIZE, ret_digest);
	return WIRE_FILE_OK;
}

/* Give the file its name. Return: 0 or -errno */
static int put_in_place(int fd, const char *temporary,
			const struct message_put *m)
{
	char name[WIRE_PATH_NAME_MAX + 1];
	int parent, r = 0;

	if (fchmod(fd, m->mode) < 0)
		return -errno;
	parent = data_open_parent(m->path, true, name);
	if (parent < 0)
		return parent;
	if (renameat(data_incoming(), temporary, parent, name) < 0)
		r = -errno;
	(void)close(parent);
	return r;
}

static enum wire_file_status finish_put(int fd, const char *temporary,
					const struct message_put *m,
					const uint8_t *digest, int note_fd)
{
	struct changed_key key;
	int r;

	if (memcmp(digest, m->sha256, sizeof(m->sha256)) != 0)
		return WIRE_FILE_MISMATCH;
	r = put_in_place(fd, temporary, m);
	if (r < 0)
		return data_status(-r);
	if (changed_key_of(fd, &key) >= 0) {
		/* A change in this same tick would go unseen. */
		changed_settle(&key);
		(void)!write(note_fd, &key, sizeof(key));
	}
	return WIRE_FILE_OK;
}

static void serve_put(int note_fd)
{
	char temporary[32];
	static char path[WIRE_PATH_MAX];
	uint8_t digest[WIRE_SHA256_SIZE] = { 0 };
	struct message_put m;
	struct frame f;
	int fd, status;

	if (receive(WIRE_PHASE_PUT, &f) < 0 || message_decode_put(&f, &m) < 0)
		return;
	/* The frame makes way for DATA. */
	memcpy(path, m.path.data, m.path.size);
	m.path.data = (const uint8_t *)path;

	(void)snprintf(temporary, sizeof(temporary), "put-%d", getpid());
	/* A killed child of that number may have left one. */
	(void)unlinkat(data_incoming(), temporary, 0);
	fd = openat(data_incoming(), temporary,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		(void)send_end(data_status(errno), NULL);
		return;
	}
	status = receive_content(fd, m.size, digest);
	if (status == WIRE_FILE_OK)
		status = (int)finish_put(fd, temporary, &m, digest, note_fd);
	/* Gone already if it was put in place. */
	(void)unlinkat(data_incoming(), temporary, 0);
	if (status >= 0)
		(void)send_end((enum wire_file_status)status, digest);
}

/*
 * Wait for the host to close. If we did while it still sends, it would get a
 * reset and might never read the END that says why.
 */
static void await_close(void)
{
	(void)shutdown(connection, SHUT_WR);
	while (recv(connection, in, sizeof(in), 0) > 0)
		;
}

void bulk_file_serve(int fd, enum wire_purpose purpose, const uint8_t *rest,
		     size_t size, int note_fd)
{
	connection = fd;
	memcpy(in, rest, size);
	in_size = size;
	/* Bits are exactly those that the host names. */
	(void)umask(0);
	if (purpose == WIRE_BULK_GET)
		while (serve_get() >= 0)
			;
	else
		serve_put(note_fd);
	await_close();
}
