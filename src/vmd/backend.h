#ifndef VMD_BACKEND_H
#define VMD_BACKEND_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * The vsock daemon of one VM, on hosts without vhost-vsock.
 *
 * One vhost-device-vsock can serve many VMs, but it puts them into one group by
 * default and then lets siblings talk to each other. So each VM has a process
 * of its own, in a group of its own name, and nothing is ever forwarded to the
 * host's CIDs. What the guest connects to, port N, becomes a connect() to
 * "vsock_N" in the VM's directory: that is 0700, and nothing of that name is
 * ever made in it.
 */

/* Names in the VM's directory */
#define BACKEND_VHOST_SOCKET "vhost"	/* QEMU connects */
#define BACKEND_DIAL_SOCKET "vsock"	/* vmd connects, to reach the guest */
#define BACKEND_LOG "vsock.log"

/** backend_program() - Path of the daemon, or NULL if it is not installed */
const char *backend_program(void);

/**
 * struct backend - A running daemon
 * @pid:	Its pid
 * @pidfd:	Holds it
 */
struct backend {
	pid_t pid;
	int pidfd;
};

/**
 * backend_start() - Start a daemon and wait until QEMU can connect to it
 * @directory:	Path of the VM's directory
 * @vm_id:	Name of its group
 * @cid:	The guest's
 * @ret_backend:	The daemon; its pidfd is the caller's to close
 * @err:	Why not
 *
 * Blocks, usually a few milliseconds. Return: 0 or negative errno; no daemon
 * is left then.
 */
int backend_start(const char *directory, const char *vm_id, uint32_t cid,
		  struct backend *ret_backend, struct error *err);

#endif
