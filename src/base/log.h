#ifndef CUPOLA_BASE_LOG_H
#define CUPOLA_BASE_LOG_H

/*
 * Logging.
 *
 * One entry per call. When stderr is the journal (systemd says so in
 * $JOURNAL_STREAM) it goes there with fields: MESSAGE, PRIORITY, ERRNO, CODE_*,
 * MESSAGE_ID and REQUEST_ID, SESSION_ID, EXEC_ID, VM_NAME, TRACE_ID of the
 * scope; otherwise it is one line on stderr. Either way control characters and what is
 * not UTF-8 are escaped and long texts cut, so that no data can forge a line.
 *
 * A failure is logged once, where it stops travelling. Levels: error = someone
 * should look; warning = handled; info = one line per session and VM; debug =
 * state changes, and the only level where code or output of clients may show.
 *
 * May be called from any thread.
 */

#include <stddef.h>
#include <stdint.h>
#include <syslog.h>
#include <systemd/sd-id128.h>

#include "base/clock.h"

/**
 * struct log_scope - Whom an entry is about
 * @request_id:	API request, or NULL
 * @session_id:	Container id of the session, or NULL
 * @exec_id:	Execution, or NULL
 * @vm_name:	VM, or NULL
 * @trace_id:	Of the request that it serves, see trace.h; or NULL
 *
 * Filled in once by the object that has it; the strings are borrowed.
 */
struct log_scope {
	const char *request_id;
	const char *session_id;
	const char *exec_id;
	const char *vm_name;
	const char *trace_id;
};

/**
 * log_init() - Find out where entries go; to be called once, before threads
 * @program:	Identifier of the entries; a string that stays
 *
 * Without it, entries go to stderr under the program's own name.
 */
void log_init(const char *program);

/** enum log_kind - What an entry is a part of; LOG_KIND_AUDIT: log_audit()'s */
enum log_kind {
	LOG_KIND_LOG,
	LOG_KIND_AUDIT,

	LOG_KIND_COUNT,
};

/**
 * log_lost() - How many entries of a kind nobody took
 *
 * No entry is waited for: while the journal, or the socket that stderr is, takes
 * nothing, entries are counted here instead, and the next one that is taken
 * tells of it. Only a stderr that is a pipe or a file is written as such.
 */
uint64_t log_lost(enum log_kind kind);

/** log_set_level() - Drop what is less important than @priority (LOG_INFO) */
void log_set_level(int priority);

/** log_set_level_name() - The same, by a word of setting log.level */
void log_set_level_name(const char *name);

/**
 * log_full() - What the macros below call
 * @scope:	Whom it is about; may be NULL
 * @priority:	LOG_ERR to LOG_DEBUG
 * @id:		Which well-known event it is; may be NULL
 * @r:		Negative errno, which is put behind the message; or 0
 * @file:	Source position
 * @line:	Source position
 * @function:	Source position
 * @fmt:	Message without a full stop or newline
 *
 * Keeps errno. Return: @r
 */
int log_full(const struct log_scope *scope, int priority, const sd_id128_t *id,
	     int r, const char *file, int line, const char *function,
	     const char *fmt, ...) __attribute__((format(printf, 8, 9)));

#define log_full_here(scope, priority, id, r, ...)                     \
	log_full(scope, priority, id, r, __FILE__, __LINE__, __func__, \
		 __VA_ARGS__)

/* (scope, r, fmt, …), giving r, so that "return log_error(…)" can be written. */
#define log_error(scope, r, ...) \
	log_full_here(scope, LOG_ERR, NULL, r, __VA_ARGS__)
#define log_warning(scope, r, ...) \
	log_full_here(scope, LOG_WARNING, NULL, r, __VA_ARGS__)

/* (scope, fmt, …) */
#define log_notice(scope, ...) \
	((void)log_full_here(scope, LOG_NOTICE, NULL, 0, __VA_ARGS__))
#define log_info(scope, ...) \
	((void)log_full_here(scope, LOG_INFO, NULL, 0, __VA_ARGS__))
#define log_debug(scope, ...) \
	((void)log_full_here(scope, LOG_DEBUG, NULL, 0, __VA_ARGS__))

/* (scope, priority, id, fmt, …): an event that operators script on. */
#define log_event(scope, priority, id, ...) \
	((void)log_full_here(scope, priority, &(id), 0, __VA_ARGS__))

/**
 * struct log_field - A field of an entry of one's own
 * @name:	As the journal has it, upper case
 * @value:	NULL or "": the field is left out
 */
struct log_field {
	const char *name;
	const char *value;
};

/**
 * log_audit() - Note who did what
 * @scope:	Whom it is about; may be NULL
 * @deed:	A word for what was done, as in "key_revoke"
 * @fields:	Who, to what, and how it ended; at most LOG_AUDIT_FIELDS
 * @count:	How many
 *
 * The entry has the identifier "cupola-audit", the field AUDIT with the deed,
 * and those fields; its message is all of them again. No level drops it.
 */
void log_audit(const struct log_scope *scope, const char *deed,
	       const struct log_field *fields, size_t count);

/**
 * struct log_quota - How much data a guest may put into the log
 * @window_began:	Private
 * @used:		Private: lines in this window
 * @dropped:		Private: lines dropped since the last that was logged
 */
struct log_quota {
	usec_t window_began;
	unsigned used;
	unsigned dropped;
};

enum {
	LOG_MESSAGE_MAX = 2048, /* bytes of one message */
	LOG_AUDIT_FIELDS = 8,
	LOG_QUOTA_LINES = 50,   /* per LOG_QUOTA_WINDOW and struct */
	LOG_QUOTA_WINDOW_SEC = 10,
};

/**
 * log_data() - Log what a guest said, as data
 * @scope:	Whose words
 * @quota:	Its budget, zeroed at first; what is beyond it is counted and
 *		dropped
 * @identifier:	Under which name, as in "cupola-console"
 * @data:	One line, of any bytes
 * @size:	How many
 */
void log_data(const struct log_scope *scope, struct log_quota *quota,
	      const char *identifier, const void *data, size_t size);

#endif
