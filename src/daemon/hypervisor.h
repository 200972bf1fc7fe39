#ifndef CUPOLA_DAEMON_HYPERVISOR_H
#define CUPOLA_DAEMON_HYPERVISOR_H

/* cupola-vmd as the daemon keeps it: the connection, and who starts it. */

#include "base/error.h"

struct daemon;

/** hypervisor_new() - The client side, without a connection yet */
int hypervisor_new(struct daemon *d, struct error *err);

/**
 * hypervisor_start() - Start cupola-vmd, or connect to the one that runs
 *
 * Core exists by now: what cupola-vmd says is passed on to it. If it cannot
 * become ready the first time, the daemon ends with its sentence.
 */
int hypervisor_start(struct daemon *d, struct error *err);

#endif
