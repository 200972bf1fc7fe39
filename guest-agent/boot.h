/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_BOOT_H
#define GUEST_BOOT_H

/*
 * From the initrd to a guest that can run Python.
 *
 *	initrd		/init (the agent), /runner.py, /preimport, /modules/
 *	  /lower	root disk, EROFS, read-only, shared by all VMs
 *	  /scratch	scratch disk, ext4: upper, work, tmp, data, incoming
 *	  /cgroup	cgroup2
 *	  /merged	overlay of lower and upper; becomes the root of all
 *	  /merged/opt/wheels	disk of wheels for pip, EROFS, if there is one
 *
 * At the end the agent is chrooted into /merged like everybody else, and what
 * lies outside of it has no path: only the descriptors below lead there.
 */

#include <stdint.h>

#include "wire/wire.h"

/**
 * struct boot - What remains of the time before
 * @nonce:	From the scratch disk, where it is no more; to be wiped
 * @data:	The data directory, by way of /scratch
 * @incoming:	The directory beside it for unfinished files
 * @cgroup:	Root of cgroup2
 * @runner:	runner.py
 * @preimport:	The zygote's list
 */
struct boot {
	uint8_t nonce[WIRE_NONCE_SIZE];
	int data;
	int incoming;
	int cgroup;
	int runner;
	int preimport;
};

/* Boot; powers off if it cannot. */
void boot_or_die(struct boot *ret);

/* The steps, in boot_*.c. Each returns 0 or -errno. */
int boot_mount_basics(struct boot *b);
int boot_load_modules(struct boot *b);
int boot_find_disks(struct boot *b);
int boot_take_nonce(struct boot *b);
int boot_mount_root(struct boot *b);
int boot_mount_scratch(struct boot *b);
int boot_mount_overlay(struct boot *b);
int boot_mount_rest(struct boot *b);
int boot_mount_wheels(struct boot *b);
int boot_make_devices(struct boot *b);
int boot_open_files(struct boot *b);
int boot_write_sysctls(struct boot *b);
int boot_raise_loopback(struct boot *b);
int boot_enter_root(struct boot *b);

/* Device paths that boot_find_disks() found; of wheels there may be none. */
extern char boot_root_disk[];
extern char boot_scratch_disk[];
extern char boot_wheels_disk[];

#endif
