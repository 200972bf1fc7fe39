#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/id.h"
#include "vmd/adopt.h"
#include "vmd/child.h"

struct adoption {
	struct host *host;
	const struct virt_domain *domains;
	size_t count;
	const struct machine_watch *watch;
	void *userdata;
	unsigned orphans;
};

static const struct virt_domain *find_domain(const struct adoption *a,
					     const char *uuid)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (strcmp(a->domains[i].uuid, uuid) == 0)
			return &a->domains[i];
	return NULL;
}

/*
 * An earlier vmd may have been killed between libvirt's create and its own
 * record of the pid; libvirt's pid file then knows it. If libvirt was killed
 * before it wrote down anything, QEMU's command line is the only trace.
 */
static int hold_qemu(const struct adoption *a, struct record *record,
		     bool has_domain)
{
	pid_t pid = 0;
	int fd = -1;

	if (record->qemu_pid != 0) {
		fd = child_find(record->qemu_pid, record->qemu_start);
		return fd < 0 ? -1 : fd;
	}
	if (!has_domain)
		fd = child_find_by_argument(record->uuid, &pid);
	else if (virt_hold(a->host->virt, record->vm_id, &pid, &fd) < 0)
		fd = -1;
	if (fd < 0)
		return -1;
	record->qemu_pid = pid;
	record->qemu_start = child_start_time(pid);
	return fd;
}

/* Its name is its group's; no other argument of any process is that alone. */
static int hold_backend(struct record *record)
{
	pid_t pid = 0;
	int fd = -1;

	if (record->backend_pid != 0)
		fd = child_find(record->backend_pid, record->backend_start);
	else if (record->vsock == VMD_VSOCK_USER)
		fd = child_find_by_argument(record->vm_id, &pid);
	if (fd < 0)
		return -1;
	if (record->backend_pid == 0) {
		record->backend_pid = pid;
		record->backend_start = child_start_time(pid);
	}
	return fd;
}

/* Why a VM that was found cannot go on, or NONE if it is whole. */
static enum vmd_reason judge(const struct record *record,
			     const struct virt_domain *domain, int qemu_fd,
			     int backend_fd)
{
	if (record->hidden)
		return VMD_REASON_ABANDONED;
	/* A zombie that init has not reaped yet can be held, too. */
	if (qemu_fd < 0 || !child_is_alive(qemu_fd))
		return record->qemu_pid ? VMD_REASON_CRASHED :
					  VMD_REASON_ABANDONED;
	if (!domain)
		return VMD_REASON_EXTERNAL;
	if (domain->paused)
		return VMD_REASON_CRASHED;
	if (record->vsock == VMD_VSOCK_USER && backend_fd < 0)
		return VMD_REASON_BACKEND;
	return VMD_REASON_NONE;
}

/* Nobody asked for a probe that an earlier vmd began. */
static void probe_created(struct machine *m, int r,
			  const struct vmd_created *created,
			  const struct error *err, void *userdata)
{
	(void)m;
	(void)r;
	(void)created;
	(void)err;
	(void)userdata;
}

static void probe_gone(struct machine *m, void *userdata)
{
	(void)userdata;
	machine_forget(m);
}

static const struct machine_watch probe_watch = {
	.created = probe_created,
	.gone = probe_gone,
};

static void adopt(struct adoption *a, const struct record *found)
{
	const struct virt_domain *domain = find_domain(a, found->uuid);
	bool created = found->qemu_pid != 0;
	struct record record = *found;
	enum vmd_reason reason;
	int qemu_fd, backend_fd, r;
	struct machine *m;

	qemu_fd = hold_qemu(a, &record, domain != NULL);
	backend_fd = hold_backend(&record);
	reason = judge(&record, domain, qemu_fd, backend_fd);
	/* Nobody knows whether its disks were limited yet. */
	if (reason == VMD_REASON_NONE && !created)
		reason = VMD_REASON_ABANDONED;
	(void)failpoint("vmd-restart-found");
	r = machine_new(a->host, &record,
			record.hidden ? &probe_watch : a->watch, a->userdata,
			&m);
	if (r < 0) {
		(void)log_error(NULL, r, "Cannot take VM '%s' over",
				record.vm_id);
		close_fd(&qemu_fd);
		close_fd(&backend_fd);
		return;
	}
	m->domain_gone = !domain;
	machine_run(m, qemu_fd, backend_fd);
	if (reason == VMD_REASON_NONE) {
		log_info(&m->scope, "VM is found again");
		return;
	}
	log_warning(&m->scope, 0, "VM is not whole, ending it: %s",
		    vmd_reason_name(reason));
	a->orphans++;
	machine_end(m, reason);
}

/* One entry of STATE/vm. */
static void adopt_directory(struct adoption *a, const char *name)
{
	_cleanup_close_ int dirfd = -1;
	struct record record;
	int r;

	dirfd = fs_open_dir(a->host->vm_fd, name);
	r = dirfd < 0 ? dirfd :
			record_read(dirfd, a->host->boot_id, &record);
	if (r >= 0 && strcmp(record.vm_id, name) == 0) {
		adopt(a, &record);
		return;
	}
	/* Begun and not written down, or of another boot: nothing runs. */
	a->orphans++;
	r = host_remove_vm(a->host, name);
	if (r < 0)
		(void)log_error(NULL, r, "Cannot remove what is left of '%s'",
				name);
	else
		log_info(NULL, "Removed what was left of '%s'", name);
}

static void adopt_directories(struct adoption *a)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int fd;

	fd = fs_open_dir(a->host->vm_fd, ".");
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		close_fd(&fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (id_is(ID_VM, entry->d_name))
			adopt_directory(a, entry->d_name);
		else
			log_warning(NULL, 0,
				    "'%s' lies among the VMs and is none, "
				    "leaving it", entry->d_name);
	}
}

/* A domain without a directory: it bears our mark, so it is ours to end. */
static void adopt_stray(struct adoption *a, const struct virt_domain *domain)
{
	struct record record = { .version = RECORD_VERSION };

	if (machine_find_uuid(a->host, domain->uuid))
		return;
	strcpy(record.boot_id, a->host->boot_id);
	strcpy(record.uuid, domain->uuid);
	strcpy(record.vm_id, domain->vm_id);
	record.vsock = a->host->vsock;
	record.deadline_usec = USEC_INFINITY;
	adopt(a, &record);
}

unsigned adopt_all(struct host *host, const struct virt_domain *domains,
		   size_t count, const struct machine_watch *watch,
		   void *userdata)
{
	struct adoption a = {
		.host = host,
		.domains = domains,
		.count = count,
		.watch = watch,
		.userdata = userdata,
	};
	size_t i;

	adopt_directories(&a);
	for (i = 0; i < count; i++)
		adopt_stray(&a, &domains[i]);
	return a.orphans;
}
