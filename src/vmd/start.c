#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/accelerator.h"
#include "vmd/adopt.h"
#include "vmd/start.h"

/* The libvirt release that the shortcut of domain_xml.c was measured with. */
#define BULK_PROPERTIES_RELEASE 9000	/* 9.0 */

#define OPEN_PAUSE_NSEC 100000000

enum {
	OPEN_TRIES = 5,
};

struct start {
	struct job job;
	struct host *host;
	const struct start_handlers *handlers;
	void *userdata;
	const struct machine_watch *watch;
	void *watch_userdata;
	/* What the job finds out */
	int r;
	struct error err;
	struct virt_domain *domains;
	int domain_count;
	struct vmd_hello hello;
};

static void start_free(struct start *s)
{
	free(s->domains);
	free(s);
}

/*
 * The embedded driver's lock is the last vmd's until the very end of its
 * process, an instant longer than vmd's own.
 */
static int open_libvirt(struct start *s)
{
	const struct timespec nap = { .tv_nsec = OPEN_PAUSE_NSEC };
	int i, r = -EBUSY;

	for (i = 0; i < OPEN_TRIES && r < 0; i++) {
		if (i > 0)
			(void)nanosleep(&nap, NULL);
		error_clear(&s->err);
		r = virt_open(s->host->virt, &s->err);
		if (!s->host->embedded)
			break;
	}
	return r;
}

static void run_start(struct job *job)
{
	struct start *s = JOB_OWNER(job, struct start, job);
	struct host *host = s->host;
	usec_t start = clock_boot(host->clock), opened;
	struct virt_versions versions;

	s->r = open_libvirt(s);
	if (s->r < 0)
		return;
	opened = clock_boot(host->clock);
	s->hello.open_usec = usec_sub(opened, start);
	s->r = virt_warm(host->virt, QEMU_PATH, &s->err);
	if (s->r < 0)
		return;
	s->hello.warm_usec = usec_sub(clock_boot(host->clock), opened);
	virt_get_versions(host->virt, &versions);
	s->hello.libvirt_version = versions.libvirt;
	s->hello.qemu_version = versions.qemu;
	s->r = virt_list(host->virt, host->installation, &s->domains, &s->err);
	s->domain_count = s->r;
}

static bool choose_bulk_properties(const struct start *s)
{
	const char *wanted = settings_string(s->host->settings, "hypervisor",
					     "qemu_del_features");

	if (strcmp(wanted, "auto") == 0)
		return s->hello.libvirt_version / 1000 ==
		       BULK_PROPERTIES_RELEASE;
	return strcmp(wanted, "yes") == 0;
}

static void on_decided(const struct accelerator_summary *summary,
		       void *userdata)
{
	struct start *s = userdata;

	s->hello.probe_usec = summary->probe_usec;
	strcpy(s->hello.reason, summary->reason);
	s->handlers->ready(&s->hello, s->userdata);
	start_free(s);
}

static void fail(struct start *s)
{
	s->handlers->failed(&s->err, s->userdata);
	start_free(s);
}

static void done_start(struct job *job)
{
	struct start *s = JOB_OWNER(job, struct start, job);
	struct host *host = s->host;
	int r;

	if (s->r < 0) {
		fail(s);
		return;
	}
	host->bulk_properties = choose_bulk_properties(s);
	s->hello.version = VMD_VERSION;
	s->hello.pid = getpid();
	s->hello.vsock = host->vsock;
	strcpy(s->hello.uri, host->uri);
	s->hello.orphans = adopt_all(host, s->domains,
				     (size_t)s->domain_count, s->watch,
				     s->watch_userdata);
	s->handlers->progress("choosing accelerators", s->userdata);
	r = accelerator_decide(host, host->pools, on_decided,
			       s);
	if (r < 0) {
		(void)error_set_errno(&s->err, r,
				      "Cannot choose accelerators");
		fail(s);
	}
}

int start_begin(struct host *host, const struct start_handlers *handlers,
		void *userdata, const struct machine_watch *watch,
		void *watch_userdata)
{
	struct start *s;
	int r;

	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->job.run = run_start;
	s->job.done = done_start;
	s->host = host;
	s->handlers = handlers;
	s->userdata = userdata;
	s->watch = watch;
	s->watch_userdata = watch_userdata;
	r = worker_submit(host->creates, &s->job);
	if (r < 0) {
		start_free(s);
		return r;
	}
	handlers->progress("opening libvirt and asking QEMU what it can do",
			   userdata);
	return 0;
}
