/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "core/container.h"
#include "core/exec.h"
#include "core/pull.h"

/*
 * What a guest says about a running execution. All of it is data of unknown
 * will: counts and lengths are held against the protocol's ceilings, text is
 * made UTF-8, and nothing is believed to come only once.
 */

/* ----------------------------------------------------------------- output */

static int got_output(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_output m;
	int r;

	r = message_decode_output(f, &m);
	if (r < 0)
		return r;
	if (m.offset < e->position[m.stream])
		return error_set(err, ERR_GUEST,
				 "the guest's output went back");
	if (m.data.size > buf_room(&e->out[m.stream]))
		return error_set(err, ERR_GUEST,
				 "the guest sent more output than is kept");
	r = buf_add(&e->out[m.stream], m.data.data, m.data.size);
	if (r < 0)
		return r;
	e->position[m.stream] = m.offset + m.data.size;
	r = exec_add_part(
		e, m.stream == WIRE_STDERR ? EXEC_PART_ERR : EXEC_PART_OUT,
		m.data.size);
	if (r >= 0)
		exec_wake(e);
	return r;
}

/* ---------------------------------------------------------------- results */

static int grow_data(struct exec *e, bool new_result)
{
	size_t data = e->datum_count + 1, results = e->result_count + 1;
	void *p;

	p = reallocarray(e->data, data, sizeof(*e->data));
	if (!p)
		return -ENOMEM;
	e->data = p;
	if (!new_result)
		return 0;
	p = reallocarray(e->results, results, sizeof(*e->results));
	if (!p)
		return -ENOMEM;
	e->results = p;
	p = reallocarray(e->result_first, results, sizeof(*e->result_first));
	if (!p)
		return -ENOMEM;
	e->result_first = p;
	return 0;
}

int exec_add_datum(struct exec *e, bool new_result, const char *mime,
		   const char *data, size_t size, const char *file_id)
{
	_cleanup_free_ char *mime_copy = strdup(mime);
	_cleanup_free_ char *data_copy = NULL;
	struct exec_datum *d;
	size_t i;
	int r;

	if (data)
		data_copy = calloc(1, size + 1);
	if (!mime_copy || (data && !data_copy))
		return -ENOMEM;
	if (data)
		memcpy(data_copy, data, size);
	new_result |= e->result_count == 0;
	r = grow_data(e, new_result);
	if (r < 0)
		return r;
	d = &e->data[e->datum_count];
	*d = (struct exec_datum){
		.mime = take_ptr(mime_copy),
		.data = take_ptr(data_copy),
		.data_len = data ? size : 0,
	};
	if (file_id)
		strncpy(d->file_id, file_id, sizeof(d->file_id) - 1);
	if (new_result) {
		e->result_first[e->result_count] = e->datum_count;
		e->results[e->result_count++].count = 0;
	}
	e->datum_count++;
	e->results[e->result_count - 1].count++;
	/* The array may have moved. */
	for (i = 0; i < e->result_count; i++)
		e->results[i].data = &e->data[e->result_first[i]];
	return 0;
}

static bool result_has_file(const struct exec *e, size_t result)
{
	const struct exec_result *r = &e->results[result];
	size_t i;

	for (i = 0; i < r->count; i++)
		if (exec_datum_is_file(&r->data[i]))
			return true;
	return false;
}

void exec_tell_results(struct exec *e, bool files)
{
	size_t known = e->result_count;

	/* One that is still growing is not told yet. */
	if (e->bundle_open && known > 0)
		known--;
	for (; e->results_told < known; e->results_told++) {
		if (result_has_file(e, e->results_told) && !files)
			return;
		/* Without memory an event is missing; the view has it. */
		(void)exec_add_part(e, EXEC_PART_RESULT, e->results_told);
	}
}

static int add_display(struct exec *e, const struct message_display *m,
		       bool new_result)
{
	_cleanup_(buf_done) struct buf text =
		BUF_INIT(3 * WIRE_DISPLAY_DATA_MAX);
	char mime[WIRE_MIME_MAX + 1];
	int r;

	memcpy(mime, m->mime.data, m->mime.size);
	mime[m->mime.size] = '\0';
	r = utf8_add_fixed(&text, m->data.data, m->data.size);
	if (r < 0)
		return r;
	/* A file is known by its path until it is fetched: see exec_finish.c. */
	r = exec_add_datum(e, new_result, mime, buf_str(&text), text.length,
			   m->flags & WIRE_DISPLAY_FILE ? EXEC_FILE_UNKNOWN :
							  NULL);
	/* What is not UTF-8 grows, which is not the guest's to foresee. */
	if (r >= 0)
		e->datum_bytes += m->data.size;
	return r;
}

static int got_display(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_display m;
	int r;

	r = message_decode_display(f, &m);
	if (r < 0)
		return r;
	if (m.item < e->position[WIRE_DISPLAYS] || m.bundle < e->bundle)
		return error_set(err, ERR_GUEST,
				 "the guest's results went back");
	if (e->datum_count >= WIRE_DISPLAY_ITEMS_MAX ||
	    m.data.size > WIRE_DISPLAY_MAX - e->datum_bytes)
		return error_set(err, ERR_GUEST,
				 "the guest sent more results than are kept");
	r = add_display(e, &m, !e->bundle_open || m.bundle != e->bundle);
	if (r < 0)
		return r;
	e->position[WIRE_DISPLAYS] = (uint64_t)m.item + 1;
	e->bundle = m.bundle;
	e->bundle_open = true;
	exec_tell_results(e, false);
	exec_wake(e);
	return 0;
}

/* -------------------------------------------------------------------- end */

static int keep_text(char **to, struct bytes from, size_t max)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(3 * max + 1);
	char *taken;
	int r;

	r = utf8_add_fixed(&text, from.data, from.size);
	if (r < 0)
		return r;
	taken = buf_take(&text, NULL);
	if (!taken)
		return -ENOMEM;
	free(*to);
	*to = taken;
	return 0;
}

static int got_error(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_error m;
	int r;

	/* ATTACH has it told again, and nothing else. */
	if (e->error_told)
		return error_set(err, ERR_GUEST,
				 "the guest told twice how an execution failed");
	e->error_told = true;
	r = message_decode_error(f, &m);
	if (r >= 0)
		r = keep_text(&e->error_name, m.name, WIRE_ERROR_NAME_MAX);
	if (r >= 0)
		r = keep_text(&e->error_value, m.value, WIRE_ERROR_VALUE_MAX);
	if (r >= 0)
		r = keep_text(&e->error_traceback, m.traceback,
			      WIRE_TRACEBACK_MAX);
	return r;
}

static int exec_want_pull(struct exec *e);

static int got_changed(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_changed m;
	int r;

	r = message_decode_changed(f, &m);
	if (r < 0)
		return r;
	r = exec_want_pull(e);
	if (r < 0)
		return r;
	return pull_add(e->pull, &m, err);
}

static void on_pulled(void *userdata)
{
	exec_pulled(userdata);
}

static int exec_want_pull(struct exec *e)
{
	if (e->pull)
		return 0;
	return pull_new(e->container, e->id, on_pulled, e, &e->pull);
}

static int got_done(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_done m;
	int r;

	r = message_decode_done(f, &m);
	if (r < 0)
		return r;
	r = exec_want_pull(e);
	if (r >= 0)
		r = pull_check_count(e->pull, m.changed, err);
	if (r < 0)
		return r;
	exec_done(e, &m);
	return 0;
}

static int got_refused(struct exec *e, const struct frame *f, struct error *err)
{
	struct message_refused m;
	int r;

	r = message_decode_refused(f, &m);
	if (r < 0)
		return r;
	/* Its memory is the guest's own trouble; the rest is our agreement. */
	if (m.why != WIRE_REFUSED_MEMORY)
		return error_set(err, ERR_GUEST,
				 "the guest refused an execution: %s",
				 wire_refusal_name(m.why));
	exec_refused_memory(e);
	return 0;
}

static const struct {
	enum wire_type type;
	int (*handle)(struct exec *e, const struct frame *f, struct error *err);
} accepted[] = {
	{ WIRE_OUTPUT, got_output }, { WIRE_DISPLAY, got_display },
	{ WIRE_ERROR, got_error },   { WIRE_CHANGED, got_changed },
	{ WIRE_DONE, got_done },     { WIRE_REFUSED, got_refused },
};

int exec_frame(struct exec *e, const struct frame *f, struct error *err)
{
	size_t i;

	for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
		if (accepted[i].type == f->type)
			return accepted[i].handle(e, f, err);
	return error_set(err, ERR_GUEST,
			 "the guest sent message 0x%04x about an execution",
			 f->type);
}
