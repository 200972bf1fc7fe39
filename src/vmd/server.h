#ifndef VMD_SERVER_H
#define VMD_SERVER_H

#include "vmd/accelerator.h"
#include "vmd/host.h"
#include "vmd/machine.h"

/*
 * vmd's end of the socket: what cupolad asks, and what it is told.
 *
 * There is one client at a time. In development mode it is there from the start
 * and vmd ends with it; a packaged vmd listens, and a second client waits until
 * the first is gone.
 */

struct server;

/**
 * server_new() - Make a server without client
 * @reload:	Reads the settings anew: takes the place of host->settings
 *
 * Return: 0 or negative errno
 */
int server_new(struct host *host,
	       int (*reload)(struct settings **ret_settings,
			     struct error *err, void *userdata),
	       void *userdata, struct server **ret_server);

/** server_free() - Send what is queued, and hang up */
void server_free(struct server *server);
void server_freep(struct server **server);

/** server_serve() - Serve a connected socket, and exit the loop with it */
int server_serve(struct server *server, int fd);

/**
 * server_listen() - Serve who connects, one at a time
 * @fd:		Listening SOCK_SEQPACKET socket; taken over on success
 * @uid:	Only who runs as this user
 *
 * Without a client for hypervisor.orphan_timeout all VMs are ended.
 */
int server_listen(struct server *server, int fd, uid_t uid);

/** server_progress() - Tell the client what start-up is doing */
void server_progress(struct server *server, const char *text);

/** server_refuse() - Tell the client why vmd will not run */
void server_refuse(struct server *server, const char *text);

/**
 * server_ready() - Say HELLO, and answer requests from here on
 * @hello:	Without the pool table, which comes from the host
 */
void server_ready(struct server *server, const struct vmd_hello *hello);

/** server_watch - For the machines that are cupolad's, with the server */
extern const struct machine_watch server_watch;

#endif
