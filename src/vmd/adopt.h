#ifndef VMD_ADOPT_H
#define VMD_ADOPT_H

#include "vmd/host.h"
#include "vmd/machine.h"

/*
 * After a restart: VMs are found again by what libvirt lists and what an earlier
 * vmd wrote down. A VM is whole if it has both, its create came to its end, and
 * QEMU lives, and its vsock daemon if it needs one. Whatever is not whole becomes
 * a machine as well, and is ended like any other, so that there is only one way to
 * end things.
 */

/**
 * adopt_all() - Make machines of all that is there
 * @domains:	Ours, as libvirt lists them
 * @count:	Of @domains
 * @watch:	For the machines
 * @userdata:	For @watch
 *
 * Return: how many things were found that were not whole, and are being removed
 */
unsigned adopt_all(struct host *host, const struct virt_domain *domains,
		   size_t count, const struct machine_watch *watch,
		   void *userdata);

#endif
