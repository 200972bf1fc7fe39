/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "data.h"

static struct rlimit limits[RLIM_NLIMITS];
static cpu_set_t processors;

void bounds_survey(pid_t kernel)
{
	int i;

	/* Neither can fail for a child that is not reaped. */
	for (i = 0; i < RLIM_NLIMITS; i++)
		(void)prlimit(kernel, (enum __rlimit_resource)i, NULL,
			      &limits[i]);
	(void)sched_getaffinity(kernel, sizeof(processors), &processors);
}

static void restore_limit(pid_t kernel, enum __rlimit_resource kind, rlim_t soft)
{
	struct rlimit now;

	if (prlimit(kernel, kind, NULL, &now) < 0 || now.rlim_cur == soft)
		return;
	/* RLIM_INFINITY is the largest number. */
	now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
	(void)prlimit(kernel, kind, &now, NULL);
}

static void restore_processors(pid_t kernel)
{
	cpu_set_t now;

	if (sched_getaffinity(kernel, sizeof(now), &now) == 0 &&
	    !CPU_EQUAL(&now, &processors))
		(void)sched_setaffinity(kernel, sizeof(processors),
					&processors);
}

static void restore_data_mode(void)
{
	struct stat st;

	if (fstat(data_dir(), &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
		(void)fchmod(data_dir(), (st.st_mode & 0777) | S_IRWXU);
}

void bounds_restore(pid_t kernel)
{
	int i;

	for (i = 0; i < RLIM_NLIMITS; i++)
		restore_limit(kernel, (enum __rlimit_resource)i,
			      limits[i].rlim_cur);
	restore_processors(kernel);
	restore_data_mode();
}
