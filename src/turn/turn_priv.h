/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_TURN_PRIV_H
#define TURN_TURN_PRIV_H

/*
 * A turn, and what the files turn_….c share of it.
 *
 * Theory of operation. A request becomes a turn, which goes through the steps
 * of turn_steps.c until its model is asked. The model's answer comes as parts
 * (turn_round.c), which turn_show.c makes items and events of, one after the
 * other: a call of the interpreter waits there for its container (turn_box.c)
 * and is run (turn_run.c) before anything behind it is shown. When all parts of
 * an answer are shown, the round is over: either the model is asked again, with
 * what came of its calls, or the turn ends (turn_end.c), is written down, and
 * then its readers are told (turn_watch.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/log.h"
#include "base/trace.h"
#include "turn/ask.h"
#include "turn/code_arguments.h"
#include "turn/context.h"
#include "turn/event_log.h"
#include "turn/out_item.h"
#include "turn/result.h"
#include "turn/turn.h"
#include "turn/turn_state.h"

struct turn;

enum {
	TURN_AGENT_MAX = 160, /* a project and a name */
	TURN_PARTS_MAX = 128, /* of one answer */
	TURN_MADE_MAX = 256,  /* files that are cited */
	TURN_LOG_MAX = 16 << 20,
	/* Of the item of one call, escaped. */
	TURN_LOGS_MAX = 1 << 20,
	TURN_CODE_MAX = CORE_CODE_MAX,
};

/** enum part_kind - What a piece of a model's answer is */
enum part_kind {
	PART_TEXT,
	PART_REFUSAL,
	PART_THOUGHT,
	PART_PYTHON,
	PART_FUNCTION,
	PART_IGNORED, /* a call of what it was not offered */
};

/** enum part_stage - How far it has been shown */
enum part_stage {
	PART_NEW,
	PART_OPEN,    /* its item was added */
	PART_READY,   /* all of its code was shown */
	PART_RUNNING,
	PART_DONE,
};

/**
 * struct part - A piece of a model's answer
 * @data:	What came and is not shown yet; of a call of the interpreter
 *		all of it
 * @whole:	No more comes
 * @item:	Index of its item, once it is open
 * @output:	What the model is told came of the call
 * @encrypted:	Of a thought
 */
struct part {
	enum part_kind kind;
	enum part_stage stage;
	struct buf data;
	bool whole;
	size_t item;
	struct code_arguments code;
	bool code_over; /* it is longer than TURN_CODE_MAX: not run */
	char call_id[OUT_CALL_ID_MAX + 1];
	char name[TOOL_NAME_MAX + 1];
	struct buf output;
	struct buf encrypted;
};

/** struct round - One answer of the model */
struct round {
	struct part *parts;
	size_t count;
	size_t at; /* the part that is being shown */
	bool ended;
	enum upstream_finish finish;
	unsigned number; /* counted from 1 */
};

/**
 * struct box - The container that code runs in
 * @id:		"" before
 * @since_usec:	Boot clock: from then on there was one
 * @ready:	It has its files
 * @busy:	Core owes an answer about it
 * @looked:	Those that there were before have been thought of
 * @file_at:	The file that it is to be given next
 * @upload, @sent: One that came with its bytes, on its way
 * @note:	What the model has to know of it: that another one is gone
 * @left:	Lines about files of that one; their names are strangers' words
 */
struct box {
	char id[ID_SIZE];
	usec_t since_usec;
	bool ready;
	bool busy;
	bool looked;
	size_t file_at;
	struct core_upload *upload;
	size_t sent;
	struct buf note;
	struct buf left;
};

/** struct run - The execution that is under way */
struct run {
	char container[ID_SIZE];
	char exec[ID_SIZE];
	struct exec_watch *watch;
};

/** struct made - A file that this turn's code made; the newest of its path */
struct made {
	char container[ID_SIZE];
	char file[ID_SIZE];
	char *path;
	bool cited;
};

/** struct ticket - A callback that core owes; outlives the turn if need be */
struct ticket {
	LIST_ENTRY(ticket) next;
	struct turn *turn;
};

struct turn {
	struct turns *turns;
	TAILQ_ENTRY(turn) next;
	char id[ID_SIZE];
	struct log_scope scope;
	struct principal who;
	enum core_dialect dialect;
	char agent[TURN_AGENT_MAX + 1]; /* with its project; "" without one */
	char request[ID_SIZE];
	struct trace trace;
	struct ask ask;
	enum turn_state state; /* turn_enter() writes it */
	size_t step;
	bool told_first; /* that it is there, before it is checked whole */
	sd_event_source *kick;
	struct timer *patience; /* with an earlier turn of its conversation */
	turn_fn accepted; /* NULL: told */
	void *userdata;
	bool kept; /* its row is in the database */
	bool bare; /* what was said cannot be kept: without its items */
	LIST_HEAD(, ticket) tickets;

	struct context context;
	struct talk_context *reading;
	struct error reading_failure;

	struct upstream_call *call;
	struct round *round;
	uint64_t calls; /* of the interpreter */
	size_t output_bytes;
	struct upstream_usage usage;
	struct box box;
	struct run run;
	struct made *made;
	size_t made_count;

	struct out_item *items;
	size_t item_count;
	struct buf log;
	uint64_t events;
	LIST_HEAD(, turn_watch) watches;

	enum turn_outcome outcome;
	const char *why; /* TURN_INCOMPLETE: the reason's word */
	struct error error;
	int64_t created_at;
	int64_t completed_at; /* 0: not over */
	usec_t began_usec;
	usec_t linger_until; /* boot clock: it is kept for readers */
};

/** struct turn_figures - What is counted as it happens */
struct turn_figures {
	uint64_t ended[TURN_OUTCOME_COUNT];
	uint64_t rounds;
	uint64_t calls; /* of the interpreter */
	usec_t usec;    /* from beginning to end */
};

struct turns {
	struct turns_config config;
	struct upstream *upstream;
	TAILQ_HEAD(, turn) all; /* oldest first */
	size_t count;
	struct timer *sweep;
	sd_event_source *gc;
	size_t max;
	size_t max_per_tenant;
	size_t context_max;
	size_t result_max;
	uint8_t secret[RESULT_SECRET_SIZE]; /* of marks: result.h */
	size_t output_max;
	unsigned rounds_max;
	usec_t wait_max;
	struct turn_figures figures;
};

/* turn_life.c */
struct turn *turn_find(struct turns *turns, const struct principal *who,
		       const char *id);
int turn_new(struct turns *turns, const struct principal *who,
	     struct turn **ret, struct error *err);
void turn_free(struct turn *t);

/** turn_release() - Free it in a while, if nobody needs it any more */
void turn_release(struct turn *t);

/** turn_kick() - Go on with its steps in the next turn of the loop */
void turn_kick(struct turn *t);

/** turn_ticket() - For a call of core; NULL without memory */
struct ticket *turn_ticket(struct turn *t);

/** turn_redeem() - Core has called back; NULL if the turn is gone */
struct turn *turn_redeem(struct ticket *ticket);

/* turn_steps.c */

/** turn_step() - Go on until something has to be waited for */
void turn_step(struct turn *t);

/** turn_is_first() - Whether no other turn of its conversation is before it */
bool turn_is_first(const struct turn *t);

/* turn_round.c */
int turn_ask(struct turn *t, struct error *err);
void turn_round_free(struct turn *t);

/** turn_round_over() - All of an answer has been shown */
int turn_round_over(struct turn *t, struct error *err);

/* turn_show.c */

/** turn_show() - Show what can be shown of the answer now */
void turn_show(struct turn *t);

/** turn_event() - Append to the log and wake readers */
int turn_event(struct turn *t, enum event_kind kind, size_t item,
	       size_t value);

/* turn_cite.c */
int turn_cite(struct turn *t, size_t item, bool last);
int turn_made(struct turn *t, const struct exec_view *exec);
void turn_made_free(struct turn *t);

/* turn_box.c */

/** turn_box_find() - The one that there is, alive; or "" */
void turn_box_find(struct turn *t, char ret[ID_SIZE]);

/** turn_box_stop() - Give up what is on its way there */
void turn_box_stop(struct turn *t);

/** turn_box_open() - Return: 1 if it is there; 0: turn_show() follows */
int turn_box_open(struct turn *t, struct error *err);

/* turn_usage.c */

/** turn_origin() - What its usage and its containers are counted under, or NULL */
const char *turn_origin(const struct turn *t);

/** turn_used() - What it has used; strings are the turn's */
void turn_used(const struct turn *t, struct response_usage *ret);

/** turn_count() - Tell the ledger, of one that is not kept */
void turn_count(const struct turn *t);

/* turn_run.c */

/** turn_run() - Run a part's code; turn_show() follows */
int turn_run(struct turn *t, struct part *part, struct error *err);
void turn_run_stop(struct turn *t);

/* turn_end.c */
void turn_finish(struct turn *t, enum turn_outcome outcome, const char *why);
void turn_fail(struct turn *t, const struct error *err);

/* turn_view.c */

/** enum turn_moment - Of which moment a response is to be shown */
enum turn_moment {
	MOMENT_CREATED,
	MOMENT_BEGUN,
	MOMENT_NOW,
};

/**
 * struct turn_view - What of a response is to be shown
 * @include:	Bits, on top of those of its request
 * @no_output:	Without its items, as it is kept
 */
struct turn_view {
	enum turn_moment moment;
	unsigned include;
	bool no_output;
};

void turn_view_write(const struct turn *t, const struct turn_view *view,
		     const char *key, struct json_writer *w);

/** turn_event_write() - @offset: where in its item's text a delta begins */
void turn_event_write(const struct turn *t, const struct event *event,
		      uint64_t sequence, size_t offset, struct json_writer *w);

/* turn_watch.c */
void turn_wake(struct turn *t);

/* turn_kept.c */

/** turn_put() - Write it down; @done is given a ticket. Return: 0 or negative */
int turn_put(struct turn *t, bool open, core_done_fn done,
	     struct error *err);

/** turns_end_open() - Those that an earlier daemon left in the middle failed */
int turns_end_open(struct turns *turns, struct error *err);

#endif
