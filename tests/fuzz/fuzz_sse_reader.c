#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sse_reader.h"

enum { EVENT_MAX = 64 << 20 };

/*
 * However a stream is cut into pieces, the same events come out: fed whole and
 * byte by byte, what was seen must have the same digest.
 */

static int on_event(const struct sse_event *event, void *userdata)
{
	size_t *seen = userdata;
	size_t i;

	if (strlen(event->type) >= 64 || event->data[event->length] != '\0')
		abort();
	for (i = 0; i < event->length; i++)
		*seen = *seen * 31 + (unsigned char)event->data[i];
	*seen = *seen * 31 + strlen(event->type) + strlen(event->id);
	return 0;
}

static size_t feed(const uint8_t *data, size_t size, size_t piece)
{
	_cleanup_(sse_reader_freep) struct sse_reader *s = NULL;
	size_t seen = 0, n;

	if (sse_reader_new(EVENT_MAX, on_event, &seen, &s) < 0)
		abort();
	for (; size > 0; data += n, size -= n) {
		n = size < piece ? size : piece;
		if (sse_reader_feed(s, data, n) < 0)
			abort();
	}
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (feed(data, size, SIZE_MAX) != feed(data, size, 1))
		abort();
	return 0;
}
