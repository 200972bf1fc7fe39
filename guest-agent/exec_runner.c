/* SPDX-License-Identifier: Apache-2.0 */

/* What the runner says: user data that is cut to size and kept. */

#include <string.h>

#include "exec_slot.h"
#include "runner.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static void got_display(struct execution *e, const uint8_t *data, size_t size)
{
	struct displays *d = &e->displays;
	struct display_item item = { .item = d->total };
	struct bytes mime, body;

	if (size < 2 || size - 2 < data[1])
		return;
	mime = (struct bytes){ data + 2, data[1] };
	body = (struct bytes){ mime.data + mime.size, size - 2 - mime.size };
	if (!wire_mime_valid(mime) || body.size > WIRE_DISPLAY_DATA_MAX)
		return;
	item.flags = data[0] & RUNNER_DISPLAY_FILE ? WIRE_DISPLAY_FILE : 0;
	if (item.flags && !wire_path_valid(body))
		return;
	if (d->bundle == 0 || data[0] & RUNNER_DISPLAY_NEW)
		d->bundle++;
	item.bundle = d->bundle - 1;
	item.mime_size = (uint8_t)mime.size;
	item.data_size = (uint32_t)body.size;

	d->total++;
	if (d->kept == WIRE_DISPLAY_ITEMS_MAX ||
	    sizeof(d->items) - d->size < sizeof(item) + mime.size + body.size)
		return;
	memcpy(d->items + d->size, &item, sizeof(item));
	d->size += sizeof(item);
	memcpy(d->items + d->size, mime.data, mime.size);
	d->size += mime.size;
	if (body.size > 0)
		memcpy(d->items + d->size, body.data, body.size);
	d->size += body.size;
	d->kept++;
}

/* Copy text that may be too long, whole characters only. */
static size_t keep_text(uint8_t *to, size_t max, const uint8_t *from,
			size_t size)
{
	size_t n = size <= max ? size : utf8_whole(from, max);

	if (n > 0)
		memcpy(to, from, n);
	return n;
}

static void got_error(struct execution *e, const uint8_t *data, size_t size)
{
	struct failure *f = &e->failure;
	size_t name, value;
	le16 name_size;
	le32 value_size;

	if (size < sizeof(name_size) + sizeof(value_size))
		return;
	memcpy(&name_size, data, sizeof(name_size));
	memcpy(&value_size, data + sizeof(name_size), sizeof(value_size));
	data += sizeof(name_size) + sizeof(value_size);
	size -= sizeof(name_size) + sizeof(value_size);

	name = MIN(le16_get(name_size), size);
	f->name_size = keep_text(f->name, sizeof(f->name), data, name);
	data += name;
	size -= name;
	value = MIN(le32_get(value_size), size);
	f->value_size = keep_text(f->value, sizeof(f->value), data, value);
	data += value;
	size -= value;
	f->traceback_size = keep_text(f->traceback, sizeof(f->traceback), data,
				      size);
	f->is_set = true;
}

/* One that names another execution was forged, or comes late. */
static bool is_finished(const struct execution *e, const uint8_t *data,
			size_t size, bool *ret_failed)
{
	le32 count;

	if (size != 1 + sizeof(count))
		return false;
	memcpy(&count, data + 1, sizeof(count));
	*ret_failed = data[0] != 0;
	return le32_get(count) == e->done.execution_count;
}

bool exec_got_message(struct execution *e, const uint8_t *data, size_t size,
		      bool *ret_failed)
{
	switch (data[0]) {
	case RUNNER_DISPLAY:
		got_display(e, data + 1, size - 1);
		return false;
	case RUNNER_ERROR:
		got_error(e, data + 1, size - 1);
		return false;
	case RUNNER_FINISHED:
		return is_finished(e, data + 1, size - 1, ret_failed);
	default:
		return false;
	}
}
