#ifndef CUPOLA_CLI_SSE_H
#define CUPOLA_CLI_SSE_H

/*
 * A parser of server-sent events (text/event-stream), fed with bytes as they
 * arrive. Knows the fields event, data and id; lines end in LF, CRLF or CR; an
 * event that is not ended by an empty line does not count.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* The longest event: an execution's result with its display data. */
enum { SSE_EVENT_MAX = 64 * 1024 * 1024 };

/**
 * struct sse_event - One event
 * @type:	"message" if the stream named none
 * @data:	Lines joined by newlines, NUL-terminated
 * @length:	Its bytes
 * @id:		The last id the stream has named, or ""
 */
struct sse_event {
	const char *type;
	const char *data;
	size_t length;
	const char *id;
};

/**
 * sse_fn - Gets one event, which is valid during the call
 *
 * Return: 0 to go on; anything else ends sse_feed() with it
 */
typedef int (*sse_fn)(const struct sse_event *event, void *userdata);

struct sse;

/** sse_new() - Begin a stream. Return: 0 or -ENOMEM */
int sse_new(sse_fn fn, void *userdata, struct sse **ret_sse);

void sse_free(struct sse *s);
DEFINE_FREEP(struct sse, sse_free);

/**
 * sse_feed() - Take the next bytes
 *
 * Return: 0; -EMSGSIZE for an event over SSE_EVENT_MAX, -ENOMEM, or what the
 * callback returned. After anything but 0 the stream is of no more use
 */
int sse_feed(struct sse *s, const void *data, size_t length);

/** sse_restart() - Forget an event cut short: another connection goes on */
void sse_restart(struct sse *s);

/** sse_last_id() - The id of the last event handed out, or "" */
const char *sse_last_id(const struct sse *s);

#endif
