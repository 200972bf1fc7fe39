#ifndef VMD_MACHINE_STATE_H
#define VMD_MACHINE_STATE_H

#include <stdbool.h>

#include "vmd/vmd_proto.h"

/*
 * enum vmd_state from the inside. A machine only moves forward, and only
 * machine_enter() moves it.
 *
 *    CREATING - A create job is out, or about to be
 *        Leaves by: the job's answer, to RUNNING, or to GONE if it failed; to
 *        STOPPING if it has to end although it was created
 *        Caveat: machine_end() is only noted; the answer acts on it, because
 *        the domain may come into being at any moment
 *
 *    RUNNING - QEMU runs, and is held by a pidfd
 *        Timer: the hard deadline, to STOPPING
 *        Leaves by: machine_end(), or QEMU's or the vsock daemon's death, to
 *        STOPPING
 *
 *    STOPPING - libvirt is asked to destroy the domain, again and again with
 *    pauses; then the vsock daemon is killed; then the directory is removed
 *        Timer: the next of these steps; QEMU is killed through its pidfd when
 *        libvirt did not manage in time
 *        Leaves by: all of it done, to GONE
 *        Caveat: there is no giving up. A directory that cannot be removed
 *        keeps the machine here
 *
 *    GONE - Nothing on the host is left of it
 *        Leaves by: machine_free(), when too many newer ones are gone, too
 *        May be touched: console, reason and times, to be told
 */

/** machine_state_may_follow() - Whether a machine may move from one to another */
bool machine_state_may_follow(enum vmd_state from, enum vmd_state to);

#endif
