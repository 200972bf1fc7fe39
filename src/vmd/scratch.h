#ifndef VMD_SCRATCH_H
#define VMD_SCRATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "vmd/vmd_proto.h"

/*
 * Scratch disks: the only disk that a VM can write to.
 *
 * A disk is an empty ext4 file system, copied from a template that is made
 * once per size, and behind it one block with the VM's nonce. The guest reads
 * that block, wipes it, and then mounts the file system. All of this blocks.
 */

/* Behind the file system: magic, version as le32, nonce, zeros. */
#define SCRATCH_NONCE_BLOCK 4096
#define SCRATCH_MAGIC "CUPOLA\1"	/* 8 bytes with its NUL */
#define SCRATCH_VERSION 1

#define SCRATCH_FILE "disk"	/* name in the VM's directory */

/**
 * scratch_open_template() - Open the template of a size, made if need be
 * @dirfd:	Directory of templates
 * @size:	Bytes of the file system, a multiple of 4096
 * @err:	Why it cannot be made
 *
 * Safe to be called by several threads: each makes a file of its own and the
 * last to finish replaces the others' equal ones.
 *
 * Return: a read-only descriptor or negative errno
 */
int scratch_open_template(int dirfd, uint64_t size, struct error *err);

/**
 * scratch_make() - Make the disk of a VM
 * @template_fd:	From scratch_open_template()
 * @size:		As there
 * @dirfd:		Directory of the VM
 * @name:		File to make there; must not exist. Mode 0600
 * @nonce:		Secret of the VM
 *
 * Shares blocks with the template where the host's file system can, else
 * copies what is not a hole.
 *
 * Return: 0 or negative errno; a half-made file may be left
 */
int scratch_make(int template_fd, uint64_t size, int dirfd, const char *name,
		 const uint8_t nonce[VMD_NONCE_SIZE]);

#endif
