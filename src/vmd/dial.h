#ifndef VMD_DIAL_H
#define VMD_DIAL_H

#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

struct machine;

/*
 * Connecting to a guest: always from the host, always to VMD_GUEST_PORT.
 *
 * A guest that is still booting refuses, so it is tried again every few
 * milliseconds until the deadline; through the vsock daemon it is not tried
 * before it said that it listens. Nothing here blocks. How the two vsock
 * backends differ ends here: what comes out is a connected stream.
 */

/* What the agent writes to the console once there is somebody to dial. */
#define GUEST_LISTENS "cupola-guest: listening"

/* A VM that never said that it listens is dialled after this time. */
#define DIAL_BLIND_USEC (20 * USEC_PER_SEC)

struct dial;

/**
 * dial_start() - Begin to dial
 * @m:		The guest's machine, in no particular state but not GONE
 * @deadline_usec:	Boot clock
 * @done:	Called once, from the loop: @fd is connected, non-blocking and
 *		the callback's, or -1: @r is -ETIMEDOUT, or -ENOENT when the
 *		machine ended. Not called after dial_cancel()
 * @ret_dial:	Valid until @done or dial_cancel()
 *
 * Return: 0 or -ENOMEM
 */
int dial_start(struct machine *m, usec_t deadline_usec,
	       void (*done)(struct dial *dial, int r, int fd,
			    unsigned attempts, usec_t usec, void *userdata),
	       void *userdata, struct dial **ret_dial);

/** dial_cancel() - Forget it; may be NULL */
void dial_cancel(struct dial *dial);

/** dial_hurry() - The machine's guest has just said that it listens */
void dial_hurry(struct machine *m);

/** dial_fail_all() - End all dials of a machine that ends */
void dial_fail_all(struct machine *m);

#endif
