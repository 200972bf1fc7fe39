/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_LISTEN_H
#define API_HTTP_LISTEN_H

/*
 * Listening sockets: making them, and accepting from them.
 */

#include <stdbool.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "api/vsock_peers.h"
#include "base/error.h"

enum {
	HTTP_LISTENERS_MAX = 8,
};

/** Takes over a non-blocking descriptor of a new connection */
typedef void (*http_accept_fn)(void *userdata, int fd,
			       const struct sockaddr *address, socklen_t size);

/** struct http_listeners - All sockets that are listened on; private */
struct http_listeners {
	sd_event *event;
	const struct vsock_peers *vsock_peers;
	http_accept_fn accepted;
	void *userdata;
	bool paused;
	struct http_listener {
		struct http_listeners *all;
		int fd;
		bool local;
		sd_event_source *source;
	} one[HTTP_LISTENERS_MAX];
	unsigned count;
};

/** http_listeners_init() - @peers: borrowed */
void http_listeners_init(struct http_listeners *l, sd_event *event,
			 const struct vsock_peers *peers,
			 http_accept_fn accepted, void *userdata);
void http_listeners_done(struct http_listeners *l);

/** http_listeners_add() - Accept on a socket, taken over on success */
int http_listeners_add(struct http_listeners *l, int fd, struct error *err);

/** http_listeners_pause() - Leave new connections waiting, or stop doing so */
void http_listeners_pause(struct http_listeners *l, bool pause);

/** http_listeners_close_tcp() - Keep only Unix sockets */
void http_listeners_close_tcp(struct http_listeners *l);

/**
 * http_listen_tcp() - Make a socket
 * @address:	As api_listen_tcp() takes it
 *
 * Return: the descriptor, or a negative errno with a sentence for the operator
 */
int http_listen_tcp(const char *address, struct error *err);

/** http_listen_unix() - The same for a path, as api_listen_unix() says */
int http_listen_unix(const char *path, struct error *err);

/**
 * http_listen_url() - "http://127.0.0.1:8080" for a listening TCP socket
 * @scheme:	What it begins with
 * @ret_url:	For free(); untouched if the socket is no TCP socket
 *
 * Return: 1, 0 if it is no TCP socket, or a negative errno
 */
int http_listen_url(int fd, const char *scheme, char **ret_url);

#endif
