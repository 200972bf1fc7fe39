#ifndef VMD_SERVER_PRIVATE_H
#define VMD_SERVER_PRIVATE_H

#include "vmd/dial.h"
#include "vmd/server.h"
#include "vmd/vmd_link.h"

/* What server.c and server_request.c share. */

#define SERVER_FLUSH_USEC (200 * USEC_PER_MSEC)

/** struct waiting - A CREATE or DESTROY that is to be answered */
struct waiting {
	struct waiting *next;
	uint64_t serial;
	enum vmd_type type;
	char vm_id[VMD_ID_MAX];
};

/** struct dialling - A DIAL that is to be answered */
struct dialling {
	struct dialling *next;
	struct server *server;
	uint64_t serial;
	struct dial *dial;
};

/**
 * struct server - See server.h
 * @change_serial:	Of the RELOAD that is to be answered, or 0
 * @changing:		The table that is being decided, or NULL
 * @probing:		A probe is under way
 * @probe_serial:	Of the PROBE that is to be answered, or 0
 * @probe:		What it asks for
 * @probe_digest:	Of the image that it boots
 */
struct server {
	struct host *host;
	struct vmd_link *link;
	bool ready;
	struct vmd_hello hello;
	struct waiting *waiting;
	struct dialling *dialling;
	uint64_t change_serial;
	struct pools *changing;
	bool probing;
	uint64_t probe_serial;
	struct vmd_probe probe;
	char probe_digest[VMD_DIGEST_MAX];
	int (*reload)(struct settings **ret_settings, struct error *err,
		      void *userdata);
	void *reload_userdata;
	int listen_fd;
	uid_t client_uid;
	sd_event_source *listen_source;
	struct timer *abandoned;
};

/** server_got() - A packet of the client; a negative result hangs up */
int server_got(struct vmd_packet *packet, void *userdata);

/** server_send() - Send a message, if there is a client */
void server_send(struct server *server, enum vmd_type type, uint64_t serial,
		 const void *body, size_t size);

/**
 * server_answer_body() - Answer a request
 * @fd:		To be passed, or -1; taken over in any case
 */
void server_answer_body(struct server *server, uint64_t serial, int r,
			const struct error *err, const void *body, size_t size,
			int fd);

/** server_answer() - Answer a request whose answer has no body */
void server_answer(struct server *server, uint64_t serial, int r,
		   const struct error *err);

/** server_answer_zeros() - Answer with a failure, where success has a body */
void server_answer_zeros(struct server *server, uint64_t serial, int r,
			 const struct error *err, size_t size);

/* Requests in server_probe.c and server_change.c */
int server_got_probe(struct server *server, uint64_t serial,
		     const void *body);
int server_got_reload(struct server *server, uint64_t serial,
		      const void *body);

/** server_send_hello() - Tell the pool table */
void server_send_hello(struct server *server);

/**
 * server_greet() - Say HELLO to a new client, now or soon
 *
 * What a pool lacked may have come since: /dev/kvm while the host was booting,
 * or the image. So a table with such a pool is made and decided anew before.
 */
void server_greet(struct server *server);

#endif
