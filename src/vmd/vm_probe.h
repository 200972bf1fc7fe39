#ifndef VMD_VM_PROBE_H
#define VMD_VM_PROBE_H

#include "vmd/host.h"
#include "vmd/vmd_proto.h"

/*
 * Whether an image boots under an accelerator, and how fast: found out by
 * booting it.
 *
 * A throw-away VM that nobody but vmd knows of. It has booted when the guest
 * accepts a connection and sends the 32 random bytes that begin each; that it
 * could do nothing else with is no matter, since nobody tells it the nonce. A
 * second connection, to a guest that listens already, then measures vsock alone.
 */

/**
 * vm_probe_start() - Boot a pool's image
 * @pool:	Copied
 * @accelerator: What it runs under, whatever the pool has
 * @done:	Called from the loop when the VM is gone again
 *
 * Takes a second where KVM works, and hypervisor.kvm_probe_timeout at most;
 * emulated what a VM takes, and hypervisor.boot_timeout at most.
 *
 * Return: 0 or negative errno
 */
int vm_probe_start(struct host *host, const struct pool *pool,
		   enum vmd_accelerator accelerator,
		   void (*done)(const struct vmd_probed *probed,
				void *userdata),
		   void *userdata);

#endif
