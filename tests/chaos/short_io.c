/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * For LD_PRELOAD: what cupolad and cupola-vmd read from or write to a stream comes
 * in pieces, is interrupted, or has to wait, as the kernel may do at any
 * time and hardly ever does.
 *
 * Streams are pipes and stream sockets. A message of a SOCK_SEQPACKET socket, and
 * the counter of an eventfd, come as a whole or not at all; a file on a disk is cut
 * short only when that is full. That a stream has to wait is told only where
 * whoever asks does not want to.
 */

/*
 * Only calls of the daemons' own code are meant. libmicrohttpd's epoll is edge
 * triggered, and rightly takes a short read for the end of what there is.
 */
static bool is_meant(const void *caller)
{
	const char *name;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	return strncmp(name ? name + 1 : info.dli_fname, "cupola", 6) == 0;
}

static bool is_stream(int fd)
{
	int saved = errno, type = 0;
	socklen_t size = sizeof(type);
	struct stat st;
	bool yes;

	if (fstat(fd, &st) < 0)
		yes = false;
	else if (S_ISSOCK(st.st_mode))
		yes = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
		      type == SOCK_STREAM;
	else
		yes = S_ISFIFO(st.st_mode);
	errno = saved;
	return yes;
}

static uint32_t draw(uint32_t below)
{
	static _Thread_local uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

enum fate {
	WHOLE,
	PIECE,
	INTERRUPTED,
	WAIT,
};

static enum fate fate_of(const void *caller, int fd, bool may_wait)
{
	uint32_t n;

	if (!is_meant(caller) || !is_stream(fd))
		return WHOLE;
	n = draw(16);
	if (n == 0)
		return INTERRUPTED;
	if (n == 1 && may_wait)
		return WAIT;
	return n < 8 ? PIECE : WHOLE;
}

/* Return: how many bytes to ask for, or -1 with errno */
static ssize_t cut(const void *caller, int fd, size_t size, bool may_wait)
{
	switch (fate_of(caller, fd, may_wait)) {
	case PIECE:
		return size > 1 ? (ssize_t)(1 + draw(draw(2) ? 1 : 4096) %
						size) :
				  (ssize_t)size;
	case INTERRUPTED:
		errno = EINTR;
		return -1;
	case WAIT:
		errno = EAGAIN;
		return -1;
	default:
		return (ssize_t)size;
	}
}

#define CALLER __builtin_return_address(0)
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *data, size_t size)
{
	ssize_t n = cut(CALLER, fd, size, false);

	return n < 0 ? n : REAL(read)(fd, data, (size_t)n);
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t n = cut(CALLER, fd, size, false);

	return n < 0 ? n : REAL(write)(fd, data, (size_t)n);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	ssize_t n = cut(CALLER, fd, size, flags & MSG_DONTWAIT);

	return n < 0 ? n : REAL(recv)(fd, data, (size_t)n, flags);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	ssize_t n = cut(CALLER, fd, size, flags & MSG_DONTWAIT);

	return n < 0 ? n : REAL(send)(fd, data, (size_t)n, flags);
}
