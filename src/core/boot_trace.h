/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BOOT_TRACE_H
#define CORE_BOOT_TRACE_H

/*
 * How long each stage of a VM's start took: one line in the journal per VM, and,
 * through pool_metrics.h, a histogram per pool and stage.
 */

#include "base/clock.h"
#include "base/log.h"
#include "wire/message.h"

struct json_writer;
struct vmd_created;

/**
 * enum boot_stage - What a start consists of, in the order it happens
 *
 * Those of the guest are what it says, which is bounded by what the host saw.
 *
 *    ADMISSION - Room was found; the line of the ledger goes to the disk
 *    QUEUE - Waits for a worker of vmd
 *    SCRATCH - The scratch disk is made
 *    BACKEND - The vsock daemon starts
 *    LIBVIRT - virDomainCreateXML, until there is a QEMU
 *    QEMU - It starts, and libvirt sets it up
 *    FIRMWARE - It runs, until the guest's Linux has a clock: loading it is
 *        the firmware's part
 *    KERNEL - Linux, until it starts the agent
 *    GUEST - The agent: modules, nonce, file systems, until it listens
 *    IMPORTS - The zygote goes on importing
 *    SESSION - CONFIGURE, if it was not earlier, and the first kernel is forked
 *    TOTAL - All of these, from admission to ready
 *    FIRST_EXECUTION - From the first EXEC to its DONE, whenever that was
 */
enum boot_stage {
	BOOT_ADMISSION,
	BOOT_QUEUE,
	BOOT_SCRATCH,
	BOOT_BACKEND,
	BOOT_LIBVIRT,
	BOOT_QEMU,
	BOOT_FIRMWARE,
	BOOT_KERNEL,
	BOOT_GUEST,
	BOOT_IMPORTS,
	BOOT_SESSION,
	BOOT_TOTAL,
	BOOT_FIRST_EXECUTION,

	BOOT_STAGE_COUNT,
};

/**
 * struct boot_trace - What is known of a start
 * @planned:	Boot clock: admission was over
 * @created:	Boot clock: vmd said that it runs
 * @usec:	Lengths of the stages
 */
struct boot_trace {
	usec_t planned;
	usec_t created;
	usec_t usec[BOOT_STAGE_COUNT];
};

const char *boot_stage_name(enum boot_stage stage);

/** boot_trace_committed() - The intent is on the disk */
void boot_trace_committed(struct boot_trace *trace, usec_t now);

/** boot_trace_created() - Take over what vmd measured */
void boot_trace_created(struct boot_trace *trace,
			const struct vmd_created *created, usec_t now);

/**
 * boot_trace_ready() - Its kernel takes executions
 * @stages:	When each stage of the guest was over, since its Linux started
 */
void boot_trace_ready(struct boot_trace *trace,
		      const uint64_t stages[static WIRE_STAGE_COUNT],
		      usec_t now);

/** boot_trace_log() - Say all of it in one line */
void boot_trace_log(const struct boot_trace *trace,
		    const struct log_scope *scope);

/** boot_trace_write() - The same as an object, in milliseconds */
void boot_trace_write(const struct boot_trace *trace, struct json_writer *w,
		      const char *key);

#endif
