#ifndef VMD_CHILD_H
#define VMD_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

/*
 * Processes that a VM is made of: QEMU and the vsock daemon. They outlive vmd,
 * so each is also known by its pid and start time, which together name a
 * process of this boot for ever, and is held by a pidfd while vmd runs.
 */

/**
 * child_spawn() - Start a program that outlives vmd
 * @argv:	Its arguments; the first is its path
 * @out:	Becomes its stdout and stderr
 * @ret_pid:	Its pid
 *
 * In a session of its own, with no signal blocked or ignored, and stdin empty.
 *
 * Return: a pidfd or negative errno
 */
int child_spawn(char *const argv[], int out, pid_t *ret_pid);

/**
 * child_run() - Run a program to its end
 *
 * Return: its exit status, 128 + signal, or negative errno
 */
int child_run(char *const argv[], int out);

/**
 * child_start_time() - When a process was started
 *
 * Return: in clock ticks since boot; 0 if there is none
 */
uint64_t child_start_time(pid_t pid);

/**
 * child_find() - Hold a process that was started earlier
 * @start:	Its child_start_time()
 *
 * Return: a pidfd, -ESRCH if it is gone, or another negative errno
 */
int child_find(pid_t pid, uint64_t start);

/**
 * child_find_by_argument() - Hold a process of ours by an argument it has
 * @argument:	Whole, and not to be found in any other process
 * @ret_pid:	Its pid
 *
 * Return: as child_find()
 */
int child_find_by_argument(const char *argument, pid_t *ret_pid);

/** child_has_argument_like() - Whether some argument begins in a way */
bool child_has_argument_like(pid_t pid, const char *beginning);

/**
 * child_kill_all_like() - Kill every process with an argument that begins so
 *
 * Return: how many there were
 */
unsigned child_kill_all_like(const char *beginning);

/** child_has_forks() - Whether a child of ours is not yet what it is to become */
bool child_has_forks(void);

/** child_kill() - Send a signal; Return: 0, -ESRCH, or another negative errno */
int child_kill(int pidfd, int signo);

/**
 * struct child_end - How a process ended
 * @status:	As wait() gives it
 * @cpu_usec:	User and system time, of all its threads
 */
struct child_end {
	int status;
	usec_t cpu_usec;
};

/**
 * child_reap() - Take the exit of a process whose pidfd is readable
 *
 * Return: 0; -ECHILD if it was not our child (then init has it, or libvirtd);
 * -EAGAIN if it still runs
 */
int child_reap(int pidfd, struct child_end *ret_end);

/** child_is_alive() - Whether a held process still runs */
bool child_is_alive(int pidfd);

/** child_wait() - Wait for an end; Return: 0 or -ETIMEDOUT */
int child_wait(int pidfd, usec_t timeout_usec);

/** child_cpu_usec() - CPU time so far; Return: UINT64_MAX if it cannot be told */
uint64_t child_cpu_usec(pid_t pid);

/** child_rss_bytes() - Resident memory; Return: as child_cpu_usec() */
uint64_t child_rss_bytes(pid_t pid);

/**
 * child_reap_orphans() - Reap what others left to us
 * @is_held:	Whether somebody waits for a pid by a pidfd
 *
 * vmd is a subreaper, for the sake of QEMU, and so becomes the parent of all
 * daemons that libvirt starts: also of QEMUs that fail to start, and of those
 * that are asked for their capabilities. libvirt waits until kill() does not
 * find them any more, so somebody has to reap them at once. waitid(P_ALL) would
 * steal from libvirt the children that it waits for itself. The two kinds differ
 * in their session: only daemons are in another than ours.
 *
 * To be called at SIGCHLD.
 */
void child_reap_orphans(bool (*is_held)(pid_t pid, void *userdata),
			void *userdata);

#endif
