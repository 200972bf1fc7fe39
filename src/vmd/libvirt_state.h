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

/**
 * libvirt_state_end_questions() - End QEMUs that libvirt was asking what they
 *				   can do
 * @state:	vmd's state directory
 *
 * It asks daemons ("-machine none"), ends them when it has its answers, and
 * knows nothing of those that it left behind when its process ended before: they
 * would wait for the next question for ever. To be called when the embedded
 * driver can't start any more of them: before it is opened, or at the end of the
 * process.
 */
void libvirt_state_end_questions(const char *state);

#endif
