/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot_trace.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "vmd/vmd_proto.h"

#define TRACE_LINE_MAX 1024

void boot_trace_created(struct boot_trace *trace,
			const struct vmd_created *created, usec_t now)
{
	trace->created = now;
	trace->queued_usec = created->queued_usec;
	trace->disk_usec = created->disk_usec;
	trace->backend_usec = created->backend_usec;
	trace->libvirt_usec = created->libvirt_usec;
}

static double msec(usec_t usec)
{
	return (double)usec / USEC_PER_MSEC;
}

/* The stages of the host in the order they happen, then those of the guest. */
static void trace_each(const struct boot_trace *t,
		       void (*each)(void *userdata, const char *name,
				    double value_msec),
		       void *userdata)
{
	const struct {
		const char *name;
		usec_t usec;
	} host[] = {
		{ "intent", usec_sub(t->committed, t->planned) },
		{ "queue", t->queued_usec },
		{ "scratch", t->disk_usec },
		{ "backend", t->backend_usec },
		{ "libvirt", t->libvirt_usec },
		{ "link", usec_sub(t->linked, t->created) },
		{ "ready", usec_sub(t->ready, t->linked) },
		{ "total", usec_sub(t->ready, t->planned) },
	};
	size_t i;

	for (i = 0; i < sizeof(host) / sizeof(host[0]); i++)
		each(userdata, host[i].name, msec(host[i].usec));
	for (i = 0; i < WIRE_STAGE_COUNT; i++)
		if (t->stage_usec[i])
			each(userdata, wire_stage_name((enum wire_stage)i),
			     msec(t->stage_usec[i]));
}

static void add_words(void *userdata, const char *name, double value_msec)
{
	/* A line that is cut tells less, and nothing wrong. */
	(void)buf_printf(userdata, " %s %.1f", name, value_msec);
}

void boot_trace_log(const struct boot_trace *trace,
		    const struct log_scope *scope)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(TRACE_LINE_MAX);

	trace_each(trace, add_words, &line);
	log_info(scope, "Booted, in ms:%s", buf_str(&line));
}

static void add_member(void *userdata, const char *name, double value_msec)
{
	json_write_double(userdata, name, value_msec);
}

void boot_trace_write(const struct boot_trace *trace, struct json_writer *w,
		      const char *key)
{
	json_write_object(w, key);
	trace_each(trace, add_member, w);
	json_write_close(w);
}
