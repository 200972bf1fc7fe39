#ifndef VMD_KVM_PROBE_H
#define VMD_KVM_PROBE_H

#include <stdbool.h>

#include "vmd/host.h"

/*
 * Whether an image boots under KVM: found out by booting it.
 *
 * A throw-away VM that nobody but vmd knows of. It has booted when the guest
 * accepts a connection and sends the 32 random bytes that begin each; that it
 * could do nothing else with is no matter, since nobody tells it the nonce.
 */

/**
 * kvm_probe_start() - Boot a pool's image under KVM
 * @pool:	Copied
 * @done:	Called from the loop when the VM is gone again; @reason says in
 *		words what was seen
 *
 * Takes a second where KVM works, and hypervisor.kvm_probe_timeout at most.
 *
 * Return: 0 or negative errno
 */
int kvm_probe_start(struct host *host, const struct pool *pool,
		    void (*done)(bool booted, const char *reason,
				 void *userdata),
		    void *userdata);

#endif
