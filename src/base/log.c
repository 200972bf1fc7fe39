#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/journal.h"
#include "base/log.h"
#include "base/name.h"

/*
 * An entry is put together on the stack, without allocation, so that it can
 * tell of a lack of memory. Program and target are written once by log_init(),
 * before there are threads.
 */

static struct {
	const char *program;
	bool journal;
} target;

static atomic_int level = LOG_INFO;

/* Entries that nobody took, and how many of them were told of. */
static atomic_uint_least64_t lost[LOG_KIND_COUNT], told[LOG_KIND_COUNT];

static const char *const level_names[] = {
	[LOG_EMERG] = "emergency", [LOG_ALERT] = "alert",
	[LOG_CRIT] = "critical",   [LOG_ERR] = "error",
	[LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",       [LOG_DEBUG] = "debug",
};

enum {
	/* Room for fields other than the message, and how many there are. */
	FIELD_BYTES = 2048,
	FIELD_COUNT = 14 + LOG_AUDIT_FIELDS,

	/* Kept free in a message, so that no cut hides why it failed. */
	REASON_BYTES = 128,
};

/** struct entry - What log_full() was told, and the fields made of it */
struct entry {
	const struct log_scope *scope;
	const sd_id128_t *id;
	const char *identifier;
	const char *deed; /* of an entry of log_audit(), with its fields */
	const struct log_field *own;
	size_t own_count;
	const char *file;
	const char *function;
	int line;
	int priority;
	int errnum;

	char message[LOG_MESSAGE_MAX];
	char text[sizeof("MESSAGE=") + LOG_MESSAGE_MAX + FIELD_BYTES];
	size_t used;
	struct iovec fields[FIELD_COUNT];
	size_t count;
};

static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	if (!stream || sscanf(stream, "%llu:%llu", &dev, &ino) != 2)
		return false;
	return fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev &&
	       st.st_ino == ino;
}

void log_init(const char *program)
{
	target.program = program;
	target.journal = stderr_is_journal();
	if (target.journal)
		journal_open(NULL);
}

uint64_t log_lost(enum log_kind kind)
{
	return atomic_load(&lost[kind]);
}

static void lose(const struct entry *e)
{
	atomic_fetch_add(&lost[e->deed ? LOG_KIND_AUDIT : LOG_KIND_LOG], 1);
}

void log_set_level(int priority)
{
	atomic_store(&level, priority);
}

void log_set_level_name(const char *name)
{
	int priority;

	for (priority = LOG_ERR; priority <= LOG_DEBUG; priority++)
		if (strcmp(level_names[priority], name) == 0)
			log_set_level(priority);
}

static bool needs_escape(uint32_t c)
{
	return char_is_control(c) || char_reorders(c) || c == '\\';
}

/* Writes what stands for the next character; gives how many bytes it ate. */
static size_t escape_next(const char *data, size_t size, char piece[16])
{
	uint32_t c;
	size_t n = utf8_next(data, size, &c);

	if (n == 0) {
		(void)snprintf(piece, 16, "\\x%02x", (unsigned char)data[0]);
		return 1;
	}
	if (c == '\n')
		(void)snprintf(piece, 16, "\\n");
	else if (c == '\\')
		(void)snprintf(piece, 16, "\\\\");
	else if (needs_escape(c))
		(void)snprintf(piece, 16, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
	else
		(void)snprintf(piece, 16, "%.*s", (int)n, data);
	return n;
}

/* How many of the first bytes are characters that stand for themselves. */
static size_t plain_length(const char *data, size_t size)
{
	size_t n;

	for (n = 0; n < size; n++)
		if (data[n] < ' ' || data[n] > '~' || data[n] == '\\')
			break;
	return n;
}

/*
 * Appends @data to @text, escaped, up to @limit bytes in all; marks a cut. Nearly
 * all of nearly every line is plain, so that is copied as a whole.
 */
static void escape(char *text, size_t limit, const char *data, size_t size)
{
	static const char mark[] = "…";
	const size_t most = limit > sizeof(mark) ? limit - sizeof(mark) : 0;
	size_t used = strlen(text), at = 0, length, room;
	char piece[16];

	while (at < size) {
		room = used < most ? most - used : 0;
		length = plain_length(data + at,
				      size - at < room ? size - at : room);
		memcpy(text + used, data + at, length);
		used += length;
		text[used] = '\0';
		at += length;
		if (at == size)
			return;
		at += escape_next(data + at, size - at, piece);
		length = strlen(piece);
		if (used + length + sizeof(mark) > limit) {
			if (used + sizeof(mark) <= limit)
				memcpy(text + used, mark, sizeof(mark));
			return;
		}
		memcpy(text + used, piece, length + 1);
		used += length;
	}
}

__attribute__((format(printf, 3, 4))) static void
add_field(struct entry *e, const char *name, const char *fmt, ...)
{
	const size_t room = sizeof(e->text) - e->used;
	char *at = e->text + e->used;
	va_list ap;
	int n, m;

	n = snprintf(at, room, "%s=", name);
	if (n < 0 || (size_t)n >= room || e->count == FIELD_COUNT)
		return;
	va_start(ap, fmt);
	m = vsnprintf(at + n, room - (size_t)n, fmt, ap);
	va_end(ap);
	if (m < 0 || (size_t)m >= room - (size_t)n)
		return;
	e->fields[e->count].iov_base = at;
	e->fields[e->count].iov_len = (size_t)n + (size_t)m;
	e->count++;
	e->used += (size_t)n + (size_t)m + 1;
}

static void add_scope(struct entry *e, const char *name, const char *value)
{
	if (value)
		add_field(e, name, "%s", value);
}

static int write_journal(struct entry *e)
{
	size_t i;

	add_field(e, "MESSAGE", "%s", e->message);
	add_field(e, "PRIORITY", "%d", e->priority);
	add_field(e, "SYSLOG_IDENTIFIER", "%s", e->identifier);
	if (e->errnum)
		add_field(e, "ERRNO", "%d", e->errnum);
	if (e->file) {
		add_field(e, "CODE_FILE", "%s", e->file);
		add_field(e, "CODE_LINE", "%d", e->line);
		add_field(e, "CODE_FUNC", "%s", e->function);
	}
	if (e->id)
		add_field(e, "MESSAGE_ID", SD_ID128_FORMAT_STR,
			  SD_ID128_FORMAT_VAL(*e->id));
	if (e->scope) {
		add_scope(e, "REQUEST_ID", e->scope->request_id);
		add_scope(e, "SESSION_ID", e->scope->session_id);
		add_scope(e, "EXEC_ID", e->scope->exec_id);
		add_scope(e, "VM_NAME", e->scope->vm_name);
		add_scope(e, "TRACE_ID", e->scope->trace_id);
	}
	add_scope(e, "AUDIT", e->deed);
	for (i = 0; i < e->own_count; i++)
		if (e->own[i].value && *e->own[i].value)
			add_scope(e, e->own[i].name, e->own[i].value);
	return journal_send(e->fields, e->count);
}

static void print_scope(char *text, size_t size, const char *name,
			const char *value)
{
	const size_t used = strlen(text);

	if (value)
		(void)snprintf(text + used, size - used, " %s=%s", name, value);
}

/*
 * One call, so that lines of several threads do not mix. A socket, as the one of
 * a unit, is not waited for. Return: whether it took it.
 */
static bool write_stderr(const char *text, size_t size)
{
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;

	if (send(STDERR_FILENO, text, size, flags) >= 0)
		return true;
	if (errno != ENOTSOCK)
		return false;
	(void)!write(STDERR_FILENO, text, size);
	return true;
}

static void write_line(const struct entry *e)
{
	char date[32], scope[5 * ID_SIZE + 64] = "";
	char text[LOG_MESSAGE_MAX + sizeof(scope) + 128];
	struct timespec now;
	struct tm tm;
	int n;

	if (e->scope) {
		print_scope(scope, sizeof(scope), "request",
			    e->scope->request_id);
		print_scope(scope, sizeof(scope), "session",
			    e->scope->session_id);
		print_scope(scope, sizeof(scope), "exec", e->scope->exec_id);
		print_scope(scope, sizeof(scope), "vm", e->scope->vm_name);
		print_scope(scope, sizeof(scope), "trace", e->scope->trace_id);
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	n = snprintf(text, sizeof(text), "%s.%03ldZ %.32s %s: %s%s\n", date,
		     now.tv_nsec / 1000000, e->identifier,
		     level_names[e->priority], e->message, scope);
	if (n > 0 && !write_stderr(text, (size_t)n))
		lose(e);
}

/* Once they are taken again. */
static void tell_lost(void)
{
	uint64_t untold[LOG_KIND_COUNT];

	for (size_t i = 0; i < LOG_KIND_COUNT; i++) {
		const uint64_t count = atomic_load(&lost[i]);

		untold[i] = count - atomic_exchange(&told[i], count);
	}
	if (untold[LOG_KIND_AUDIT] > 0)
		log_error(NULL, 0,
			  "The audit log lacks %" PRIu64 " entries, which "
			  "nobody took",
			  untold[LOG_KIND_AUDIT]);
	if (untold[LOG_KIND_LOG] > 0)
		log_warning(NULL, 0, "The log did not take %" PRIu64 " lines",
			    untold[LOG_KIND_LOG]);
}

static void emit(struct entry *e)
{
	int r;

	if (!e->identifier)
		e->identifier = target.program ? target.program :
						 program_invocation_short_name;
	r = target.journal ? write_journal(e) : -ENOTCONN;
	if (r == -EAGAIN)
		lose(e);
	else if (r < 0)
		write_line(e);
	else
		tell_lost();
}

int log_full(const struct log_scope *scope, int priority, const sd_id128_t *id,
	     int r, const char *file, int line, const char *function,
	     const char *fmt, ...)
{
	struct entry e = { .scope = scope,
			   .priority = priority,
			   .id = id,
			   .errnum = -r,
			   .file = file,
			   .line = line,
			   .function = function };
	char raw[LOG_MESSAGE_MAX], why[REASON_BYTES];
	int saved = errno, n;
	va_list ap;

	if (priority > atomic_load(&level))
		return r;
	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	if (n >= 0)
		escape(e.message, sizeof(e.message) - REASON_BYTES, raw,
		       (size_t)n < sizeof(raw) ? (size_t)n : sizeof(raw) - 1);
	if (r < 0) {
		escape(e.message, sizeof(e.message), ": ", 2);
		/* GNU's strerror_r() may not use the buffer. */
		fmt = strerror_r(-r, why, sizeof(why));
		escape(e.message, sizeof(e.message), fmt, strlen(fmt));
	}
	emit(&e);
	errno = saved;
	return r;
}

/* " name=value", the name in lower case as in all lines. */
static void tell_own(struct entry *e, const struct log_field *field)
{
	const size_t limit = sizeof(e->message);
	char name[32] = " ";
	size_t i;

	if (!field->value || !*field->value)
		return;
	for (i = 0; field->name[i] && i < sizeof(name) - 3; i++)
		name[i + 1] = (char)tolower(field->name[i]);
	name[i + 1] = '=';
	escape(e->message, limit, name, i + 2);
	escape(e->message, limit, field->value, strlen(field->value));
}

void log_audit(const struct log_scope *scope, const char *deed,
	       const struct log_field *fields, size_t count)
{
	struct entry e = { .scope = scope,
			   .priority = LOG_NOTICE,
			   .identifier = "cupola-audit",
			   .deed = deed,
			   .own = fields,
			   .own_count = count };
	int saved = errno;
	size_t i;

	assert(count <= LOG_AUDIT_FIELDS);
	escape(e.message, sizeof(e.message), deed, strlen(deed));
	for (i = 0; i < count; i++)
		tell_own(&e, &fields[i]);
	emit(&e);
	errno = saved;
}

/* Whether one more line is within the budget; counts it if not. */
static bool quota_take(struct log_quota *q)
{
	struct timespec ts;
	usec_t now;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
	if (q->window_began == 0 ||
	    now - q->window_began >= LOG_QUOTA_WINDOW_SEC * USEC_PER_SEC) {
		q->window_began = now;
		q->used = 0;
	}
	if (q->used >= LOG_QUOTA_LINES) {
		q->dropped++;
		return false;
	}
	q->used++;
	return true;
}

void log_data(const struct log_scope *scope, struct log_quota *quota,
	      const char *identifier, const void *data, size_t size)
{
	struct entry e = { .scope = scope,
			   .priority = LOG_DEBUG,
			   .identifier = identifier };
	int saved = errno;

	if (LOG_DEBUG > atomic_load(&level) || !quota_take(quota))
		return;
	if (quota->dropped > 0)
		(void)snprintf(e.message, sizeof(e.message),
			       "(%u lines dropped) ", quota->dropped);
	quota->dropped = 0;
	escape(e.message, sizeof(e.message), data, size);
	emit(&e);
	errno = saved;
}
