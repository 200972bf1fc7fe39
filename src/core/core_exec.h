/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_EXEC_H
#define CORE_CORE_EXEC_H

/* Executions: a part of core.h, whose rules hold here. */

#include "core/core.h"

enum exec_status {
	EXEC_QUEUED,
	EXEC_RUNNING,
	EXEC_OK,
	EXEC_ERROR,
	EXEC_TIMEOUT,
	EXEC_INTERRUPTED,
	EXEC_OUTPUT_LIMIT,
	EXEC_OOM,
	EXEC_KERNEL_DIED,
	EXEC_SESSION_LOST,

	EXEC_STATUS_COUNT,
};

/** exec_status_name() - As API clients read it: "ok", "kernel_died", … */
const char *exec_status_name(enum exec_status status);

/** exec_status_parse() - The same the other way round */
enum exec_status exec_status_parse(const char *name);

/** exec_status_sentence() - Why it did not end by itself; NULL if it did */
const char *exec_status_sentence(enum exec_status status);

enum { CORE_NOTE_SIZE = 64 };

struct exec_spec {
	const char *code; /* any UTF-8, NUL included */
	size_t code_len;
	const char *stdin_data;
	size_t stdin_len;
	usec_t timeout_usec; /* 0: the default of 120 s */
	bool spill;
	const char *note; /* comes back with each view; NULL: "" */
	const char *request; /* its id, for the log; NULL: none */
	const char *trace; /* trace_parent() of the request */
	struct idempotency idempotency;
};

/** struct exec_datum - One representation of a displayed object */
struct exec_datum {
	const char *mime;
	const char *data; /* valid UTF-8; NULL if a file */
	size_t data_len;
	char file_id[ID_MAX + 1]; /* set if the datum is a file */
};

struct exec_result {
	const struct exec_datum *data;
	size_t count;
};

/** exec_datum_find() - The form of a displayed object of that type, or NULL */
const struct exec_datum *exec_datum_find(const struct exec_result *result,
					 const char *mime);

struct exec_skipped {
	const char *path;     /* as of struct cfile_view */
	const char *path_b64; /* likewise */
	const char *reason;   /* "too_large", "symlink", …: skip.h */
	uint64_t bytes;       /* of the file; 0 if that is not known */
	uint64_t limit_bytes; /* what it was over; 0 if nothing */
	uint64_t count;       /* files this stands for; 0: the one at path */
};

struct exec_view {
	char id[ID_MAX + 1]; /* exec_… */
	char container[ID_MAX + 1];
	char note[CORE_NOTE_SIZE]; /* as it was started with */
	enum exec_status status;
	const char *out; /* raw bytes of the program */
	size_t out_len;
	const char *err;
	size_t err_len;
	bool out_truncated;
	bool err_truncated;
	uint64_t total_bytes; /* both streams */
	uint64_t omitted_bytes;
	const struct exec_result *results;
	size_t result_count;
	const char *error_name; /* NULL: no error */
	const char *error_value;
	const char *error_traceback;
	const struct cfile_view *artifacts;
	size_t artifact_count;
	const struct exec_skipped *skipped;
	size_t skipped_count;
	uint64_t skipped_total; /* files that were skipped, listed or not */
	unsigned execution_count;
	unsigned kernel_epoch;
	bool state_lost;
	const char *trace_id; /* NULL: none was told */
	int64_t created_at;
	uint64_t duration_msec;
	uint64_t cpu_msec;
	uint64_t peak_memory_bytes;
};

typedef void (*exec_fn)(void *userdata, const struct exec_view *exec,
			const struct error *err);

/**
 * core_exec_start() - Queue source for a container's kernel
 * @accepted:	Called with the execution's first view (queued or running)
 *		once it is accepted; ERR_BUSY "container_busy" when the
 *		queue is full is told at once
 *
 * The execution goes on whether anyone watches it or not.
 */
int core_exec_start(struct core *core, const struct principal *who,
		    const char *container, const struct exec_spec *spec,
		    exec_fn accepted, void *userdata, struct error *err);

int core_exec_get(struct core *core, const struct principal *who,
		  const char *container, const char *id, struct exec_view *ret,
		  struct error *err);

/** core_exec_interrupt() - SIGINT, if it still runs; a late one does nothing */
int core_exec_interrupt(struct core *core, const struct principal *who,
			const char *container, const char *id,
			struct error *err);

enum exec_event_type {
	EXEC_EVENT_STARTED,
	EXEC_EVENT_OUTPUT,
	EXEC_EVENT_RESULT,
	EXEC_EVENT_ARTIFACT,
	EXEC_EVENT_DONE,

	EXEC_EVENT_TYPE_COUNT,
};

struct exec_event {
	uint64_t id; /* grows; what "after" takes */
	enum exec_event_type type;
	bool is_stderr;   /* OUTPUT */
	const char *data; /* OUTPUT: raw bytes */
	size_t data_len;
	const struct exec_result *result;  /* RESULT */
	const struct cfile_view *artifact; /* ARTIFACT */
	const struct exec_view *view;      /* STARTED and DONE */
};

/**
 * struct exec_watch - One reader's place in an execution's events
 *
 * Pulled, not pushed: events stay in the execution (bounded by its output
 * caps) until read, so a slow reader costs nothing.
 */
struct exec_watch;

/**
 * exec_watch_new() - Follow an execution, from the beginning or after an event
 *
 * @wake:	Called from the loop when exec_watch_next() has something new,
 *		at most once until it has returned 0
 *
 * To begin is the owner's activity, to go on is not.
 */
int exec_watch_new(struct core *core, const struct principal *who,
		   const char *container, const char *id, uint64_t after,
		   void (*wake)(void *userdata), void *userdata,
		   struct exec_watch **ret, struct error *err);

/**
 * exec_watch_next() - The next event, if there is one
 *
 * OUTPUT events that lie next to each other may come as one, at most @max_data
 * bytes, cut at a character border where the output is UTF-8.
 * Return: 1 with *@ret filled in (borrowed until the next call), 0 when the
 * reader must wait for @wake, -ENODATA after DONE has been read
 */
int exec_watch_next(struct exec_watch *watch, size_t max_data,
		    struct exec_event *ret);

void exec_watch_free(struct exec_watch *watch);

#endif
