/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_TRANSFERS_H
#define TURN_UPSTREAM_TRANSFERS_H

/*
 * libcurl's transfers in the loop, with its connections to be used again.
 *
 * libcurl must not be entered from its own callbacks, so a transfer's bytes are
 * put aside there, and its owner is called when libcurl has returned: then it
 * may end this transfer or begin another one.
 */

#include <curl/curl.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/buf.h"

enum {
	/* What libcurl reads at a time, and what may wait for the owner. */
	UPSTREAM_PIECE_MAX = 16 << 10,
	UPSTREAM_WAITING_MAX = 64 << 10,

	UPSTREAM_HEAD_MAX = 64 << 10, /* of an answer */
};

struct upstream_transfers;

/**
 * struct upstream_transfer - One; fill in the first four, zero the others
 * @arrived:	There are bytes in @bytes, for the owner to consume all
 * @ended:	It is over; the transfer is not known any more
 * @message:	libcurl's words of a failure, with addresses: for the log only
 */
struct upstream_transfer {
	CURL *easy;
	void (*arrived)(void *userdata);
	void (*ended)(void *userdata, CURLcode result);
	void *userdata;

	struct buf bytes;
	size_t head;
	char message[CURL_ERROR_SIZE];
	bool paused;
	bool running;
	bool has_news;
	bool over;
	CURLcode result;
	struct upstream_transfers *transfers;
	TAILQ_ENTRY(upstream_transfer) in_news;
};

int upstream_transfers_new(sd_event *event, struct upstream_transfers **ret);

/** upstream_transfers_free() - All transfers have been stopped; takes NULL */
void upstream_transfers_free(struct upstream_transfers *t);

/** upstream_transfer_start() - Begin; nothing is called from inside */
int upstream_transfer_start(struct upstream_transfers *t,
			    struct upstream_transfer *transfer);

/** upstream_transfer_stop() - End it and forget its bytes; also if it is over */
void upstream_transfer_stop(struct upstream_transfer *transfer);

#endif
