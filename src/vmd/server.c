#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/name.h"
#include "vmd/server.h"
#include "vmd/server_private.h"

/*
 * The connection. Requests are in server_request.c.
 *
 * What a request waits for is in a list with the serial of the request, and
 * the machine does not know of it: when the client goes, the lists are emptied
 * and the machines live on.
 */

static void on_abandoned(struct timer *timer, void *userdata)
{
	struct server *server = userdata;
	struct machine *m;

	(void)timer;
	log_notice(NULL, "No cupolad was connected for too long, "
			 "ending all VMs");
	for (m = server->host->machines; m; m = m->next)
		machine_end(m, VMD_REASON_ABANDONED);
}

int server_new(struct host *host,
	       int (*reload)(struct settings **ret_settings,
			     struct error *err, void *userdata),
	       void *userdata, struct server **ret_server)
{
	_cleanup_(server_freep) struct server *server = NULL;
	int r;

	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->host = host;
	server->reload = reload;
	server->reload_userdata = userdata;
	server->listen_fd = -1;
	r = timer_new(host->event, host->clock, "abandoned", on_abandoned,
		      server, &server->abandoned);
	if (r < 0)
		return r;
	*ret_server = take_ptr(server);
	return 0;
}

static void forget_requests(struct server *server)
{
	struct waiting *w;
	struct dialling *d;

	while ((w = server->waiting)) {
		server->waiting = w->next;
		free(w);
	}
	while ((d = server->dialling)) {
		server->dialling = d->next;
		dial_cancel(d->dial);
		free(d);
	}
	/* A change or probe that goes on is answered to nobody. */
	server->change_serial = 0;
	server->probe_serial = 0;
}

void server_free(struct server *server)
{
	if (!server)
		return;
	if (server->link)
		vmd_link_flush(server->link, SERVER_FLUSH_USEC);
	vmd_link_free(server->link);
	forget_requests(server);
	timer_free(server->abandoned);
	sd_event_source_disable_unref(server->listen_source);
	close_fd(&server->listen_fd);
	free(server);
}

void server_freep(struct server **server)
{
	server_free(*server);
}

void server_send(struct server *server, enum vmd_type type, uint64_t serial,
		 const void *body, size_t size)
{
	if (!server->link)
		return;
	/* Without memory the peer would wait for ever: let it begin anew. */
	if (vmd_link_send(server->link, type, serial, body, size, NULL, 0,
			  -1) == -ENOMEM)
		(void)sd_event_exit(server->host->event, EXIT_FAILURE);
}

static void send_sentence(struct server *server, enum vmd_type type,
			  const char *text)
{
	struct vmd_sentence sentence = {};

	memcpy(sentence.text, text,
	       utf8_cut(text, strlen(text), sizeof(sentence.text) - 1));
	server_send(server, type, 0, &sentence, sizeof(sentence));
}

void server_progress(struct server *server, const char *text)
{
	send_sentence(server, VMD_PROGRESS, text);
}

void server_refuse(struct server *server, const char *text)
{
	send_sentence(server, VMD_REFUSED, text);
}

void server_send_hello(struct server *server)
{
	pools_describe(server->host->pools, &server->hello);
	server_send(server, VMD_HELLO, 0, &server->hello,
		    sizeof(server->hello));
}

void server_ready(struct server *server, const struct vmd_hello *hello)
{
	server->hello = *hello;
	server->ready = true;
	server_send_hello(server);
}

static void on_server_lost(int r, void *userdata)
{
	struct server *server = userdata;
	usec_t patience;

	vmd_link_free(take_ptr(server->link));
	forget_requests(server);
	if (r == -EPROTO)
		(void)log_error(NULL, 0, "cupolad broke the protocol, "
					 "hanging up");
	if (server->listen_fd < 0) {
		log_info(NULL, "cupolad is gone, exiting; VMs that still run go on");
		(void)sd_event_exit(server->host->event, 0);
		return;
	}
	log_info(NULL, "cupolad is gone, waiting for the next");
	patience = settings_usec(server->host->settings, "hypervisor",
				 "orphan_timeout");
	timer_set_after(server->abandoned, patience);
	(void)sd_event_source_set_enabled(server->listen_source, SD_EVENT_ON);
}

int server_serve(struct server *server, int fd)
{
	static const struct vmd_link_handlers handlers = {
		.got = server_got,
		.lost = on_server_lost,
	};
	int r;

	assert(!server->link);
	r = vmd_link_new(server->host->event, fd, &handlers, server,
			 &server->link);
	if (r < 0)
		return r;
	timer_clear(server->abandoned);
	if (server->ready)
		server_greet(server);
	return 0;
}

static int on_connect(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct server *server = userdata;
	_cleanup_close_ int peer = -1;
	struct ucred who = {};
	socklen_t size = sizeof(who);
	int r;

	(void)revents;
	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (peer < 0)
		return 0;
	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	    who.uid != server->client_uid) {
		(void)log_warning(NULL, 0, "Refusing a client with uid %u",
				  who.uid);
		return 0;
	}
	r = server_serve(server, peer);
	if (r < 0) {
		(void)log_error(NULL, r, "Cannot serve a client");
		return 0;
	}
	(void)take_fd(peer);
	/* The next one waits in the backlog until this one is gone. */
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

int server_listen(struct server *server, int fd, uid_t uid)
{
	usec_t patience = settings_usec(server->host->settings, "hypervisor",
					"orphan_timeout");
	int r;

	/* systemd's socket blocks: a client that has left again is not waited
	 * for. */
	r = event_set_nonblocking(fd);
	if (r < 0)
		return r;
	r = event_add_io(server->host->event, fd, EPOLLIN, on_connect, server,
			 "vmd-socket", &server->listen_source);
	if (r < 0)
		return r;
	server->listen_fd = fd;
	server->client_uid = uid;
	timer_set_after(server->abandoned, patience);
	return 0;
}
