/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_AGENT_KNOB_H
#define GUEST_AGENT_KNOB_H

/* Files of the kernel that are set by writing to them. */

/**
 * knob_write() - Set one
 * @dir:	What @path is relative to; AT_FDCWD if it is absolute
 */
int knob_write(int dir, const char *path, const char *text);

#endif
