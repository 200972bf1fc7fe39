#ifndef VMD_VIRT_H
#define VMD_VIRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "vmd/vmd_proto.h"

/*
 * libvirt: its connections, its event loop in a thread of its own, and the few
 * calls that vmd makes.
 *
 * A connection serves five requests at a time, so creates and destroys have one
 * each: a burst of one kind never keeps the other waiting. What libvirt reports
 * is queued and handed over on the loop of vmd.
 *
 * All calls but virt_new() and virt_free() block, for up to minutes if a
 * hypervisor hangs, and belong on workers.
 */

struct virt;

/** virt_uri_is_privileged() - Whether that is root's libvirt on this host */
static inline bool virt_uri_is_privileged(const char *uri)
{
	return strncmp(uri, "qemu:///system", 14) == 0;
}

/** VIRT_UUID_SIZE - A domain's UUID as text, with NUL */
#define VIRT_UUID_SIZE 37

/**
 * enum virt_news - What happened to a domain
 * @VIRT_GUEST_SHUTDOWN:	Its guest powered off or rebooted; QEMU will end
 * @VIRT_GUEST_PANICKED:	Its guest panicked; libvirt will end it
 * @VIRT_HOST_SHUTDOWN:		Somebody sent QEMU a signal; it will end
 * @VIRT_PAUSED:		It stands still, though nobody asked for that
 * @VIRT_PAUSED_STORAGE:	It stands still because the host's disk is full
 * @VIRT_STOPPED_DESTROYED:	libvirt has no such domain any more: destroyed
 * @VIRT_STOPPED:		Likewise, any other way
 */
enum virt_news {
	VIRT_GUEST_SHUTDOWN,
	VIRT_GUEST_PANICKED,
	VIRT_HOST_SHUTDOWN,
	VIRT_PAUSED,
	VIRT_PAUSED_STORAGE,
	VIRT_STOPPED_DESTROYED,
	VIRT_STOPPED,

	VIRT_NEWS_COUNT,
};

/** virt_news_name() - For logs */
const char *virt_news_name(enum virt_news news);

/**
 * struct virt_handlers - What the owner hears, on the loop
 * @news:	Something happened to a domain, maybe to one that is not ours
 * @lost:	A connection is gone: there is no way on but a new process
 */
struct virt_handlers {
	void (*news)(const char *uuid, enum virt_news news, void *userdata);
	void (*lost)(void *userdata);
};

/**
 * virt_new() - Make the object and start libvirt's event loop
 * @uri:	Copied. Nothing is connected yet
 * @root:	Root directory of an embedded driver, or NULL
 *
 * Once per process: libvirt has one event loop.
 *
 * Return: 0 or negative errno
 */
int virt_new(sd_event *event, const char *uri, const char *root,
	     const struct virt_handlers *handlers, void *userdata,
	     struct virt **ret_virt);

/**
 * virt_free() - Close the connections
 *
 * No call may be running. VMs stay, and so does the thread of the event loop,
 * which libvirt has no way to end cleanly: it is for the end of the process.
 */
void virt_free(struct virt *virt);
void virt_freep(struct virt **virt);

/**
 * virt_open() - Connect
 *
 * After a failure it may be tried again. Return: 0 or negative errno with @err
 */
int virt_open(struct virt *virt, struct error *err);

/**
 * virt_warm() - Have libvirt find out what QEMU can do, and keep it
 * @emulator:	Path of QEMU
 *
 * Takes 4 to 37 s with libvirt's cache empty, else milliseconds. A create would
 * take as much longer.
 *
 * Return: 0 or negative errno with @err, which says that QEMU cannot do what is
 * needed here
 */
int virt_warm(struct virt *virt, const char *emulator, struct error *err);

/** struct virt_versions - As libvirt counts: major * 1000000 + minor * 1000 */
struct virt_versions {
	uint32_t libvirt;
	uint32_t qemu;
};

/** virt_get_versions() - Who is there; zeros for what cannot be told */
void virt_get_versions(struct virt *virt, struct virt_versions *ret_versions);

/**
 * struct virt_domain - A domain of ours that runs
 * @vm_id:	From its mark
 * @uuid:	Its UUID
 * @paused:	It stands still
 */
struct virt_domain {
	char vm_id[VMD_ID_MAX];
	char uuid[VIRT_UUID_SIZE];
	bool paused;
};

/**
 * virt_list() - Which domains of ours run
 * @installation:	Who we are; domains without our mark are left out
 * @ret_domains:	For free()
 *
 * Return: how many, or negative errno with @err
 */
int virt_list(struct virt *virt, const char *installation,
	      struct virt_domain **ret_domains, struct error *err);

/**
 * virt_create() - Start a domain
 * @xml:	Its description
 * @name:	Its name in @xml
 * @ret_pid:	QEMU's pid; 0 with a driver that has none
 * @ret_pidfd:	Holds QEMU, also if it has ended already; -1 without pid
 * @err:	What libvirt said
 *
 * Return: 0; -EADDRINUSE if the host has the CID in use already; -EEXIST for a
 * name or UUID in use; or another negative errno. No domain is left then
 */
int virt_create(struct virt *virt, const char *xml, const char *name,
		pid_t *ret_pid, int *ret_pidfd, struct error *err);

/**
 * virt_hold() - Hold the QEMU of a domain, by libvirt's pid file
 * @name:	Name of the domain
 *
 * Return: 0, or negative errno: -ESRCH if it is dead and reaped
 */
int virt_hold(struct virt *virt, const char *name, pid_t *ret_pid,
	      int *ret_pidfd);

/**
 * virt_destroy() - End a domain
 * @uuid:	Whose
 *
 * Takes at least as long as QEMU does to end.
 *
 * Return: 0 if libvirt has it no more, or had not; else negative errno with @err
 */
int virt_destroy(struct virt *virt, const char *uuid, struct error *err);

/** virt_nmi() - Give a domain's CPUs a non-maskable interrupt */
int virt_nmi(struct virt *virt, const char *uuid, struct error *err);

#endif
