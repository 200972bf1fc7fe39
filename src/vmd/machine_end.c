#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/failpoint.h"
#include "vmd/machine.h"

/*
 * The end of a VM.
 *
 * It may come from anywhere: a request, the deadline, a panic that libvirt
 * reports, QEMU's death that a pidfd tells, the vsock daemon's death. Whatever
 * came first gives the reason, and then machine_step() does what is to be done
 * next, until nothing is left:
 *
 *	libvirt destroys the domain   (a job; retried)
 *	QEMU is dead                  (its pidfd; killed by it after 3 s)
 *	libvirt has forgotten it      (its event, or the job's answer)
 *	the vsock daemon is dead      (killed; its pidfd)
 *	the directory is removed      (a job; retried)
 *
 * libvirt polls with kill(pid, 0) for QEMU's death, and a zombie still answers.
 * As a subreaper vmd is QEMU's parent, so it must reap at once: that is done
 * here, on the loop's thread, which never makes a libvirt call that could keep
 * it. With the exit comes the VM's exact CPU time.
 */

/* QEMU's own end takes milliseconds; libvirt may hang for ever. */
#define END_KILL_USEC (3 * USEC_PER_SEC)
/* How long libvirt has to say why a VM stands still or died */
#define END_EXPLAIN_USEC (500 * USEC_PER_MSEC)
/* How long a dead VM waits for libvirt to forget it */
#define END_FORGET_USEC (10 * USEC_PER_SEC)
#define END_PAUSE_USEC (200 * USEC_PER_MSEC)
#define END_PAUSE_MAX_USEC (5 * USEC_PER_SEC)

static usec_t now(const struct machine *m)
{
	return clock_boot(m->host->clock);
}

/* Each failure makes the pause before the next try longer. */
static void pause_end(struct machine *m)
{
	if (m->pause_usec == 0)
		m->pause_usec = END_PAUSE_USEC;
	else if (m->pause_usec < END_PAUSE_MAX_USEC)
		m->pause_usec *= 2;
	m->next_try = usec_add(now(m), m->pause_usec);
}

struct end_job {
	struct job job;
	struct machine *machine;	/* for done() only */
	struct host *host;
	char uuid[VIRT_UUID_SIZE];
	char vm_id[VMD_ID_MAX];
	bool late_backend;
	int r;
	struct error err;
};

static struct end_job *end_job_new(struct machine *m,
				   void (*run)(struct job *job),
				   void (*done)(struct job *job))
{
	struct end_job *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->job.run = run;
	e->job.done = done;
	e->machine = m;
	e->host = m->host;
	e->late_backend = m->record.vsock == VMD_VSOCK_USER &&
			  m->record.backend_pid == 0;
	memcpy(e->uuid, m->record.uuid, sizeof(e->uuid) - 1);
	memcpy(e->vm_id, m->record.vm_id, sizeof(e->vm_id) - 1);
	return e;
}

static void run_destroy(struct job *job)
{
	struct end_job *e = JOB_OWNER(job, struct end_job, job);

	e->r = failpoint("vmd-stop-before-destroy");
	if (e->r >= 0)
		e->r = virt_destroy(e->host->virt, e->uuid, &e->err);
	(void)failpoint("vmd-stop-destroyed");
}

static void done_destroy(struct job *job)
{
	struct end_job *e = JOB_OWNER(job, struct end_job, job);
	struct machine *m = e->machine;

	m->destroying = false;
	if (e->r >= 0) {
		m->domain_gone = true;
		m->pause_usec = 0;
		m->next_try = 0;
	} else {
		pause_end(m);
		(void)log_warning(&m->scope, 0, "%s, trying again in %u ms",
				  e->err.message,
				  (unsigned)(m->pause_usec / USEC_PER_MSEC));
	}
	free(e);
	machine_step(m);
}

static void destroy_domain(struct machine *m)
{
	struct end_job *e = end_job_new(m, run_destroy, done_destroy);

	if (e && worker_submit(m->host->destroys, &e->job) >= 0) {
		m->destroying = true;
		return;
	}
	free(e);
	pause_end(m);
}

/*
 * A vmd that was killed while it started a vsock daemon leaves a process that
 * may still be about to become one, and so was not found. It is found now, or
 * it finds no directory to make its sockets in, and ends.
 */
static void kill_late_backend(const char *vm_id)
{
	_cleanup_close_ int fd = -1;
	pid_t pid;

	fd = child_find_by_argument(vm_id, &pid);
	if (fd >= 0)
		(void)child_kill(fd, SIGKILL);
}

static void run_remove(struct job *job)
{
	struct end_job *e = JOB_OWNER(job, struct end_job, job);

	e->r = failpoint("vmd-stop-before-removal");
	if (e->r >= 0)
		e->r = host_remove_vm(e->host, e->vm_id);
	(void)failpoint("vmd-stop-removed");
	if (e->late_backend)
		kill_late_backend(e->vm_id);
}

static void finish(struct machine *m)
{
	struct error err = ERROR_INIT;
	int r;

	if (m->reason == VMD_REASON_NONE)
		m->reason = VMD_REASON_CRASHED;
	log_info(&m->scope, "VM is gone: %s", vmd_reason_name(m->reason));
	if (m->reason == VMD_REASON_PANICKED)
		console_log_tail(&m->console, &m->scope);
	machine_enter(m, VMD_STATE_GONE);
	if (!m->cancelled) {
		m->watch->gone(m, m->watch_userdata);
		return;
	}
	r = error_set(&err, ERR_HYPERVISOR,
		      "VM '%s' ended before it ran: %s", m->record.vm_id,
		      vmd_reason_name(m->reason));
	if (m->reason == VMD_REASON_DESTROYED)
		r = -ECANCELED;
	m->watch->created(m, r, NULL, &err, m->watch_userdata);
}

static void done_remove(struct job *job)
{
	struct end_job *e = JOB_OWNER(job, struct end_job, job);
	struct machine *m = e->machine;
	int r = e->r;

	free(e);
	m->removing = false;
	if (r >= 0) {
		finish(m);
		return;
	}
	pause_end(m);
	(void)log_error(&m->scope, r, "Cannot remove the VM's directory, "
				      "trying again");
	machine_step(m);
}

static void remove_directory(struct machine *m)
{
	struct end_job *e = end_job_new(m, run_remove, done_remove);

	if (e && worker_submit(m->host->removes, &e->job) >= 0) {
		m->removing = true;
		return;
	}
	free(e);
	pause_end(m);
}

static void kill_qemu(struct machine *m)
{
	m->killed = true;
	(void)log_warning(&m->scope, child_kill(m->qemu_fd, SIGKILL),
			  "libvirt did not end the VM in time, killing QEMU");
}

/* Takes a time into account for the next wake-up. */
static void wake_at(usec_t *wake, usec_t at)
{
	if (at < *wake)
		*wake = at;
}

/* Until QEMU is dead and libvirt has no domain; returns whether that is so. */
static bool step_domain(struct machine *m, usec_t *wake)
{
	usec_t kill_at = usec_add(m->ending_usec, END_KILL_USEC);
	usec_t forget_at = usec_add(m->died_usec, END_FORGET_USEC);

	if (!m->domain_gone && !m->destroying && now(m) >= m->next_try)
		destroy_domain(m);
	if (!m->domain_gone && !m->destroying)
		wake_at(wake, m->next_try);
	if (m->qemu_fd >= 0) {
		if (!m->killed && now(m) >= kill_at)
			kill_qemu(m);
		if (!m->killed)
			wake_at(wake, kill_at);
		return false;
	}
	if (!m->domain_gone && now(m) >= forget_at) {
		/* The process is dead, so the VM is. libvirt may catch up: the
		 * job may be out for long yet, and the machine stays for it. */
		(void)log_error(&m->scope, 0, "libvirt does not forget the "
					      "VM, whose QEMU is dead");
		m->domain_gone = true;
	}
	if (!m->domain_gone)
		wake_at(wake, forget_at);
	return m->domain_gone;
}

static void step_stopping(struct machine *m, usec_t *wake)
{
	if (!step_domain(m, wake))
		return;
	if (m->backend_fd >= 0) {
		/* Its exit brings us here again. It has no state to save. */
		(void)child_kill(m->backend_fd, SIGKILL);
		return;
	}
	if (m->removing)
		return;
	if (now(m) >= m->next_try)
		remove_directory(m);
	if (!m->removing)
		wake_at(wake, m->next_try);
}

void machine_step(struct machine *m)
{
	usec_t wake = USEC_INFINITY;

	if (m->state == VMD_STATE_RUNNING && m->suspicious)
		machine_end(m, VMD_REASON_CRASHED);
	else if (m->state == VMD_STATE_STOPPING)
		step_stopping(m, &wake);
	else
		return;
	if (m->state == VMD_STATE_STOPPING && wake != USEC_INFINITY)
		timer_set(m->retry, wake);
}

static void begin_end(struct machine *m, usec_t first_destroy)
{
	machine_sample(m);
	machine_enter(m, VMD_STATE_STOPPING);
	m->suspicious = false;
	m->ending_usec = now(m);
	m->next_try = first_destroy;
	machine_step(m);
}

void machine_end(struct machine *m, enum vmd_reason reason)
{
	if (m->reason == VMD_REASON_NONE && m->state != VMD_STATE_GONE)
		m->reason = reason;
	if (m->state == VMD_STATE_RUNNING)
		begin_end(m, now(m));
}

/* What news means, and whether the domain is gone with it. */
static const struct {
	enum vmd_reason reason;
	bool domain_gone;
} meanings[] = {
	[VIRT_GUEST_SHUTDOWN]	= { VMD_REASON_SHUTDOWN, false },
	[VIRT_GUEST_PANICKED]	= { VMD_REASON_PANICKED, false },
	[VIRT_HOST_SHUTDOWN]	= { VMD_REASON_EXTERNAL, false },
	[VIRT_PAUSED]		= { VMD_REASON_CRASHED, false },
	[VIRT_PAUSED_STORAGE]	= { VMD_REASON_STORAGE_FULL, false },
	[VIRT_STOPPED_DESTROYED] = { VMD_REASON_EXTERNAL, true },
	[VIRT_STOPPED]		= { VMD_REASON_CRASHED, true },
};
static_assert(sizeof(meanings) / sizeof(meanings[0]) == VIRT_NEWS_COUNT,
	      "meanings[] doesn't match enum virt_news");

void machine_news(struct machine *m, enum virt_news news)
{
	log_debug(&m->scope, "libvirt: %s", virt_news_name(news));
	if (m->state == VMD_STATE_GONE)
		return;
	/* A create that fails says STOPPED, too; its answer tells more. */
	if (m->state == VMD_STATE_CREATING && (meanings[news].domain_gone ||
					       news == VIRT_PAUSED))
		return;
	if (meanings[news].domain_gone) {
		m->domain_gone = true;
		m->next_try = 0;
	}
	if (news == VIRT_PAUSED) {
		/* A panic stops the CPUs, too, and is told a moment later. */
		m->suspicious = true;
		timer_set_after(m->retry, END_EXPLAIN_USEC);
		return;
	}
	machine_end(m, meanings[news].reason);
	machine_step(m);
}

static int on_qemu(sd_event_source *source, int fd, uint32_t revents,
		   void *userdata)
{
	struct machine *m = userdata;
	struct child_end end;
	int r;

	(void)source;
	(void)revents;
	r = child_reap(fd, &end);
	if (r == -EAGAIN)
		return 0;
	if (r >= 0) {
		m->cpu_usec = end.cpu_usec;
		m->cpu_exact = true;
		m->wait_status = end.status;
	}
	(void)failpoint("vmd-stop-process-dead");
	m->qemu_source = sd_event_source_disable_unref(m->qemu_source);
	close_fd(&m->qemu_fd);
	m->died_usec = now(m);
	console_disconnect(&m->console);
	if (m->state == VMD_STATE_RUNNING)
		/* libvirt, or its event, will say why. */
		begin_end(m, usec_add(now(m), END_EXPLAIN_USEC));
	else
		machine_step(m);
	return 0;
}

static int on_backend(sd_event_source *source, int fd, uint32_t revents,
		      void *userdata)
{
	struct machine *m = userdata;
	struct child_end end;

	(void)source;
	(void)revents;
	if (child_reap(fd, &end) == -EAGAIN)
		return 0;
	m->backend_source = sd_event_source_disable_unref(m->backend_source);
	close_fd(&m->backend_fd);
	if (m->state == VMD_STATE_RUNNING)
		(void)log_warning(&m->scope, 0, "The VM's vsock daemon died");
	machine_end(m, VMD_REASON_BACKEND);
	machine_step(m);
	return 0;
}

static int watch(struct machine *m)
{
	int r = 0;

	if (m->qemu_fd >= 0)
		r = event_add_io(m->host->event, m->qemu_fd, EPOLLIN, on_qemu,
				 m, "vm-qemu", &m->qemu_source);
	if (r >= 0 && m->backend_fd >= 0)
		r = event_add_io(m->host->event, m->backend_fd, EPOLLIN,
				 on_backend, m, "vm-backend",
				 &m->backend_source);
	if (r >= 0 && m->qemu_source)
		/* libvirt waits for the zombie to go. */
		(void)sd_event_source_set_priority(
			m->qemu_source, SD_EVENT_PRIORITY_IMPORTANT);
	return r;
}

void machine_run(struct machine *m, int qemu_fd, int backend_fd)
{
	_cleanup_free_ char *path = NULL;
	int r;

	m->qemu_fd = qemu_fd;
	m->backend_fd = backend_fd;
	m->died_usec = qemu_fd < 0 ? now(m) : 0;
	machine_sample(m);
	machine_enter(m, VMD_STATE_RUNNING);
	timer_set(m->deadline, m->record.deadline_usec);
	path = host_path(m->host, m->record.vm_id, CONSOLE_SOCKET);
	r = path ? console_connect(&m->console, m->host->event, path) :
		   -ENOMEM;
	if (r < 0 && qemu_fd >= 0 && child_is_alive(qemu_fd)) {
		m->blind_from = 0;
		(void)log_warning(&m->scope, r, "The VM's console cannot be "
						"read, ignoring");
	}
	r = watch(m);
	if (r < 0) {
		/* A new vmd finds the VM again, and may have more luck. */
		(void)log_error(&m->scope, r, "Cannot watch a VM, exiting");
		(void)sd_event_exit(m->host->event, EXIT_FAILURE);
	}
}
