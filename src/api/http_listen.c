/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/limits.h"
#include "base/log.h"

enum {
	BACKLOG = 512,
	/* Accepted in one go; then others have their turn. */
	ACCEPT_BURST = 32,
};

void http_listeners_init(struct http_listeners *l, sd_event *event,
			 const struct vsock_peers *peers,
			 http_accept_fn accepted, void *userdata)
{
	*l = (struct http_listeners){
		.event = event,
		.vsock_peers = peers,
		.accepted = accepted,
		.userdata = userdata,
	};
}

static void listener_done(struct http_listener *one)
{
	sd_event_source_disable_unref(one->source);
	close_fd(&one->fd);
	one->source = NULL;
}

void http_listeners_done(struct http_listeners *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		listener_done(&l->one[i]);
	l->count = 0;
}

void http_listeners_close_tcp(struct http_listeners *l)
{
	unsigned i;

	for (i = 0; i < l->count; i++)
		if (!l->one[i].local)
			listener_done(&l->one[i]);
}

void http_listeners_pause(struct http_listeners *l, bool pause)
{
	unsigned i;

	if (l->paused == pause)
		return;
	l->paused = pause;
	if (pause)
		log_warning(NULL, 0, "All connections are busy, letting new "
			    "ones wait");
	for (i = 0; i < l->count; i++)
		if (l->one[i].source)
			(void)sd_event_source_set_enabled(
				l->one[i].source,
				pause ? SD_EVENT_OFF : SD_EVENT_ON);
}

/* Errors that concern the one connection, or that pass. */
static bool accept_error_passes(int e)
{
	return e == EAGAIN || e == EINTR || e == ECONNABORTED ||
	       e == EPROTO || e == EPERM;
}

static int on_listener(sd_event_source *source, int fd, uint32_t revents,
		       void *userdata)
{
	struct http_listener *one = userdata;
	struct sockaddr_storage address;
	int i, on = 1;

	(void)source;
	(void)revents;
	for (i = 0; i < ACCEPT_BURST && !one->all->paused; i++) {
		socklen_t size = sizeof(address);
		int conn;

		conn = accept4(fd, (struct sockaddr *)&address, &size,
			       SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (conn < 0) {
			/* Out of descriptors: better when a client leaves. */
			if (!accept_error_passes(errno)) {
				log_error(NULL, -errno, "Cannot accept");
				http_listeners_pause(one->all, true);
			}
			return 0;
		}
		if (!vsock_peers_admit(one->all->vsock_peers,
				       (struct sockaddr *)&address, size)) {
			close_fd(&conn);
			continue;
		}
		/* Where it is not TCP, this does nothing. */
		if (!one->local)
			(void)setsockopt(conn, IPPROTO_TCP, TCP_NODELAY, &on,
					 sizeof(on));
		one->all->accepted(one->all->userdata, conn,
				   (struct sockaddr *)&address, size);
	}
	return 0;
}

int http_listeners_add(struct http_listeners *l, int fd, struct error *err)
{
	struct http_listener *one = &l->one[l->count];
	socklen_t size = sizeof(int);
	int domain = 0, r;

	if (l->count == HTTP_LISTENERS_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "More than %d listening sockets",
				 HTTP_LISTENERS_MAX);
	/* systemd's sockets block, and accept() would until the next client. */
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 ||
	    event_set_nonblocking(fd) < 0)
		return error_set_errno(err, -errno, "Cannot listen");
	r = vsock_peers_check(l->vsock_peers, domain, err);
	if (r < 0)
		return r;
	r = event_add_io(l->event, fd, EPOLLIN, on_listener, one,
			 "http-listener", &one->source);
	if (r < 0)
		return error_set_errno(err, r, "Cannot listen");
	one->all = l;
	one->fd = fd;
	one->local = domain == AF_UNIX;
	l->count++;
	return 0;
}

/* ------------------------------------------------------------- making sockets */

static void freeaddrinfop(struct addrinfo **found)
{
	if (*found)
		freeaddrinfo(*found);
}

/* Splits "HOST:PORT" or "[HOST]:PORT"; an empty host stands for all. */
static int resolve(const char *address, struct addrinfo **ret,
		   struct error *err)
{
	static const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	_cleanup_free_ char *copy = strdup(address);
	char *host = copy, *port;
	size_t length;

	port = copy ? strrchr(copy, ':') : NULL;
	if (!port)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' is not of the form ADDRESS:PORT",
				 address);
	*port++ = '\0';
	length = strlen(host);
	if (length >= 2 && host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		host++;
	}
	if (getaddrinfo(*host ? host : NULL, port, &hints, ret) != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' is not a numeric address and port",
				 address);
	return 0;
}

int http_listen_tcp(const char *address, struct error *err)
{
	_cleanup_(freeaddrinfop) struct addrinfo *found = NULL;
	_cleanup_close_ int fd = -1;
	int on = 1, r;

	r = resolve(address, &found, err);
	if (r < 0)
		return r;
	fd = socket(found->ai_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(err, -errno, "Cannot make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, found->ai_addr, found->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		r = -errno;
		if (r == -EADDRINUSE)
			return error_set(err, ERR_CONFLICT,
					 "Address '%s' is in use: end what "
					 "listens there, or choose another "
					 "(setting listen.http)", address);
		return error_set_errno(err, r, "Cannot listen on '%s'",
				       address);
	}
	return take_fd(fd);
}

/* Removes a socket that nobody answers at any more, and nothing else. */
static int remove_stale(const struct sockaddr_un *un, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(un->sun_path, &st) < 0)
		return errno == ENOENT ? 0
				       : error_set_errno(err, -errno,
							 "Cannot look at '%s'",
							 un->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, ERR_CONFLICT,
				 "'%s' is in the way: it is not a socket",
				 un->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(err, -errno, "Cannot make a socket");
	if (connect(fd, (const struct sockaddr *)un, sizeof(*un)) == 0 ||
	    errno != ECONNREFUSED)
		return error_set(err, ERR_CONFLICT,
				 "Something listens on '%s' already",
				 un->sun_path);
	if (unlink(un->sun_path) < 0)
		return error_set_errno(err, -errno, "Cannot remove '%s'",
				       un->sun_path);
	return 0;
}

int http_listen_unix(const char *path, struct error *err)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	int r;

	if (strlen(path) > LIMIT_SOCKET_PATH)
		return error_set(err, ERR_BAD_REQUEST,
				 "The socket's path '%s' is longer than %d "
				 "bytes", path, LIMIT_SOCKET_PATH);
	memcpy(un.sun_path, path, strlen(path) + 1);
	r = remove_stale(&un, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(err, -errno, "Cannot make a socket");
	if (bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return error_set_errno(err, -errno, "Cannot listen on '%s'",
				       path);
	return take_fd(fd);
}

static int url_of_inet(const struct sockaddr_in *in, const char *scheme,
		       char **ret_url)
{
	char host[INET_ADDRSTRLEN] = "127.0.0.1";

	if (in->sin_addr.s_addr != htonl(INADDR_ANY))
		(void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	return asprintf(ret_url, "%s://%s:%u", scheme, host,
			ntohs(in->sin_port));
}

static int url_of_inet6(const struct sockaddr_in6 *in, const char *scheme,
			char **ret_url)
{
	char host[INET6_ADDRSTRLEN] = "::1";

	if (!IN6_IS_ADDR_UNSPECIFIED(&in->sin6_addr))
		(void)inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
	return asprintf(ret_url, "%s://[%s]:%u", scheme, host,
			ntohs(in->sin6_port));
}

int http_listen_url(int fd, const char *scheme, char **ret_url)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address);
	int r;

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	if (address.ss_family == AF_INET)
		r = url_of_inet((struct sockaddr_in *)&address, scheme,
				ret_url);
	else if (address.ss_family == AF_INET6)
		r = url_of_inet6((struct sockaddr_in6 *)&address, scheme,
				 ret_url);
	else
		return 0;
	return r < 0 ? -ENOMEM : 1;
}
