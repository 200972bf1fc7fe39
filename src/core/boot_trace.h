/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BOOT_TRACE_H
#define CORE_BOOT_TRACE_H

/*
 * How long each stage of a VM's start took: one line in the journal per VM.
 */

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "wire/message.h"

struct json_writer;
struct vmd_created;

/**
 * struct boot_trace - Points on the kernel's boot clock, and lengths
 * @planned:	Admission was over
 * @committed:	The intent was on the disk
 * @created:	vmd said that it runs
 * @linked:	The guest was connected and had proved itself
 * @ready:	Its kernel took executions
 */
struct boot_trace {
	usec_t planned;
	usec_t committed;
	usec_t created;
	usec_t linked;
	usec_t ready;
	usec_t queued_usec;
	usec_t disk_usec;
	usec_t backend_usec;
	usec_t libvirt_usec;
	uint64_t stage_usec[WIRE_STAGE_COUNT]; /* since the guest's kernel */
};

/** boot_trace_created() - Take over what vmd measured */
void boot_trace_created(struct boot_trace *trace,
			const struct vmd_created *created, usec_t now);

/** boot_trace_log() - Say all of it in one line */
void boot_trace_log(const struct boot_trace *trace,
		    const struct log_scope *scope);

/** boot_trace_write() - The same as an object, in milliseconds */
void boot_trace_write(const struct boot_trace *trace, struct json_writer *w,
		      const char *key);

#endif
