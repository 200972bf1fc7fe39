/* SPDX-License-Identifier: Apache-2.0 */
#include "core/exec_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/name.h"
#include "core/container.h"
#include "core/core_priv.h"

/*
 * A watch walks the parts of an execution. STARTED is before them (id 1) and
 * DONE behind them, so that both need no part of their own.
 */

int exec_close_part(struct exec *e)
{
	uint64_t n = e->open_value << 2 | e->open_part;
	int r;

	if (e->open_value == 0)
		return 0;
	for (; n >= 0x80; n >>= 7) {
		r = buf_add_byte(&e->parts, (uint8_t)(n | 0x80));
		if (r < 0)
			return r;
	}
	e->open_value = 0;
	return buf_add_byte(&e->parts, (uint8_t)n);
}

static bool is_output(enum exec_part part)
{
	return part == EXEC_PART_OUT || part == EXEC_PART_ERR;
}

int exec_add_part(struct exec *e, enum exec_part part, uint64_t value)
{
	int r;

	if (is_output(part) && e->open_value && e->open_part == part) {
		e->open_value += value;
		e->events += value;
		return 0;
	}
	r = exec_close_part(e);
	if (r < 0)
		return r;
	e->open_part = part;
	/* An index may be 0, and 0 is no open part. */
	e->open_value = is_output(part) ? value : value + 1;
	e->events += is_output(part) ? value : 1;
	return is_output(part) ? 0 : exec_close_part(e);
}

/* The part after the current one. Return: false if there is none yet. */
static bool watch_next_part(struct exec_watch *w)
{
	const struct buf *parts = &w->exec->parts;
	unsigned shift = 0;
	uint64_t n = 0;

	if (w->next_part >= parts->length)
		return false;
	while (w->next_part < parts->length) {
		uint8_t byte = parts->data[w->next_part++];

		n |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80) || shift > 56)
			break;
	}
	w->part = (enum exec_part)(n & 3);
	w->left = n >> 2;
	return true;
}

static bool watch_find_part(struct exec_watch *w)
{
	if (w->left > 0 || watch_next_part(w))
		return true;
	/* Part that still grows: what it has so far is closed for readers. */
	if (w->exec->open_value == 0 || exec_close_part(w->exec) < 0)
		return false;
	return watch_next_part(w);
}

static void watch_output(struct exec_watch *w, size_t max,
			 struct exec_event *ret)
{
	unsigned stream = w->part == EXEC_PART_ERR;
	const struct buf *out = &w->exec->out[stream];
	size_t size = w->left < out->length - w->at[stream] ?
			      (size_t)w->left :
			      out->length - w->at[stream];
	const char *data = (const char *)out->data + w->at[stream];
	size_t cut;

	if (size > max) {
		/* At a character border, unless this is no text at all. */
		cut = utf8_cut(data, size, max);
		size = cut > 0 && max - cut < 4 ? cut : max;
	}
	ret->type = EXEC_EVENT_OUTPUT;
	ret->is_stderr = stream;
	ret->data = data;
	ret->data_len = size;
	w->at[stream] += size;
	w->left -= size;
	w->events += size;
}

static bool watch_item(struct exec_watch *w, struct exec_event *ret)
{
	struct exec *e = w->exec;
	uint64_t index = w->left - 1;

	w->left = 0;
	w->events++;
	if (w->part == EXEC_PART_RESULT && index < e->result_count) {
		ret->type = EXEC_EVENT_RESULT;
		ret->result = &e->results[index];
		return true;
	}
	if (w->part == EXEC_PART_ARTIFACT && index < e->artifact_count) {
		ret->type = EXEC_EVENT_ARTIFACT;
		ret->artifact = &e->artifacts[index].view;
		return true;
	}
	return false;
}

int exec_watch_next(struct exec_watch *w, size_t max_data,
		    struct exec_event *ret)
{
	struct exec *e = w->exec;
	bool found = true;

	if (w->over)
		return -ENODATA;
	*ret = (struct exec_event){ 0 };
	if (w->events == 0) {
		if (e->state == EXEC_STATE_QUEUED) {
			w->woken = false;
			return 0;
		}
		w->events = 1;
		exec_fill_view(e, &w->view);
		ret->type = EXEC_EVENT_STARTED;
		ret->view = &w->view;
	} else if (watch_find_part(w)) {
		if (is_output(w->part))
			watch_output(w, max_data, ret);
		else
			found = watch_item(w, ret);
	} else if (e->told) {
		w->over = true;
		w->events++;
		exec_fill_view(e, &w->view);
		ret->type = EXEC_EVENT_DONE;
		ret->view = &w->view;
	} else {
		w->woken = false;
		return 0;
	}
	ret->id = w->events;
	return found ? 1 : exec_watch_next(w, max_data, ret);
}

/* Goes where a reader of all events up to @after would be. */
static void watch_skip(struct exec_watch *w, uint64_t after)
{
	if (after >= 1)
		w->events = 1;
	while (w->events > 0 && w->events < after && watch_find_part(w)) {
		uint64_t want = after - w->events;

		if (!is_output(w->part)) {
			w->left = 0;
			w->events++;
			continue;
		}
		if (want > w->left)
			want = w->left;
		w->at[w->part == EXEC_PART_ERR] += want;
		w->left -= want;
		w->events += want;
	}
	/* Only DONE is behind the last part. */
	if (w->events > 0 && after > w->events && w->exec->told)
		w->over = true;
}

void exec_wake(struct exec *e)
{
	struct exec_watch *w, *next;

	for (w = LIST_FIRST(&e->watches); w; w = next) {
		next = LIST_NEXT(w, next);
		if (w->woken)
			continue;
		w->woken = true;
		w->wake(w->userdata);
	}
}

int exec_watch_new(struct core *core, const struct principal *who,
		   const char *container, const char *id, uint64_t after,
		   void (*wake)(void *userdata), void *userdata,
		   struct exec_watch **ret, struct error *err)
{
	struct exec_watch *w;
	struct exec *e;
	int r;

	r = exec_find(core, who, container, id, &e, err);
	if (r < 0)
		return r;
	w = calloc(1, sizeof(*w));
	exec_pin(e);
	if (!w) {
		exec_unpin(e);
		return error_set_errno(err, -ENOMEM, "Cannot watch");
	}
	reaper_touch_by_id(core, container);
	w->exec = e;
	w->wake = wake;
	w->userdata = userdata;
	LIST_INSERT_HEAD(&e->watches, w, next);
	watch_skip(w, after);
	*ret = w;
	return 0;
}

void exec_watch_free(struct exec_watch *w)
{
	if (!w)
		return;
	LIST_REMOVE(w, next);
	exec_unpin(w->exec);
	free(w);
}
