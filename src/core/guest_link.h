/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GUEST_LINK_H
#define CORE_GUEST_LINK_H

/*
 * The control connection to one guest, as long as it lasts.
 *
 * A link greets, configures a guest that nobody has configured yet, keeps it
 * on its toes with PING, and passes on what concerns executions and requests.
 * When the connection is lost the link is over and its owner, the VM, makes
 * another one over a new connection; the guest keeps everything meanwhile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "core/gc.h"
#include "core/guest_conn.h"
#include "wire/message.h"

struct guest_link;

#define LINK_PING_USEC (5 * USEC_PER_SEC)
#define LINK_PINGS_MISSED_MAX 3

/*
 * A RELEASE that nothing goes along with waits for so long. Alone it is a packet
 * that wakes the guest, most often in the middle of the next execution.
 */
#define LINK_RELEASE_USEC (200 * USEC_PER_MSEC)

/* Bytes that may wait to be sent: source and stdin of two executions. */
#define LINK_QUEUE_MAX (12u * 1024 * 1024)

/* Requests are numbered from here, executions below. */
#define LINK_REQUEST_FIRST 0x80000000u

/**
 * struct guest_link_ops - What the owner of a link hears
 * @greeted:	HELLO has come: which executions the guest keeps
 * @ready:	Its kernel takes executions. ATTACH may have been sent before
 * @frame:	A frame of the phase WORK that carries a call. Negative: the
 *		guest broke a rule, @err says which
 * @ended:	The last call; the owner closes the link
 */
struct guest_link_ops {
	int (*greeted)(const struct message_hello *hello, void *userdata,
		       struct error *err);
	void (*ready)(const struct message_ready *ready, void *userdata);
	int (*frame)(const struct frame *f, void *userdata, struct error *err);
	void (*ended)(enum guest_conn_end why, const struct error *err,
		      void *userdata);
};

/**
 * struct guest_link_config - What a link is made of
 * @fd:		As in struct guest_conn_config
 * @hostname:	For a guest that is not configured yet
 * @emulated:	Tell it to be patient
 * @memory_max_bytes: Of the kernel; 0: all but what the agent needs
 */
struct guest_link_config {
	sd_event *event;
	struct clock *clock; /* the guest's */
	struct clock *wall;  /* to set the guest's time by */
	struct gc *gc;
	int fd;
	const uint8_t *nonce;
	const char *hostname;
	bool emulated;
	uint64_t memory_max_bytes;
	const struct guest_link_ops *ops;
	void *userdata;
};

int guest_link_new(const struct guest_link_config *config,
		   struct guest_link **ret);

/** guest_link_close() - End it; no callback follows. NULL is fine */
void guest_link_close(struct guest_link *link);

/** guest_link_open() - Whether the guest is ready and can be asked */
bool guest_link_open(const struct guest_link *link);

/**
 * struct link_exec - An execution to be sent
 * @call:	Its number in the guest's life, below LINK_REQUEST_FIRST
 * @trace:	A trace_parent(), for guests that are new enough; may be NULL
 */
struct link_exec {
	uint32_t call;
	const char *id;
	const char *code;
	size_t code_len;
	const char *stdin_data;
	size_t stdin_len;
	usec_t timeout_usec;
	bool spill;
	const char *trace;
};

/*
 * What can be said to a guest. All return 0 or a negative errno: -ENOTCONN
 * without a connection that was greeted, -EMSGSIZE when it takes nothing any
 * more, -ENOMEM.
 */
int guest_link_exec(struct guest_link *link, const struct link_exec *exec);
int guest_link_attach(struct guest_link *link, uint32_t call,
		      const uint64_t position[WIRE_STREAM_COUNT]);
int guest_link_interrupt(struct guest_link *link, uint32_t call);
/* Told along with the next EXEC, or a moment later on its own. */
int guest_link_release(struct guest_link *link, uint32_t call);
int guest_link_quiesce(struct guest_link *link, uint32_t call);
int guest_link_delete(struct guest_link *link, uint32_t call, const char *path);

#endif
