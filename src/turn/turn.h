/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_TURN_H
#define TURN_TURN_H

/*
 * The agent loop: a client says something, a model answers, code runs between.
 *
 * A turn is one response of the Responses API, from the request to the object
 * that is kept. What core.h says of its calls holds for these: they run on the
 * loop, call back once or fail at once, and a principal bounds everything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/core.h"
#include "turn/agent.h"
#include "turn/item.h"
#include "turn/metadata.h"
#include "turn/upstream.h"

struct json_object;
struct json_writer;
struct turns;
struct turn_watch;

struct turns_config {
	sd_event *event;
	struct clock *clock;
	const struct settings *settings;
	struct core *core;
};

/**
 * turns_new() - The agent loop of a daemon
 *
 * Turns that a daemon before left in the middle are ended as failed once core
 * is ready.
 */
int turns_new(const struct turns_config *config, struct turns **ret,
	      struct error *err);

/** turns_free() - Before core; what is under way is kept as failed */
void turns_free(struct turns *turns);

/** turns_metrics() - Every figure once, in Prometheus' terms */
void turns_metrics(const struct turns *turns, figure_fn emit,
		   void *userdata);

/** turns_upstream() - For the list of models, and to test one */
struct upstream *turns_upstream(struct turns *turns);

/**
 * struct turn_request - A request for a response
 * @body:	As the client sent it; borrowed during the call only
 * @project:	The path's, or NULL
 * @agent:	The agent that the path names, or NULL
 * @request:	Its id, for the log
 * @trace:	trace_parent() of the request
 */
struct turn_request {
	const struct json_object *body;
	const char *project;
	const char *agent;
	const char *request;
	const char *trace;
};

/**
 * struct turn_accepted - A turn that has begun
 * @stream, @background: As the request said
 */
struct turn_accepted {
	char id[ID_MAX + 1]; /* resp_… */
	bool stream;
	bool background;
};

typedef void (*turn_fn)(void *userdata, const struct turn_accepted *turn,
			const struct error *err);

/**
 * turn_create() - Check a request, and begin
 *
 * All that can be refused before a model is asked is refused here or by @done
 * with an error. So is one that is abandoned before @done was called.
 * @ret_id:	For turn_abandon()
 */
int turn_create(struct turns *turns, const struct principal *who,
		const struct turn_request *request, turn_fn done,
		void *userdata, char ret_id[ID_SIZE], struct error *err);

/**
 * turn_write() - The response object as it is now
 * @include:	Bits of enum item_include; those of its request count as well
 *
 * Return: 0; ERR_NOT_FOUND, also where the client wanted nothing kept
 */
int turn_write(struct turns *turns, const struct principal *who, const char *id,
	       unsigned include, struct json_writer *w, struct error *err);

/**
 * turn_resumable() - Whether events of a response can be followed again
 *
 * Only those of responses that were made in the background and as streams.
 * Return: 0; ERR_NOT_FOUND; ERR_BAD_REQUEST
 */
int turn_resumable(struct turns *turns, const struct principal *who,
		   const char *id, struct error *err);

/**
 * turn_cancel() - End a background turn
 *
 * What ends it is under way then: whoever wants to see the outcome watches it.
 * Return: 0, also if it is over already; ERR_NOT_FOUND; ERR_BAD_REQUEST if it
 * was not in the background
 */
int turn_cancel(struct turns *turns, const struct principal *who,
		const char *id, struct error *err);

/** turn_abandon() - The client that waited has gone: cancel what is not in
 * the background; takes what is over or unknown */
void turn_abandon(struct turns *turns, const char *id);

int turn_delete(struct turns *turns, const struct principal *who,
		const char *id, core_done_fn done, void *userdata,
		struct error *err);

/** turn_input_list() - The items that a response's request had */
int turn_input_list(struct turns *turns, const struct principal *who,
		    const char *id, const struct core_page *page,
		    unsigned include, struct json_writer *w,
		    void (*each)(void *userdata, const char *id),
		    void *userdata, bool *ret_more, struct error *err);

/** struct turn_event - One server-sent event: its name and its JSON text */
struct turn_event {
	uint64_t sequence;
	const char *type;
	const char *json;
	size_t size;
};

/**
 * turn_watch_new() - Follow a turn's events, or only wait for its end
 * @after:	The last event seen, or -1 for all
 * @wake:	As exec_watch_new()
 *
 * As long as somebody watches, a turn that is over stays in memory.
 * Return: 0; ERR_NOT_FOUND
 */
int turn_watch_new(struct turns *turns, const struct principal *who,
		   const char *id, int64_t after, void (*wake)(void *userdata),
		   void *userdata, struct turn_watch **ret, struct error *err);

/**
 * turn_watch_next() - The next event
 *
 * Return: 1 with *@ret (borrowed until the next call), 0 when the reader must
 * wait for @wake, -ENODATA at the end: the response is then kept
 */
int turn_watch_next(struct turn_watch *watch, struct turn_event *ret);

/**
 * turn_watch_arm() - Be woken without having read to the end of what there is
 *
 * For those who only wait for the end: if it is there, @wake comes at once, but
 * never from inside.
 */
void turn_watch_arm(struct turn_watch *watch);

/** turn_watch_over() - In @wake: whether it is over; if not, @wake comes again */
bool turn_watch_over(struct turn_watch *watch);

/** turn_watch_write() - The response object as it is now, kept or not */
void turn_watch_write(const struct turn_watch *watch, struct json_writer *w);

/** turn_watch_failure() - Why it failed; NULL if it did not */
const struct error *turn_watch_failure(const struct turn_watch *watch);

/** turn_watch_has_run() - Whether code ran, so that a repetition runs it again */
bool turn_watch_has_run(const struct turn_watch *watch);

void turn_watch_free(struct turn_watch *watch);

#endif
