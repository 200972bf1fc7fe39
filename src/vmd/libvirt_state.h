#ifndef VMD_LIBVIRT_STATE_H
#define VMD_LIBVIRT_STATE_H

/**
 * libvirt_state_prune() - Make the embedded driver forget domains whose QEMU is
 *			   dead, before it is opened
 * @root_fd:	Its root directory
 *
 * When it is opened, libvirt connects to each QEMU that it has on record, and
 * waits for the monitors of those that are not there any more; a vmd that is
 * killed again and again, in the middle of creates, leaves domains that no
 * destroy ends (seen: after 40 s they were still listed). And it goes by the pid
 * alone, which somebody else may have by now.
 *
 * Return: 0 or negative errno
 */
int libvirt_state_prune(int root_fd);

#endif
