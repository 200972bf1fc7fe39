#ifndef VMD_RECORD_H
#define VMD_RECORD_H

#include <stdint.h>

#include "base/clock.h"
#include "vmd/vmd_proto.h"

/*
 * What vmd writes down about a VM in the VM's directory, so that the next vmd
 * knows what libvirt does not: the processes by pid and start time, the
 * deadline, and what it was made from. No secret is in it: the nonce is on the
 * scratch disk and nowhere else.
 *
 * The file is the struct as it is. It only has to be understood on the host and
 * in the boot that it was written in, and by the same version; any other one
 * stands for a VM that does not run any more.
 */

#define RECORD_FILE "record"
#define RECORD_MAGIC "cupola-vm-record"
#define RECORD_VERSION 1

struct record {
	char magic[16];
	uint32_t version;
	uint32_t cid;
	char boot_id[CLOCK_BOOT_ID_SIZE + 7];	/* a multiple of 8 */
	char uuid[40];				/* of the domain, as text */
	char vm_id[VMD_ID_MAX];
	char pool[VMD_NAME_MAX];
	char image[VMD_NAME_MAX];
	char digest[VMD_DIGEST_MAX];
	uint32_t accelerator;
	uint32_t vsock;
	uint32_t vcpus;
	uint32_t memory_mib;
	uint64_t disk_bytes;
	uint64_t created_usec;		/* wall clock */
	uint64_t deadline_usec;		/* boot clock */
	int32_t qemu_pid;		/* 0: libvirt has not started it yet */
	int32_t backend_pid;		/* 0: has none */
	uint64_t qemu_start;		/* child_start_time() */
	uint64_t backend_start;
	uint32_t hidden;		/* a probe of ours, no VM of cupolad's */
	uint32_t reserved;
};

struct host;
struct pool;

/**
 * record_fill() - Begin the record of a VM of a pool, with a new UUID
 *
 * What is left to the caller: cid, deadline. Return: 0 or negative errno
 */
int record_fill(struct record *ret_record, const struct host *host,
		const struct pool *pool, const char *vm_id);

/**
 * record_write() - Replace the record
 * @dirfd:	The VM's directory
 *
 * Whole or not at all, but not synced: after a crash of the host there is no VM.
 *
 * Return: 0 or negative errno
 */
int record_write(int dirfd, const struct record *record);

/**
 * record_read() - Read the record of a VM of this boot
 * @dirfd:	The VM's directory
 * @boot_id:	This boot
 *
 * Return: 0; -ENOENT if there is none, -ESTALE if it is of another boot or
 * version, or another negative errno
 */
int record_read(int dirfd, const char *boot_id, struct record *ret_record);

#endif
