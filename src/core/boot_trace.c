/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot_trace.h"

#include <assert.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "vmd/vmd_proto.h"

#define TRACE_LINE_MAX 1024

static const char *const names[] = {
	[BOOT_ADMISSION] = "admission",
	[BOOT_QUEUE] = "queue",
	[BOOT_SCRATCH] = "scratch",
	[BOOT_BACKEND] = "backend",
	[BOOT_LIBVIRT] = "libvirt",
	[BOOT_QEMU] = "qemu",
	[BOOT_FIRMWARE] = "firmware",
	[BOOT_KERNEL] = "kernel",
	[BOOT_GUEST] = "guest",
	[BOOT_IMPORTS] = "imports",
	[BOOT_SESSION] = "session",
	[BOOT_TOTAL] = "total",
	[BOOT_FIRST_EXECUTION] = "first_execution",
};
static_assert(sizeof(names) / sizeof(names[0]) == BOOT_STAGE_COUNT,
	      "names[] doesn't match enum boot_stage");

const char *boot_stage_name(enum boot_stage stage)
{
	return names[stage];
}

void boot_trace_committed(struct boot_trace *trace, usec_t now)
{
	trace->usec[BOOT_ADMISSION] = usec_sub(now, trace->planned);
}

void boot_trace_created(struct boot_trace *trace,
			const struct vmd_created *created, usec_t now)
{
	trace->created = now;
	trace->usec[BOOT_QUEUE] = created->queued_usec;
	trace->usec[BOOT_SCRATCH] = created->disk_usec;
	trace->usec[BOOT_BACKEND] = created->backend_usec;
	trace->usec[BOOT_LIBVIRT] = created->libvirt_usec;
	trace->usec[BOOT_QEMU] = created->qemu_usec;
}

/* The guest's stages follow each other; each is as long as its end is later. */
void boot_trace_ready(struct boot_trace *trace,
		      const uint64_t stages[static WIRE_STAGE_COUNT],
		      usec_t now)
{
	static const struct {
		enum boot_stage stage;
		enum wire_stage end;
	} parts[] = {
		{ BOOT_KERNEL, WIRE_STAGE_AGENT },
		{ BOOT_GUEST, WIRE_STAGE_LISTEN },
		{ BOOT_IMPORTS, WIRE_STAGE_IMPORTED },
		{ BOOT_SESSION, WIRE_STAGE_KERNEL },
	};
	usec_t in_guest = usec_sub(now, trace->created), before = 0, end;
	size_t i;

	trace->usec[BOOT_TOTAL] = usec_sub(now, trace->planned);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		end = stages[parts[i].end];
		if (end > in_guest)
			end = in_guest;
		trace->usec[parts[i].stage] = usec_sub(end, before);
		if (end > before)
			before = end;
	}
	trace->usec[BOOT_FIRMWARE] = in_guest - before;
}

static double msec(usec_t usec)
{
	return (double)usec / USEC_PER_MSEC;
}

void boot_trace_log(const struct boot_trace *trace,
		    const struct log_scope *scope)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(TRACE_LINE_MAX);
	int i;

	/* A line that is cut tells less, and nothing wrong. */
	for (i = 0; i <= BOOT_TOTAL; i++)
		(void)buf_printf(&line, " %s %.1f", names[i],
				 msec(trace->usec[i]));
	log_info(scope, "Booted, in ms:%s", buf_str(&line));
}

void boot_trace_write(const struct boot_trace *trace, struct json_writer *w,
		      const char *key)
{
	int i;

	json_write_object(w, key);
	for (i = 0; i < BOOT_STAGE_COUNT; i++)
		json_write_double(w, names[i], msec(trace->usec[i]));
	json_write_close(w);
}
