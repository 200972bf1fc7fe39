#ifndef VMD_HOST_H
#define VMD_HOST_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/settings.h"
#include "base/worker.h"
#include "vmd/pools.h"
#include "vmd/tsc.h"
#include "vmd/virt.h"

/*
 * What vmd has, apart from VMs: its directories, its settings, libvirt, and the
 * workers. Made once at start; the loop's thread owns it.
 *
 *	STATE/vmd.lock		one vmd at a time
 *	STATE/installation	whose domains are ours
 *	STATE/vm/VM_ID/		everything of one VM, removed with it
 *	STATE/templates/	scratch disks, by size
 *	STATE/accelerator/	whether KVM can boot an image, by its digest
 *	STATE/libvirt/		root of the embedded libvirt
 *
 * With a libvirt that is root's each VM has a user of its own, see vm_user.h,
 * whose QEMU must find its way to its disk: STATE, STATE/vm and the directory of
 * the VM can then be passed through. Nobody can list them, names of VMs are
 * random, and no file below is open to others.
 */

#define QEMU_PATH "/usr/bin/qemu-system-x86_64"

/* 128 bits in hex, and NUL */
#define INSTALLATION_SIZE 33

struct machine;

/**
 * struct host - See above
 * @state:		Absolute path, at most HOST_STATE_MAX bytes
 * @state_fd:		It
 * @vm_fd:		STATE/vm
 * @template_fd:	STATE/templates
 * @accelerator_fd:	STATE/accelerator
 * @lock_fd:		Held as long as the process lives
 * @embedded:		libvirt's driver runs in this process
 * @privileged:		libvirt is root's
 * @kvm_group:		Who may open /dev/kvm, or -1; used if @privileged
 * @bulk_properties:	See domain_xml.c
 * @tsc_start:		Of the start, to tell guests the counter's rate by
 * @creates:		Threads for creating
 * @destroys:		Threads for virDomainDestroy()
 * @removes:		Thread for removing directories: never kept by libvirt
 * @machines:		All VMs, those gone included; machine.h
 */
struct host {
	sd_event *event;
	struct clock *clock;
	const char *state;
	int state_fd;
	int vm_fd;
	int template_fd;
	int accelerator_fd;
	int lock_fd;
	char installation[INSTALLATION_SIZE];
	char boot_id[CLOCK_BOOT_ID_SIZE];
	struct settings *settings;
	struct pools *pools;
	enum vmd_vsock vsock;
	bool embedded;
	bool privileged;
	gid_t kvm_group;
	bool bulk_properties;
	struct tsc_sample tsc_start;
	char uri[VMD_URI_MAX];
	struct virt *virt;
	struct worker *creates;
	struct worker *destroys;
	struct worker *removes;
	struct machine *machines;
	sd_event_source *gc;
};

/* libvirt makes STATE/libvirt/lib/qemu/domain-ID-NAME/monitor.sock, with up to
 * 6 digits and 20 characters, and a socket's path has 107 at most. */
#define HOST_STATE_MAX (107 - 65)

/** host_init() - Nothing yet, so that host_done() can be called */
void host_init(struct host *host);

/**
 * host_prepare() - Everything that needs no libvirt
 * @host:	With event, clock, state and settings set
 * @err:	Why vmd cannot run here, and what to do
 *
 * Return: 0 or negative errno; host_done() cleans up in both cases
 */
int host_prepare(struct host *host, struct error *err);

/** host_done() - Release all of it; no job may be running */
void host_done(struct host *host);

/**
 * host_remove_vm() - Remove what a VM has on the disk, when it has no process
 *
 * Blocks. Return: 0 or negative errno
 */
int host_remove_vm(const struct host *host, const char *vm_id);

/** host_path() - Path of a VM's directory, or of a file in it; for free() */
char *host_path(const struct host *host, const char *vm_id, const char *name);

#endif
