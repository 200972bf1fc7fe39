/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to sessions, told to the operator as it happens. */
#include <errno.h>

#include "api/handlers.h"
#include "api/request.h"
#include "api/sse.h"

static int write_event(uint64_t id, enum core_event_type type,
		       const struct buf *data, struct buf *text)
{
	int r;

	r = buf_printf(text, "id: %llu\nevent: %s\ndata: ",
		       (unsigned long long)id, core_event_name(type));
	if (r >= 0)
		r = buf_add(text, data->data, data->length);
	return r < 0 ? r : buf_add_str(text, "\n\n");
}

static int fetch_events(void *userdata, struct sse *sse)
{
	struct request *req = userdata;
	struct buf *text = sse_text(sse);
	enum core_event_type type;
	uint64_t id;
	int r = 1;

	while (r > 0 && text->length < SSE_BATCH) {
		buf_clear(&req->out);
		r = core_events_next(req->work, &id, &type, &req->out);
		if (r > 0 && write_event(id, type, &req->out, text) < 0)
			r = -ENOMEM;
	}
	return r < 0 ? r : 0;
}

static void on_wake(void *userdata)
{
	struct request *req = userdata;

	sse_wake(req->sse);
}

static void events_free(void *work)
{
	core_events_free(work);
}

int admin_events(struct request *req, struct error *err)
{
	struct core_events_spec spec = { .wake = on_wake, .userdata = req };
	struct core_events *events;
	int r;

	r = sse_resume(req, &spec.resume, &spec.after, err);
	if (r < 0)
		return r;
	r = core_events_new(req->core, &spec, &events, err);
	if (r < 0)
		return r;
	req->work = events;
	req->work_free = events_free;
	return sse_reply(req, fetch_events, req, err);
}
