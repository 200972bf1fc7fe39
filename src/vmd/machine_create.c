#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "vmd/backend.h"
#include "vmd/dial.h"
#include "vmd/domain_xml.h"
#include "vmd/machine.h"
#include "vmd/scratch.h"
#include "vmd/vm_user.h"

/*
 * Creating a VM: a job with a table of steps. When one fails, what the earlier
 * ones made is removed by the job itself, so that a failed create leaves
 * nothing, and says so only then.
 *
 * The record is written before there is anything to forget, and again whenever
 * there is a process more. So a vmd that is killed in the middle leaves a
 * directory that tells the next one all that has to be removed.
 */

/*
 * panic=-1 reboots at once, which ends the VM; pvpanic has told why before. An
 * oops in a kernel that untrusted code runs on is no state to go on from, and an
 * NMI is how the operator ends a guest that hangs and has it say where. The
 * i8042 and further serial ports are not there, and looking for them takes time.
 */
#define BASE_CMDLINE \
	"console=ttyS0 panic=-1 oops=panic unknown_nmi_panic i8042.noaux " \
	"i8042.nokbd 8250.nr_uarts=1"

/* For emulated guests, see tsc.h. The watchdog would find the counter too fast
 * whenever the host is busy, and take a clock of 4 ms instead. */
#define TSC_CMDLINE " no_timer_check tsc=reliable tsc_early_khz="

/* The guest waits for a third disk. With its dot Linux takes it for the option
 * of a module that is not there, and lets it be. */
#define WHEELHOUSE_CMDLINE " cupola.wheelhouse"

#define CMDLINE_MAX                                                    \
	(sizeof(BASE_CMDLINE " quiet " TSC_CMDLINE WHEELHOUSE_CMDLINE) + \
	 10 + IMAGE_CMDLINE_MAX)

struct create_job {
	struct job job;
	struct machine *machine;	/* for done() only */
	struct host *host;		/* run() uses what never changes */
	struct record record;
	struct pool pool;
	uint8_t nonce[VMD_NONCE_SIZE];
	usec_t submitted;
	int dirfd;
	int backend_fd;
	int qemu_fd;
	int r;
	struct error err;
	struct vmd_created created;
};

static void job_free(struct create_job *c)
{
	close_fd(&c->dirfd);
	close_fd(&c->backend_fd);
	close_fd(&c->qemu_fd);
	explicit_bzero(c->nonce, sizeof(c->nonce));
	free(c);
}

static int write_down(struct create_job *c)
{
	int r = record_write(c->dirfd, &c->record);

	if (r < 0)
		return error_set_errno(&c->err, r,
				       "Cannot write the VM's record");
	return 0;
}

static int make_directory(struct create_job *c)
{
	int r = 0;

	if (mkdirat(c->host->vm_fd, c->record.vm_id, 0700) < 0)
		r = -errno;
	if (r >= 0) {
		c->dirfd = fs_open_dir(c->host->vm_fd, c->record.vm_id);
		r = c->dirfd;
	}
	if (r >= 0 && c->host->privileged &&
	    fchmod(c->dirfd, VM_USER_PASSAGE) < 0)
		r = -errno;
	if (r < 0)
		return error_set_errno(&c->err, r,
				       "Cannot make the VM's directory");
	(void)failpoint("vmd-create-directory");
	return write_down(c);
}

/* A sparse disk takes nothing yet; whoever fills it must find room. */
static int check_room(struct create_job *c)
{
	uint64_t floor = settings_bytes(c->host->settings, "host",
					"disk_reserve");
	uint64_t available;
	struct statvfs fs;

	if (fstatvfs(c->host->vm_fd, &fs) < 0)
		return error_set_errno(&c->err, -errno,
				       "Cannot see how full the disk is");
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (available >= floor)
		return 0;
	return error_set(&c->err, ERR_STORAGE_FULL,
			 "The disk of the VMs has %" PRIu64 " MiB left; below "
			 "%" PRIu64 " MiB no VM is started",
			 available >> 20, floor >> 20);
}

static int make_disk(struct create_job *c)
{
	usec_t start = clock_boot(c->host->clock);
	_cleanup_close_ int template_fd = -1;
	int r;

	r = check_room(c);
	if (r < 0)
		return r;
	template_fd = scratch_open_template(c->host->template_fd,
					    c->record.disk_bytes, &c->err);
	if (template_fd < 0)
		return template_fd;
	r = scratch_make(template_fd, c->record.disk_bytes, c->dirfd,
			 SCRATCH_FILE, c->nonce);
	explicit_bzero(c->nonce, sizeof(c->nonce));
	if (r >= 0 && c->host->privileged)
		r = vm_user_own(c->dirfd, SCRATCH_FILE, c->record.cid,
				c->host->kvm_group);
	if (r < 0)
		return error_set_errno(&c->err, r,
				       "Cannot make the VM's scratch disk");
	c->created.disk_usec = usec_sub(clock_boot(c->host->clock), start);
	(void)failpoint("vmd-create-disk");
	return 0;
}

static int start_backend(struct create_job *c)
{
	usec_t start = clock_boot(c->host->clock);
	_cleanup_free_ char *directory = NULL;
	struct backend backend;
	int r;

	if (c->record.vsock != VMD_VSOCK_USER)
		return 0;
	directory = host_path(c->host, c->record.vm_id, NULL);
	if (!directory)
		return error_set_errno(&c->err, -ENOMEM, "Cannot start a VM");
	r = backend_start(directory, c->record.vm_id, c->record.cid, &backend,
			  &c->err);
	if (r < 0)
		return r;
	(void)failpoint("vmd-create-backend");
	c->backend_fd = backend.pidfd;
	c->created.backend_pid = backend.pid;
	c->created.backend_usec = usec_sub(clock_boot(c->host->clock), start);
	c->record.backend_pid = backend.pid;
	c->record.backend_start = child_start_time(backend.pid);
	return write_down(c);
}

/* A probe listens to what the kernel has to say. */
static void write_cmdline(const struct create_job *c,
			  char ret_cmdline[CMDLINE_MAX])
{
	char tsc[sizeof(TSC_CMDLINE) + 10] = "";

	if (c->record.accelerator == VMD_ACCELERATOR_TCG)
		(void)snprintf(tsc, sizeof(tsc), TSC_CMDLINE "%" PRIu32,
			       tsc_khz(&c->host->tsc_start));
	(void)snprintf(ret_cmdline, CMDLINE_MAX, BASE_CMDLINE "%s%s%s %s",
		       c->record.hidden ? "" : " quiet", tsc,
		       c->pool.wheelhouse[0] ? WHEELHOUSE_CMDLINE : "",
		       c->pool.image.cmdline);
}

/* All paths of the spec live until the XML is written. */
static int describe(struct create_job *c, char **ret_xml)
{
	const struct host *host = c->host;
	const struct record *record = &c->record;
	_cleanup_free_ char *scratch = NULL, *console = NULL, *vhost = NULL;
	char cmdline[CMDLINE_MAX];
	struct domain_spec spec = {
		.vm_id = record->vm_id,
		.uuid = record->uuid,
		.installation = host->installation,
		.accelerator = record->accelerator,
		.vsock = record->vsock,
		.emulator = QEMU_PATH,
		.vcpus = record->vcpus,
		.memory_mib = record->memory_mib,
		.cid = record->cid,
		.kernel = c->pool.image.kernel,
		.initrd = c->pool.image.initrd,
		.cmdline = cmdline,
		.root = c->pool.image.root,
		.wheelhouse = c->pool.wheelhouse[0] ? c->pool.wheelhouse : NULL,
		.privileged = host->privileged,
		.uid = vm_user_uid(record->cid),
		.gid = vm_user_gid(record->cid, host->kvm_group),
		.bulk_properties = host->bulk_properties,
	};

	scratch = host_path(host, record->vm_id, SCRATCH_FILE);
	console = host_path(host, record->vm_id, CONSOLE_SOCKET);
	vhost = host_path(host, record->vm_id, BACKEND_VHOST_SOCKET);
	if (!scratch || !console || !vhost)
		return -ENOMEM;
	spec.scratch = scratch;
	spec.console = console;
	spec.vhost = vhost;
	write_cmdline(c, cmdline);
	return domain_xml_write(&spec, ret_xml);
}

/* QEMU's process divides what is libvirt's alone from what both take. */
static void note_times(struct create_job *c, usec_t start)
{
	const usec_t now = clock_boot(c->host->clock);
	const usec_t tick = USEC_PER_SEC / (usec_t)sysconf(_SC_CLK_TCK);
	usec_t began = c->record.qemu_start * tick;

	if (began < start)
		began = start;
	if (began > now)
		began = now;
	c->created.libvirt_usec = began - start;
	c->created.qemu_usec = now - began;
}

static int start_domain(struct create_job *c)
{
	usec_t start = clock_boot(c->host->clock);
	_cleanup_free_ char *xml = NULL;
	pid_t pid = 0;
	int r;

	r = describe(c, &xml);
	if (r < 0)
		return error_set_errno(&c->err, r, "Cannot describe the VM");
	r = virt_create(c->host->virt, xml, c->record.vm_id, &pid,
			&c->qemu_fd, &c->err);
	if (r < 0)
		return r;
	(void)failpoint("vmd-create-domain");
	/* Root's libvirt made it and handed it to QEMU. Should this fail, then
	 * so does the console's connect(), which is told. */
	if (c->host->privileged)
		(void)vm_user_take(c->dirfd, CONSOLE_SOCKET);
	c->created.pid = pid;
	c->record.qemu_pid = pid;
	c->record.qemu_start = child_start_time(pid);
	note_times(c, start);
	/* Too late to fail: the next vmd would kill it as an orphan, no more. */
	(void)write_down(c);
	error_clear(&c->err);
	return 0;
}

static int (*const steps[])(struct create_job *c) = {
	make_directory,
	make_disk,
	start_backend,
	start_domain,
};

/* There is no domain: it comes last. */
static void undo(struct create_job *c)
{
	struct child_end end;
	int r;

	if (c->backend_fd >= 0) {
		(void)child_kill(c->backend_fd, SIGKILL);
		(void)child_wait(c->backend_fd, USEC_INFINITY);
		(void)child_reap(c->backend_fd, &end);
		close_fd(&c->backend_fd);
	}
	/* Another VM's directory of the same name is not ours to remove. */
	if (c->dirfd < 0)
		return;
	r = host_remove_vm(c->host, c->record.vm_id);
	if (r < 0)
		(void)log_error(NULL, r, "Cannot remove the directory of '%s', "
					 "leaving it to the next start",
				c->record.vm_id);
}

static void run_create(struct job *job)
{
	struct create_job *c = JOB_OWNER(job, struct create_job, job);
	size_t i;

	c->created.queued_usec = usec_sub(clock_boot(c->host->clock),
					  c->submitted);
	(void)failpoint("vmd-create-asked");
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		c->r = steps[i](c);
		if (c->r < 0) {
			undo(c);
			return;
		}
	}
}

static void fail(struct machine *m, int r, const struct error *err)
{
	m->reason = VMD_REASON_FAILED;
	m->domain_gone = true;
	machine_enter(m, VMD_STATE_GONE);
	m->watch->created(m, r, NULL, err, m->watch_userdata);
}

static void done_create(struct job *job)
{
	struct create_job *c = JOB_OWNER(job, struct create_job, job);
	struct machine *m = c->machine;
	usec_t deadline = m->record.deadline_usec;

	(void)failpoint("vmd-create-before-answer");
	m->creating = NULL;
	m->record = c->record;
	/* It may have been moved meanwhile. */
	m->record.deadline_usec = deadline;
	if (c->r < 0) {
		(void)error_wrap(&c->err, 0, "Cannot start VM '%s'",
				 m->record.vm_id);
		fail(m, c->r, &c->err);
		job_free(c);
		return;
	}
	m->blind_from = usec_add(clock_boot(m->host->clock), DIAL_BLIND_USEC);
	machine_run(m, take_fd(c->qemu_fd), take_fd(c->backend_fd));
	if (m->reason != VMD_REASON_NONE) {
		/* Its end was asked for, or came, while it was created. */
		m->cancelled = true;
		machine_end(m, m->reason);
	} else {
		m->watch->created(m, 0, &c->created, &c->err,
				  m->watch_userdata);
	}
	job_free(c);
}

int machine_create(struct machine *m, const struct pool *pool,
		   const uint8_t nonce[VMD_NONCE_SIZE])
{
	struct create_job *c;
	int r;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->job.run = run_create;
	c->job.done = done_create;
	c->machine = m;
	c->host = m->host;
	c->record = m->record;
	c->pool = *pool;
	memcpy(c->nonce, nonce, VMD_NONCE_SIZE);
	c->submitted = clock_boot(m->host->clock);
	c->dirfd = -1;
	c->backend_fd = -1;
	c->qemu_fd = -1;
	c->err = ERROR_INIT;
	r = worker_submit(m->host->creates, &c->job);
	if (r < 0) {
		job_free(c);
		return r;
	}
	m->creating = c;
	return 0;
}
