#ifndef CUPOLA_BASE_SSE_READER_H
#define CUPOLA_BASE_SSE_READER_H

/*
 * A parser of server-sent events (text/event-stream), fed with bytes as they
 * arrive. Knows the fields event, data and id; lines end in LF, CRLF or CR; an
 * event that is not ended by an empty line does not count.
 */

#include <stddef.h>
#include <stdint.h>

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
 * Return: 0 to go on; anything else ends sse_reader_feed() with it
 */
typedef int (*sse_fn)(const struct sse_event *event, void *userdata);

struct sse_reader;

/**
 * sse_reader_new() - Begin a stream
 * @event_max:	Bytes of the longest event
 *
 * Return: 0 or -ENOMEM
 */
int sse_reader_new(size_t event_max, sse_fn fn, void *userdata,
		   struct sse_reader **ret_reader);

void sse_reader_free(struct sse_reader *s);
void sse_reader_freep(struct sse_reader **s);

/**
 * sse_reader_feed() - Take the next bytes
 *
 * Return: 0; -EMSGSIZE for an event that is too long, -ENOMEM, or what the
 * callback returned. After anything but 0 the stream is of no more use
 */
int sse_reader_feed(struct sse_reader *s, const void *data, size_t length);

/** sse_reader_restart() - Forget an event cut short: another connection goes on */
void sse_reader_restart(struct sse_reader *s);

/** sse_reader_last_id() - The id of the last event handed out, or "" */
const char *sse_reader_last_id(const struct sse_reader *s);

#endif
