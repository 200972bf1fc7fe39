/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_EXEC_H
#define CORE_EXEC_H

/*
 * An execution: what was asked, what came of it, and who watches.
 *
 * Output and results are kept in the order they came, as "parts": a byte string
 * of variable-length numbers, each (value << 2 | kind). Two things follow from
 * that: an event's id is the number of bytes and items before its end, so a
 * reader can go on anywhere, even in the middle of what it was once given in
 * one piece; and the memory of a guest that changes stream with every byte is
 * bounded by the output's own bound.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/trace.h"
#include "core/core.h"
#include "core/data_path.h"
#include "core/end_reason.h"
#include "core/exec_state.h"
#include "core/gc.h"
#include "core/map.h"
#include "core/owed.h"
#include "core/skip.h"
#include "wire/message.h"

struct container;
struct json_object;
struct json_writer;
struct pull;
struct store_batch;
struct store_execution;
struct store_record;
struct timer;

/* Kept of one stream: what the guest keeps, head and tail. */
#define EXEC_STREAM_MAX (WIRE_HEAD_MAX + WIRE_TAIL_MAX)

/* Parts take at most a byte or two per byte of output. */
#define EXEC_PARTS_MAX (4u * 1024 * 1024)

/* What a guest gets on top of an execution's timeout before it is given up:
 * interrupt, kill and answer (1 s each, 3 s to kill if emulated), and slack. */
#define EXEC_GRACE_USEC (10 * USEC_PER_SEC)
#define EXEC_GRACE_EMULATED_USEC (60 * USEC_PER_SEC)

/*
 * How long one that was begun at once may be known to the guest alone: most are
 * over by then, and are written once instead of twice.
 */
#define EXEC_START_USEC (100 * USEC_PER_MSEC)

/* The id of a file that is not fetched yet. */
#define EXEC_FILE_UNKNOWN "?"

/** exec_datum_is_file() - Whether a datum still waits for its file's id */
static inline bool exec_datum_is_file(const struct exec_datum *d)
{
	return d->file_id[0] == EXEC_FILE_UNKNOWN[0];
}

enum exec_part {
	EXEC_PART_OUT,      /* value: bytes of stdout */
	EXEC_PART_ERR,      /* value: bytes of stderr */
	EXEC_PART_RESULT,   /* value: index of the result */
	EXEC_PART_ARTIFACT, /* value: index of the artifact */

	EXEC_PART_COUNT,
};

/**
 * struct exec_artifact - A file that it made, fetched and durable
 * @view:	For clients; its path is @path
 */
struct exec_artifact {
	struct cfile_view view;
	struct data_path path;
};

struct exec {
	struct core *core;
	struct gc_node buried;
	struct map_node node;
	char id[ID_SIZE];
	char container_id[ID_SIZE];
	char tenant[CORE_TENANT_MAX + 1];
	struct log_scope scope;
	struct container *container; /* NULL once the session has ended */
	TAILQ_ENTRY(exec) in_list;   /* queue or unreleased */
	bool listed;
	struct tenant *counted; /* among its executions, until it is over */
	bool accepting; /* queued, while its row is on its way to the disk */

	enum exec_state state; /* exec_enter() writes it */
	enum exec_status status;
	bool told; /* readers were told that it is done */
	bool restored;
	bool resend;   /* the guest never got it */
	bool in_guest; /* waits, and the guest has it: not to be sent */
	bool unsaved;  /* the disk refused its record */
	struct owed owed; /* the record, as long as it is that */
	unsigned pins; /* readers and answers that point here */

	/* What was asked */
	uint32_t number; /* the guest's call */
	char *code;
	size_t code_len;
	char *stdin_data;
	size_t stdin_len;
	usec_t timeout_usec;
	bool spill;
	char note[CORE_NOTE_SIZE];
	char request[ID_SIZE]; /* that it was started by; "" after a restart */
	struct trace trace;
	bool queued_on_disk; /* source is in the store */
	usec_t created_usec; /* wall */
	usec_t started_usec; /* wall */
	usec_t ended_usec;   /* wall */
	usec_t sent_usec;    /* boot, by this daemon; 0 if not by it */
	usec_t pull_usec;    /* boot, when its files began to be fetched, or 0 */
	struct timer *deadline;
	struct timer *start; /* its row is owed, as long as this is set */

	/* What came of it */
	struct buf out[2]; /* by enum wire_stream */
	uint64_t position[WIRE_STREAM_COUNT];
	struct buf parts;
	enum exec_part open_part; /* not written to parts yet */
	uint64_t open_value;      /* 0: none */
	uint64_t events;          /* the next event's id, less one */

	struct exec_datum *data;
	size_t datum_count;
	size_t datum_bytes; /* as the guest sent them */
	struct exec_result *results;
	size_t *result_first; /* index of its first datum */
	size_t result_count;
	uint32_t bundle; /* of the last datum */
	bool bundle_open;
	size_t results_told;

	bool error_told; /* since the guest was last attached to */
	char *error_name;
	char *error_value;
	char *error_traceback;
	struct exec_artifact *artifacts;
	size_t artifact_count;
	struct exec_skipped *skipped;
	size_t skipped_count;
	struct cfile_view *artifact_views; /* room for the view's */

	uint64_t total_bytes;
	uint64_t omitted_bytes;
	bool truncated[2]; /* by enum wire_stream */
	unsigned execution_count;
	unsigned kernel_epoch;
	bool state_lost;
	usec_t duration_usec;
	usec_t cpu_usec;
	uint64_t peak_memory_bytes;

	struct pull *pull;
	LIST_HEAD(, exec_watch) watches;
};

TAILQ_HEAD(exec_list, exec);

/* exec.c: life */

int exec_new(struct container *c, const struct exec_spec *spec,
	     struct exec **ret);

/** exec_restore() - One that was not over when the last daemon ended */
int exec_restore(struct container *c, const struct store_execution *row,
		 struct exec **ret);

/** exec_adopt() - One that only the guest knows of: its row was lost */
int exec_adopt(struct container *c, const char *id, uint32_t number,
	       struct exec **ret);

/** exec_send() - Have the guest run it; Return: as guest_link_exec() */
int exec_send(struct exec *e);

/** exec_attach() - The guest runs or keeps it: have the rest of it sent */
int exec_attach(struct exec *e);

/** exec_uncount() - It takes no place of its tenant's any more */
void exec_uncount(struct exec *e);

/** exec_cancel_new() - One that nobody was told of: it never was */
void exec_cancel_new(struct exec *e);

/** exec_resume() - The guest runs it already */
void exec_resume(struct exec *e);

/**
 * exec_longest() - How long it can have run, as the host's clock has it
 *
 * What the guest says above that is not true, and it is billed.
 */
usec_t exec_longest(const struct exec *e);

/** exec_over() - Its record is on the disk, or never will be */
void exec_over(struct exec *e, int r);

/** exec_keep_unsaved() - Its record is not on the disk: try again, now and then */
void exec_keep_unsaved(struct exec *e);

/** exec_saved_late() - That record is on the disk after all */
void exec_saved_late(struct exec *e);

/** exec_detach() - Its container goes before it does */
void exec_detach(struct exec *e);

/** exec_pin(), exec_unpin() - Keep it in memory meanwhile */
void exec_pin(struct exec *e);
void exec_unpin(struct exec *e);

void exec_free_all(struct core *core);

/** exec_enter() - The only writer of its state */
void exec_enter(struct exec *e, enum exec_state to);

/** exec_alloc() - An empty one with this id, or a new id; not in the map */
int exec_alloc(struct core *core, const char *id, struct exec **ret);
void exec_freep(struct exec **e);

/** exec_set_trace() - To which trace it belongs; @parent may be NULL */
void exec_set_trace(struct exec *e, const char *parent);

/* exec_row.c: its row, and that it has begun */

/** exec_put_row() - Write its row; @record as store_batch_put_execution() */
void exec_put_row(const struct exec *e, struct store_batch *batch,
		  const struct store_record *record);

/** exec_put_start() - Write that it was accepted */
void exec_put_start(struct exec *e, struct store_batch *batch);

/**
 * exec_save_start() - Note that it was accepted; nobody waits for that
 *
 * What has to wait is written at once. What was sent is written when it has not
 * ended soon, and by exec_save_starts().
 */
void exec_save_start(struct exec *e);

/** exec_save_starts() - Write what is owed of this: the daemon ends */
void exec_save_starts(struct core *core);

/** exec_init_start() - The timer for that; Return: 0 or negative errno */
int exec_init_start(struct exec *e);

/* exec_output.c: what the guest says about it */

int exec_frame(struct exec *e, const struct frame *f, struct error *err);

/** exec_add_part() - Append to the order of events, and wake readers */
int exec_add_part(struct exec *e, enum exec_part part, uint64_t value);

/** exec_close_part() - Make all of parts readable by those who walk it */
int exec_close_part(struct exec *e);

/** exec_add_datum() - @file_id: EXEC_FILE_UNKNOWN: @data is a file's path */
int exec_add_datum(struct exec *e, bool new_result, const char *mime,
		   const char *data, size_t size, const char *file_id);

/** exec_tell_results() - Announce results; those with files when @files is */
void exec_tell_results(struct exec *e, bool files);

/** exec_wake() - There is something new to read */
void exec_wake(struct exec *e);

/* exec_finish.c: from the guest's DONE to the record */

/** exec_done() - DONE has come: fetch the files that it changed */
void exec_done(struct exec *e, const struct message_done *done);

/** exec_pulled() - They are here, or given up */
void exec_pulled(struct exec *e);

/** exec_lose() - Its session ended: it ends as session_lost */
void exec_lose(struct exec *e, enum end_reason reason);

/** exec_cancel() - Interrupted while it waits */
void exec_cancel(struct exec *e);

/** exec_refused_memory() - The guest could not even take the source */
void exec_refused_memory(struct exec *e);

/**
 * exec_finish() - It has come to something: tell it and write the record
 * @batch:	With the rows of its files, or NULL; taken over
 */
void exec_finish(struct exec *e, struct store_batch *batch);

/* exec_files.c: its artifacts, and what was skipped */

/** exec_files_take() - What was fetched and what was not, from its pull */
int exec_files_take(struct exec *e);

/** exec_files_drop() - The disk refused: what nobody can fetch was skipped */
void exec_files_drop(struct exec *e);

/** exec_files_skipped() - How many files were skipped, listed or not */
uint64_t exec_files_skipped(const struct exec *e);

void exec_files_write(const struct exec *e, struct json_writer *w);
int exec_files_load(struct exec *e, const struct json_object *root);
void exec_files_free(struct exec *e);

/* exec_record.c: the record and the view */

/** exec_write_record() - What the store keeps, as JSON; out and err apart */
int exec_write_record(struct exec *e, struct buf *ret_json);

/** exec_load() - An execution that is over, from the store */
int exec_load(struct core *core, const struct store_execution *row,
	      struct exec **ret);

/** exec_load_waiting() - The source of one that had to wait */
int exec_load_waiting(struct exec *e);

/** exec_take_source() - Copy what is to be run */
int exec_take_source(struct exec *e, const char *code, size_t code_len,
		     const char *stdin_data, size_t stdin_len);

void exec_fill_view(struct exec *e, struct exec_view *ret);

/* core_exec.c */

/**
 * exec_find() - In memory or, if it is over, from the store
 *
 * One from the store is in memory until it is pinned and unpinned, or until the
 * loop goes on.
 */
int exec_find(struct core *core, const struct principal *who,
	      const char *container, const char *id, struct exec **ret,
	      struct error *err);

#endif
