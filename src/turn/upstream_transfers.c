/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_transfers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/timer.h"

TAILQ_HEAD(transfer_list, upstream_transfer);

/**
 * struct upstream_transfers - All that are under way
 * @clock:	The kernel's: libcurl's own time limits move with nothing else
 * @news:	Transfers whose owners are to be called
 */
struct upstream_transfers {
	sd_event *event;
	CURLM *multi;
	struct clock *clock;
	struct timer *timer;
	struct transfer_list news;
};

DEFINE_FREEP(struct upstream_transfers, upstream_transfers_free);

/* ------------------------------------------------- owners are called */

static void add_news(struct upstream_transfer *transfer)
{
	if (transfer->has_news)
		return;
	transfer->has_news = true;
	TAILQ_INSERT_TAIL(&transfer->transfers->news, transfer, in_news);
}

static void drop_news(struct upstream_transfer *transfer)
{
	if (transfer->has_news)
		TAILQ_REMOVE(&transfer->transfers->news, transfer, in_news);
	transfer->has_news = false;
}

static void read_messages(struct upstream_transfers *t)
{
	struct upstream_transfer *transfer;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(t->multi, &left))) {
		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
				      &transfer) != CURLE_OK)
			continue;
		transfer->over = true;
		transfer->result = message->data.result;
		add_news(transfer);
	}
}

static void forget(struct upstream_transfer *transfer)
{
	(void)curl_multi_remove_handle(transfer->transfers->multi,
				       transfer->easy);
	transfer->running = false;
}

/* The owner may stop the transfer when it hears of bytes, and free it. */
static void tell(struct upstream_transfer *transfer)
{
	struct upstream_transfers *t = transfer->transfers;

	if (transfer->bytes.length > 0) {
		if (transfer->over || transfer->paused)
			add_news(transfer);	/* comes again for that */
		transfer->arrived(transfer->userdata);
		return;
	}
	if (transfer->over) {
		forget(transfer);
		transfer->ended(transfer->userdata, transfer->result);
	} else if (transfer->paused) {
		transfer->paused = false;
		(void)curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
		read_messages(t);
	}
}

static void settle(struct upstream_transfers *t)
{
	struct upstream_transfer *first;

	read_messages(t);
	while ((first = TAILQ_FIRST(&t->news))) {
		drop_news(first);
		tell(first);
	}
}

/* ------------------------------------------------- libcurl's callbacks */

static size_t on_bytes(char *data, size_t one, size_t size, void *userdata)
{
	struct upstream_transfer *transfer = userdata;
	int r;

	(void)one;
	add_news(transfer);
	r = buf_add(&transfer->bytes, data, size);
	if (r == -EMSGSIZE) {
		transfer->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	return r < 0 ? CURL_WRITEFUNC_ERROR : size;
}

static size_t on_head(char *data, size_t one, size_t size, void *userdata)
{
	struct upstream_transfer *transfer = userdata;

	(void)data;
	(void)one;
	transfer->head += size;
	return transfer->head > UPSTREAM_HEAD_MAX ? 0 : size;
}

static int on_io(sd_event_source *source, int fd, uint32_t revents,
		 void *userdata)
{
	struct upstream_transfers *t = userdata;
	int running, what = 0;

	(void)source;
	if (revents & (EPOLLIN | EPOLLHUP))
		what |= CURL_CSELECT_IN;
	if (revents & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (revents & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	(void)curl_multi_socket_action(t->multi, fd, what, &running);
	settle(t);
	return 0;
}

static void on_timer(struct timer *timer, void *userdata)
{
	struct upstream_transfers *t = userdata;
	int running;

	(void)timer;
	(void)curl_multi_socket_action(t->multi, CURL_SOCKET_TIMEOUT, 0,
				       &running);
	settle(t);
}

static int on_want_timer(CURLM *multi, long msec, void *userdata)
{
	struct upstream_transfers *t = userdata;

	(void)multi;
	if (msec < 0)
		timer_clear(t->timer);
	else
		timer_set_after(t->timer, (usec_t)msec * USEC_PER_MSEC);
	return 0;
}

static uint32_t events_of(int what)
{
	return (what & CURL_POLL_IN ? EPOLLIN : 0u) |
	       (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
}

/* libcurl keeps the source for us, with the socket. */
static int on_want_socket(CURL *easy, curl_socket_t fd, int what,
			  void *userdata, void *known)
{
	struct upstream_transfers *t = userdata;
	sd_event_source *source = known;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		sd_event_source_disable_unref(source);
		(void)curl_multi_assign(t->multi, fd, NULL);
		return 0;
	}
	if (source)
		return sd_event_source_set_io_events(source, events_of(what)) <
				       0
			       ? -1
			       : 0;
	if (event_add_io(t->event, fd, events_of(what), on_io, t, "model",
			 &source) < 0)
		return -1;
	(void)curl_multi_assign(t->multi, fd, source);
	return 0;
}

/* ------------------------------------------------- begin and end */

static int set_up(struct upstream_transfers *t)
{
	CURLM *m = t->multi;

	if (curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_want_socket) ||
	    curl_multi_setopt(m, CURLMOPT_SOCKETDATA, t) ||
	    curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, on_want_timer) ||
	    curl_multi_setopt(m, CURLMOPT_TIMERDATA, t) ||
	    curl_multi_setopt(m, CURLMOPT_PIPELINING, CURLPIPE_NOTHING))
		return -ENOMEM;
	return 0;
}

int upstream_transfers_new(sd_event *event, struct upstream_transfers **ret)
{
	_cleanup_(upstream_transfers_freep) struct upstream_transfers *t =
		calloc(1, sizeof(*t));
	int r;

	if (!t || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	TAILQ_INIT(&t->news);
	t->event = sd_event_ref(event);
	r = clock_new(&t->clock);
	if (r >= 0)
		r = timer_new(event, t->clock, "models", on_timer, t,
			      &t->timer);
	if (r < 0)
		return r;
	t->multi = curl_multi_init();
	if (!t->multi || set_up(t) < 0)
		return -ENOMEM;
	*ret = take_ptr(t);
	return 0;
}

void upstream_transfers_free(struct upstream_transfers *t)
{
	if (!t)
		return;
	/* Closes what connections are kept; sockets and timer are told. */
	(void)curl_multi_cleanup(t->multi);
	timer_free(t->timer);
	clock_free(t->clock);
	sd_event_unref(t->event);
	free(t);
}

int upstream_transfer_start(struct upstream_transfers *t,
			    struct upstream_transfer *transfer)
{
	CURL *easy = transfer->easy;

	transfer->transfers = t;
	transfer->bytes = BUF_INIT(UPSTREAM_WAITING_MAX);
	if (curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) ||
	    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
			     (long)UPSTREAM_PIECE_MAX) ||
	    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes) ||
	    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) ||
	    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head) ||
	    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) ||
	    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->message) ||
	    curl_multi_add_handle(t->multi, easy) != CURLM_OK)
		return -ENOMEM;
	transfer->running = true;
	return 0;
}

void upstream_transfer_stop(struct upstream_transfer *transfer)
{
	if (transfer->transfers)
		drop_news(transfer);
	if (transfer->running)
		forget(transfer);
	buf_done(&transfer->bytes);
}
