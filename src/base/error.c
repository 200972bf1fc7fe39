#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Each code has an errno of its own, so that the int alone can steer, too. */
static const struct {
	const char *name;
	int errnum;
} codes[] = {
	[ERR_NONE] = { "none", 0 },
	[ERR_BAD_REQUEST] = { "bad_request", EINVAL },
	[ERR_UNAUTHORIZED] = { "unauthorized", EACCES },
	[ERR_FORBIDDEN] = { "forbidden", EPERM },
	[ERR_NOT_FOUND] = { "not_found", ENOENT },
	[ERR_METHOD] = { "method", EOPNOTSUPP },
	[ERR_TIMEOUT] = { "timeout", ETIMEDOUT },
	[ERR_CONFLICT] = { "conflict", EBUSY },
	[ERR_BUSY] = { "busy", EINPROGRESS },
	[ERR_TOO_LARGE] = { "too_large", EFBIG },
	[ERR_URI_TOO_LONG] = { "uri_too_long", ENAMETOOLONG },
	[ERR_MEDIA_TYPE] = { "media_type", EMEDIUMTYPE },
	[ERR_RANGE] = { "range", ERANGE },
	[ERR_UNPROCESSABLE] = { "unprocessable", EDOM },
	[ERR_LIMIT] = { "limit", EUSERS },
	[ERR_HEADERS_TOO_LARGE] = { "headers_too_large", E2BIG },
	[ERR_GUEST] = { "guest", EPROTO },
	[ERR_CAPACITY] = { "capacity", EAGAIN },
	[ERR_HYPERVISOR] = { "hypervisor", EREMOTEIO },
	[ERR_UPSTREAM] = { "upstream", ECONNABORTED },
	[ERR_UPSTREAM_TIMEOUT] = { "upstream_timeout", ETIME },
	[ERR_STORAGE_FULL] = { "storage_full", ENOSPC },
	[ERR_INTERNAL] = { "internal", EIO },
};
_Static_assert(sizeof(codes) / sizeof(codes[0]) == ERR_CODE_COUNT,
	       "codes[] doesn't match enum error_code");

/* Cuts a UTF-8 string so that no character is left in halves. */
static void cut_to_characters(char *s, size_t length)
{
	size_t start = length;

	while (start > 0 && ((unsigned char)s[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0 || ((unsigned char)s[start - 1] & 0xc0) != 0xc0)
		return;

	/* s[start - 1] leads the last character; is all of it there? */
	start--;
	if (((unsigned char)s[start] & 0xe0) == 0xc0 && length - start >= 2)
		return;
	if (((unsigned char)s[start] & 0xf0) == 0xe0 && length - start >= 3)
		return;
	if (((unsigned char)s[start] & 0xf8) == 0xf0 && length - start >= 4)
		return;
	s[start] = '\0';
}

__attribute__((format(printf, 3, 0))) static void
format(char *s, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(s, size, fmt, ap);

	if (n < 0)
		s[0] = '\0';
	else if ((size_t)n >= size)
		cut_to_characters(s, size - 1);
}

__attribute__((format(printf, 3, 0))) static int
set(struct error *err, enum error_code code, const char *fmt, va_list ap)
{
	assert(code > ERR_NONE && code < ERR_CODE_COUNT);
	if (err && err->code == ERR_NONE) {
		err->code = code;
		format(err->message, sizeof(err->message), fmt, ap);
	}
	return -codes[code].errnum;
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = set(err, code, fmt, ap);
	va_end(ap);
	return r;
}

int error_refuse(struct error *err, const char *param, const char *reason,
		 const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = set(err, ERR_BAD_REQUEST, fmt, ap);
	va_end(ap);
	error_set_param(err, "%s", param);
	error_set_reason(err, reason);
	return r;
}

int error_set_errno(struct error *err, int r, const char *fmt, ...)
{
	char what[ERROR_MESSAGE_MAX], why[128];
	va_list ap;

	if (!err || err->code != ERR_NONE)
		return r;
	va_start(ap, fmt);
	format(what, sizeof(what), fmt, ap);
	va_end(ap);
	(void)error_set(err,
			r == -ENOSPC || r == -EDQUOT ? ERR_STORAGE_FULL :
						       ERR_INTERNAL,
			"%s: %s", what, strerror_r(-r, why, sizeof(why)));
	return r;
}

int error_wrap(struct error *err, int r, const char *fmt, ...)
{
	char cause[ERROR_MESSAGE_MAX];
	size_t used;
	va_list ap;
	int n;

	if (!error_is_set(err))
		return r;
	memcpy(cause, err->message, sizeof(cause));
	va_start(ap, fmt);
	format(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);

	used = strlen(err->message);
	n = snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		     cause);
	if (n >= 0 && (size_t)n >= sizeof(err->message) - used)
		cut_to_characters(err->message, sizeof(err->message) - 1);
	return r;
}

void error_set_param(struct error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->param[0])
		return;
	va_start(ap, fmt);
	format(err->param, sizeof(err->param), fmt, ap);
	va_end(ap);
}

void error_put_param_below(struct error *err, const char *path)
{
	char param[2 * ERROR_PARAM_MAX];

	if (!err || !err->param[0])
		return;
	(void)snprintf(param, sizeof(param), "%s.%s", path, err->param);
	param[ERROR_PARAM_MAX - 1] = '\0';
	strcpy(err->param, param);
}

void error_move_param(struct error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	format(err->param, sizeof(err->param), fmt, ap);
	va_end(ap);
}

void error_set_reason(struct error *err, const char *reason)
{
	if (err && !err->reason[0])
		(void)snprintf(err->reason, sizeof(err->reason), "%s", reason);
}

void error_set_retry_after(struct error *err, unsigned sec)
{
	if (err && !err->retry_after_sec)
		err->retry_after_sec = sec;
}

void error_clear(struct error *err)
{
	if (err)
		*err = ERROR_INIT;
}

int error_errno(enum error_code code)
{
	assert(code > ERR_NONE && code < ERR_CODE_COUNT);
	return -codes[code].errnum;
}

const char *error_code_name(enum error_code code)
{
	assert(code >= ERR_NONE && code < ERR_CODE_COUNT);
	return codes[code].name;
}
