#ifndef CUPOLA_CLI_HOST_CHECKS_H
#define CUPOLA_CLI_HOST_CHECKS_H

/* The checks that host_check() makes, and what they are written with. */

#include "cli/host.h"

/**
 * struct host_view - What is looked at
 * @root:	In front of paths in /sys, /proc, /dev and /var; "" but for tests
 * @state:	The daemon's directory
 * @user:	As host_check() has it
 */
struct host_view {
	const char *root;
	const char *state;
	const char *user;
};

/** host_say() - Say how it is */
void host_say(struct host_finding *f, enum host_level level, const char *fmt,
	      ...) __attribute__((format(printf, 3, 4)));

/** host_advise() - Say what to do about it */
void host_advise(struct host_finding *f, const char *remedy);

/**
 * host_read_line() - The first line of a file below the root
 *
 * Return: whether there is one; else @line is ""
 */
bool host_read_line(const struct host_view *v, const char *path, char *line,
		    size_t size);

/* host_kernel.c: what keeps VMs apart */
void host_check_smt(const struct host_view *v, struct host_finding *f);
void host_check_ksm(const struct host_view *v, struct host_finding *f);
void host_check_swap(const struct host_view *v, struct host_finding *f);
void host_check_huge_pages(const struct host_view *v, struct host_finding *f);

/* host_holes.c: what is known to be wrong with it */
void host_check_kernel(const struct host_view *v, struct host_finding *f);

/* host_limits.c: what there is enough of, or right */
void host_check_clock(const struct host_view *v, struct host_finding *f);
void host_check_limits(const struct host_view *v, struct host_finding *f);
void host_check_cache(const struct host_view *v, struct host_finding *f);

/** host_check_process() - The limits of the process that makes the VMs */
void host_check_process(const struct host_view *v, long long pid,
			struct host_finding *f);

#endif
