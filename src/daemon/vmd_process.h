#ifndef CUPOLA_DAEMON_VMD_PROCESS_H
#define CUPOLA_DAEMON_VMD_PROCESS_H

/*
 * cupola-vmd as a child of the daemon: development mode only.
 *
 * It is started with one end of a socketpair, watched by a pidfd, and started
 * again when it dies, sooner at first and more slowly if it goes on dying. The
 * other end goes to whoever talks to it, anew each time. When the daemon's end
 * is closed the child exits by itself and leaves the VMs alone.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

struct vmd_process;

/**
 * struct vmd_process_config - How to start it
 * @event:	The loop
 * @clock:	For the pause between two starts: the kernel's time
 * @binary:	Descriptor of the program, which may lie where the daemon's user
 *		cannot reach; borrowed
 * @arguments:	argv, NULL-terminated; copied. The child's end is descriptor
 *		VMD_PROCESS_FD there
 * @connected:	Gets the daemon's end after each start and takes it over; what
 *		it returns below 0 makes the start a failure
 */
struct vmd_process_config {
	sd_event *event;
	struct clock *clock;
	int binary;
	const char *const *arguments;
	int (*connected)(int fd, void *userdata);
	void *userdata;
};

enum { VMD_PROCESS_FD = 3 };

/**
 * vmd_process_open() - Find and open the program
 *
 * It lies beside the running one, as in a build tree, or where it was
 * installed. To be called before the daemon changes its user.
 *
 * Return: a descriptor, or a negative errno with @err
 */
int vmd_process_open(struct error *err);

/** vmd_process_new() - Start it for the first time */
int vmd_process_new(const struct vmd_process_config *config,
		    struct vmd_process **ret_process, struct error *err);

/**
 * vmd_process_stop() - Do not start it again, and tell when it is gone
 * @gone:	Called once, from the loop, when no child is left: it exits by
 *		itself once its socket is closed
 */
void vmd_process_stop(struct vmd_process *p, void (*gone)(void *userdata),
		      void *userdata);

/**
 * vmd_process_wait() - Block until it has exited by itself, after a failed start
 * @patience:	How long at most
 */
void vmd_process_wait(struct vmd_process *p, usec_t patience);

/** vmd_process_kill() - It does not exit by itself: end it */
void vmd_process_kill(struct vmd_process *p);

/** vmd_process_free() - Forget it; a child that still runs goes on */
void vmd_process_free(struct vmd_process *p);
DEFINE_FREEP(struct vmd_process, vmd_process_free);

#endif
