#ifndef VMD_WHEELHOUSE_H
#define VMD_WHEELHOUSE_H

#include "base/error.h"

/*
 * Wheelhouses: read-only disks of Python packages, as images/wheelhouse packs
 * them from a directory. A pool that has one gives it to each of its VMs.
 *
 * vmd never reads what is on one, and packs none itself: that is the operator's,
 * once for each change and not for each VM. A VM keeps the file that it began
 * with, also when another takes its place.
 */

/**
 * wheelhouse_check() - Whether a file is a wheelhouse that QEMU can read
 * @path:	Absolute
 * @err:	Why not, and what to do
 *
 * Return: 0 or negative errno
 */
int wheelhouse_check(const char *path, struct error *err);

#endif
