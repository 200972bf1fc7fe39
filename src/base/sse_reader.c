#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sse_reader.h"

enum { TYPE_MAX = 64, ID_LENGTH_MAX = 128, KEEP_MAX = 16 << 10 };

struct sse_reader {
	sse_fn fn;
	void *userdata;
	struct buf line;
	struct buf data;
	bool has_data; /* an empty data line counts, too */
	bool after_cr; /* an LF that follows belongs to it */
	bool begun;    /* a byte order mark may come no more */
	char type[TYPE_MAX];
	char id[ID_LENGTH_MAX];
	char last_id[ID_LENGTH_MAX];
};

int sse_reader_new(size_t event_max, sse_fn fn, void *userdata,
		   struct sse_reader **ret_reader)
{
	struct sse_reader *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fn = fn;
	s->userdata = userdata;
	s->line = BUF_INIT(event_max);
	s->data = BUF_INIT(event_max);
	*ret_reader = s;
	return 0;
}

void sse_reader_free(struct sse_reader *s)
{
	if (!s)
		return;
	buf_done(&s->line);
	buf_done(&s->data);
	free(s);
}

void sse_reader_freep(struct sse_reader **s)
{
	sse_reader_free(*s);
}

/* Streams wait a lot, and are many: one long line is not to stay with each. */
static void empty(struct buf *b)
{
	if (b->length > KEEP_MAX)
		buf_done(b);
	else
		buf_clear(b);
}

static void event_reset(struct sse_reader *s)
{
	empty(&s->data);
	s->has_data = false;
	s->type[0] = '\0';
}

static int event_end(struct sse_reader *s)
{
	const struct sse_event event = {
		.type = s->type[0] ? s->type : "message",
		.data = buf_str(&s->data),
		.length = s->data.length,
		.id = s->id,
	};
	int r = 0;

	memcpy(s->last_id, s->id, sizeof(s->last_id));
	if (s->has_data)
		r = s->fn(&event, s->userdata);
	event_reset(s);
	return r;
}

static int add_data(struct sse_reader *s, const char *value, size_t length)
{
	int r = s->has_data ? buf_add_byte(&s->data, '\n') : 0;

	s->has_data = true;
	return r < 0 ? r : buf_add(&s->data, value, length);
}

/* What is too long or holds a NUL is not kept, as if it had not been sent. */
static void set_text(char *to, size_t size, const char *value, size_t length)
{
	if (length >= size || memchr(value, '\0', length))
		return;
	memcpy(to, value, length);
	to[length] = '\0';
}

static int take_field(struct sse_reader *s, const char *name, size_t name_length,
		      const char *value, size_t length)
{
	if (name_length == 4 && memcmp(name, "data", 4) == 0)
		return add_data(s, value, length);
	if (name_length == 5 && memcmp(name, "event", 5) == 0)
		set_text(s->type, sizeof(s->type), value, length);
	else if (name_length == 2 && memcmp(name, "id", 2) == 0)
		set_text(s->id, sizeof(s->id), value, length);
	return 0;
}

static int take_line(struct sse_reader *s)
{
	const char *line = buf_str(&s->line);
	size_t length = s->line.length;
	const char *colon = memchr(line, ':', length);
	const char *value = colon ? colon + 1 : line + length;
	size_t name_length = colon ? (size_t)(colon - line) : length;
	int r;

	if (length == 0)
		return event_end(s);
	if (value < line + length && *value == ' ')
		value++;
	/* A comment has an empty name, which no field has. */
	r = take_field(s, line, name_length, value,
		       (size_t)(line + length - value));
	empty(&s->line);
	return r;
}

/* One byte order mark may stand in front of everything. */
static void drop_mark(struct sse_reader *s)
{
	if (!s->begun && s->line.length >= 3 &&
	    memcmp(s->line.data, "\xef\xbb\xbf", 3) == 0)
		buf_consume(&s->line, 3);
	s->begun = true;
}

static size_t until_line_end(const char *data, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (data[i] == '\n' || data[i] == '\r')
			break;
	return i;
}

static int end_line(struct sse_reader *s, char end)
{
	bool second_half = end == '\n' && s->after_cr;

	s->after_cr = end == '\r';
	if (second_half)
		return 0;
	drop_mark(s);
	return take_line(s);
}

int sse_reader_feed(struct sse_reader *s, const void *bytes, size_t length)
{
	const char *data = bytes;
	int r = 0;

	while (length > 0 && r == 0) {
		size_t n = until_line_end(data, length);

		if (n > 0) {
			s->after_cr = false;
			r = buf_add(&s->line, data, n);
		} else {
			r = end_line(s, data[0]);
			n = 1;
		}
		data += n;
		length -= n;
	}
	return r;
}

void sse_reader_restart(struct sse_reader *s)
{
	buf_clear(&s->line);
	event_reset(s);
	memcpy(s->id, s->last_id, sizeof(s->id));
	s->after_cr = false;
	s->begun = false;
}

const char *sse_reader_last_id(const struct sse_reader *s)
{
	return s->last_id;
}
