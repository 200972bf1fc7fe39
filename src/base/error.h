#ifndef CUPOLA_BASE_ERROR_H
#define CUPOLA_BASE_ERROR_H

/*
 * The int is for control flow, the error object is for people.
 *
 * Every function that can fail returns 0 or a negative errno. One whose
 * failure can reach an API client also takes a struct error as its last
 * argument and fills it, once, where the cause is known. The object lives on
 * the stack and cannot itself fail, so reporting out-of-memory is safe.
 *
 * The message goes to the client as it is: name the client's own things (its
 * session, its file, its limit), never a host path, an address or a secret.
 * ERR_INTERNAL is the exception: its message is for the log, and the client
 * gets "internal error" and the request's id instead.
 */

#include <stdbool.h>

/**
 * enum error_code - What kind of failure, in the API's terms
 *
 * Which HTTP status each one becomes is decided in one table of src/api.
 */
enum error_code {
	ERR_NONE = 0,
	ERR_BAD_REQUEST,       /* this input can never succeed */
	ERR_UNAUTHORIZED,      /* no key, or an unknown one */
	ERR_FORBIDDEN,         /* a good key that may not do this */
	ERR_NOT_FOUND,         /* no such thing, or another tenant's */
	ERR_METHOD,            /* the path exists, the method does not */
	ERR_TIMEOUT,           /* the client sent its request too slowly */
	ERR_CONFLICT,          /* right request, wrong state */
	ERR_BUSY,              /* right request, too early: try later */
	ERR_TOO_LARGE,         /* over a size limit that the message names */
	ERR_URI_TOO_LONG,      /* request line over the limit */
	ERR_MEDIA_TYPE,        /* a body of a type that is not taken here */
	ERR_RANGE,             /* a byte range outside the file */
	ERR_UNPROCESSABLE,     /* well-formed, and still makes no sense */
	ERR_LIMIT,             /* a quota or rate of the tenant is used up */
	ERR_HEADERS_TOO_LARGE, /* header fields over the limit */
	ERR_GUEST,             /* the guest died or broke the protocol */
	ERR_CAPACITY,          /* the host has no room now; try later */
	ERR_HYPERVISOR,        /* libvirt refused or failed */
	ERR_UPSTREAM,          /* a model's server refused or failed */
	ERR_UPSTREAM_TIMEOUT,  /* a model's server did not answer in time */
	ERR_STORAGE_FULL,      /* the host's disk has no room */
	ERR_INTERNAL,          /* our bug, or the host is out of something */

	ERR_CODE_COUNT,
};

enum {
	ERROR_MESSAGE_MAX = 512,
	ERROR_PARAM_MAX = 64,
	ERROR_REASON_MAX = 32,
};

/**
 * struct error - Why something failed
 * @code:	What kind of failure; ERR_NONE as long as nothing has failed
 * @message:	One sentence without a full stop; valid UTF-8 if what was put
 *		in is
 * @param:	The field of the request that is at fault, as a dotted path
 *		("expires_after.minutes"), or ""
 * @reason:	The machine-readable cause ("integer_above_max_value"), or ""
 * @retry_after_sec: When another try may succeed; 0: what the kind says
 */
struct error {
	enum error_code code;
	char message[ERROR_MESSAGE_MAX];
	char param[ERROR_PARAM_MAX];
	char reason[ERROR_REASON_MAX];
	unsigned retry_after_sec;
};

#define ERROR_INIT ((struct error){ .code = ERR_NONE })

/**
 * error_set() - Say what went wrong, for the client to read
 * @err:	Filled in unless an earlier failure already is; may be NULL
 * @code:	What kind of failure
 * @fmt:	Message without a trailing full stop or newline; names in '…'
 *
 * A message that is too long is cut at a character border.
 *
 * Return: the negative errno that stands for @code, so that a caller writes
 * "return error_set(err, ...)"
 */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * error_set_errno() - Say that the host failed, with the reason it gave
 * @err:	Filled in unless an earlier failure already is; may be NULL
 * @r:		Negative errno
 * @fmt:	What could not be done, as in "Cannot open the database"
 *
 * The code is ERR_STORAGE_FULL for ENOSPC and EDQUOT, else ERR_INTERNAL, and
 * the message is "@fmt: strerror".
 *
 * Return: @r
 */
int error_set_errno(struct error *err, int r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * error_wrap() - Put what was being tried in front of why it failed
 * @err:	Error to extend; nothing happens if none is set
 * @r:		The failed call's result
 * @fmt:	Context, as in "Cannot start session 'a1'"
 *
 * Return: @r
 */
int error_wrap(struct error *err, int r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * error_move_param() - Name it instead of what was named deeper down
 * @err:	Error; may be NULL
 * @fmt:	As in error_set_param()
 *
 * For who knows where in the request the value was that a callee refused.
 */
void error_move_param(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * error_set_param() - Name the field of the request that is at fault
 * @err:	Error; may be NULL
 * @fmt:	Dotted path; cut if too long
 *
 * The first name given stays, as with messages.
 */
void error_set_param(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * error_put_param_below() - Say that the field named is below another
 * @path:	As in "definition", of which "tools" was refused
 */
void error_put_param_below(struct error *err, const char *path);

/**
 * error_set_reason() - Give the machine-readable cause
 * @err:	Error; may be NULL
 * @reason:	A word of the API, as in "unknown_parameter"
 *
 * The first reason given stays.
 */
void error_set_reason(struct error *err, const char *reason);

/**
 * error_refuse() - Say that a field of the request is wrong: all of the above
 * @param:	Dotted path
 * @reason:	Word of the API
 *
 * Return: -EINVAL, with ERR_BAD_REQUEST
 */
int error_refuse(struct error *err, const char *param, const char *reason,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** error_set_retry_after() - Say when another try may succeed; the first stays */
void error_set_retry_after(struct error *err, unsigned sec);

/**
 * error_clear() - Make the object as ERROR_INIT does, for another try
 * @err:	Error; may be NULL
 */
void error_clear(struct error *err);

/** error_is_set() - Whether a failure has been described */
static inline bool error_is_set(const struct error *err)
{
	return err && err->code != ERR_NONE;
}

/**
 * error_errno() - The errno that stands for a kind of failure
 * @code:	What kind of failure, not ERR_NONE
 *
 * Return: a negative errno
 */
int error_errno(enum error_code code);

/**
 * error_code_name() - A short word for logs and tests, as in "not_found"
 * @code:	Any code
 */
const char *error_code_name(enum error_code code);

#endif
