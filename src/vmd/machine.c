#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "vmd/dial.h"
#include "vmd/machine.h"
#include "vmd/scratch.h"
#include "vmd/vm_user.h"

enum {
	/* Machines that are gone and still known, for console and reason */
	MACHINES_GONE_MAX = 64,
};

static void on_deadline(struct timer *timer, void *userdata)
{
	struct machine *m = userdata;

	(void)timer;
	log_info(&m->scope, "VM is at its hard deadline");
	machine_end(m, VMD_REASON_DEADLINE);
}

static void on_retry(struct timer *timer, void *userdata)
{
	(void)timer;
	machine_step(userdata);
}

static int make_timers(struct machine *m)
{
	struct host *host = m->host;
	int r;

	r = timer_new(host->event, host->clock, "vm-retry", on_retry, m,
		      &m->retry);
	if (r < 0)
		return r;
	return timer_new(host->event, host->clock, "vm-deadline", on_deadline,
			 m, &m->deadline);
}

static void on_listening(void *userdata)
{
	struct machine *m = userdata;

	m->listens = true;
	dial_hurry(m);
}

int machine_new(struct host *host, const struct record *record,
		const struct machine_watch *watch, void *userdata,
		struct machine **ret_machine)
{
	struct machine *m;
	int r;

	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->host = host;
	m->record = *record;
	m->scope.vm_name = m->record.vm_id;
	m->watch = watch;
	m->watch_userdata = userdata;
	m->qemu_fd = -1;
	m->backend_fd = -1;
	m->cpu_usec = VMD_UNKNOWN;
	m->console = CONSOLE_INIT;
	console_await(&m->console, GUEST_LISTENS, on_listening, m);
	r = make_timers(m);
	if (r < 0) {
		timer_free(m->retry);
		free(m);
		return r;
	}
	m->next = host->machines;
	host->machines = m;
	*ret_machine = m;
	return 0;
}

void machine_free(struct machine *m)
{
	struct machine **at;

	assert(!m->creating && !m->destroying && !m->removing);
	for (at = &m->host->machines; *at; at = &(*at)->next)
		if (*at == m) {
			*at = m->next;
			break;
		}
	dial_fail_all(m);
	sd_event_source_disable_unref(m->qemu_source);
	sd_event_source_disable_unref(m->backend_source);
	close_fd(&m->qemu_fd);
	close_fd(&m->backend_fd);
	timer_free(m->retry);
	timer_free(m->deadline);
	console_done(&m->console);
	free(m);
}

static int on_gc(sd_event_source *source, void *userdata)
{
	struct host *host = userdata;
	struct machine *m, *next;

	(void)source;
	for (m = host->machines; m; m = next) {
		next = m->next;
		if (m->freed)
			machine_free(m);
	}
	return 0;
}

void machine_forget(struct machine *m)
{
	struct host *host = m->host;

	m->freed = true;
	/* If that fails the machine stays in the list, and is found by none. */
	if (!host->gc &&
	    event_add_defer(host->event, on_gc, host, "vm-gc", &host->gc) < 0)
		return;
	(void)sd_event_source_set_enabled(host->gc, SD_EVENT_ONESHOT);
}

struct machine *machine_find(const struct host *host, const char *vm_id)
{
	struct machine *m;

	for (m = host->machines; m; m = m->next)
		if (!m->freed && strcmp(m->record.vm_id, vm_id) == 0)
			return m;
	return NULL;
}

struct machine *machine_find_uuid(const struct host *host, const char *uuid)
{
	struct machine *m;

	for (m = host->machines; m; m = m->next)
		if (!m->freed && strcmp(m->record.uuid, uuid) == 0)
			return m;
	return NULL;
}

bool machine_uses_cid(const struct host *host, uint32_t cid)
{
	struct machine *m;

	/* The same CID has the same user; of far ones two may have it, too. */
	for (m = host->machines; m; m = m->next)
		if (!m->freed && m->state != VMD_STATE_GONE &&
		    vm_user_uid(m->record.cid) == vm_user_uid(cid))
			return true;
	return false;
}

/* The list has the newest machine first, so what is far down goes. */
static void forget_old(struct host *host)
{
	struct machine *m;
	unsigned gone = 0;

	for (m = host->machines; m; m = m->next)
		if (!m->freed && !m->destroying &&
		    m->state == VMD_STATE_GONE && ++gone > MACHINES_GONE_MAX)
			machine_forget(m);
}

void machine_enter(struct machine *m, enum vmd_state to)
{
	assert(machine_state_may_follow(m->state, to));
	log_debug(&m->scope, "VM: %s -> %s", vmd_state_name(m->state),
		  vmd_state_name(to));
	m->state = to;
	if (to == VMD_STATE_STOPPING || to == VMD_STATE_GONE) {
		timer_clear(m->deadline);
		dial_fail_all(m);
	}
	if (to == VMD_STATE_GONE) {
		timer_clear(m->retry);
		console_disconnect(&m->console);
		forget_old(m->host);
	}
}

void machine_set_deadline(struct machine *m, usec_t deadline_usec)
{
	int dirfd;

	m->record.deadline_usec = deadline_usec;
	if (m->state != VMD_STATE_RUNNING)
		return;
	timer_set(m->deadline, deadline_usec);
	dirfd = fs_open_dir(m->host->vm_fd, m->record.vm_id);
	if (dirfd >= 0) {
		int r = record_write(dirfd, &m->record);

		if (r < 0)
			(void)log_warning(&m->scope, r,
					  "A restart would forget the VM's "
					  "new deadline, ignoring");
	}
	close_fd(&dirfd);
}

void machine_sample(struct machine *m)
{
	uint64_t cpu;

	if (m->qemu_fd < 0)
		return;
	cpu = child_cpu_usec(m->record.qemu_pid);
	if (cpu != UINT64_MAX)
		m->cpu_usec = cpu;
}

/* VMD_PART_* that are there now */
static uint32_t machine_parts(const struct machine *m)
{
	const char *vm_id = m->record.vm_id;
	uint32_t parts = 0;
	char disk[VMD_ID_MAX + sizeof("/" SCRATCH_FILE)];

	if (m->qemu_fd >= 0 && child_is_alive(m->qemu_fd))
		parts |= VMD_PART_PROCESS;
	if (m->backend_fd >= 0 && child_is_alive(m->backend_fd))
		parts |= VMD_PART_BACKEND;
	if (!m->domain_gone && m->state != VMD_STATE_CREATING)
		parts |= VMD_PART_DOMAIN;
	if (faccessat(m->host->vm_fd, vm_id, F_OK, 0) == 0)
		parts |= VMD_PART_DIRECTORY;
	(void)snprintf(disk, sizeof(disk), "%s/" SCRATCH_FILE, vm_id);
	if (faccessat(m->host->vm_fd, disk, F_OK, 0) == 0)
		parts |= VMD_PART_DISK;
	return parts;
}

void machine_describe(const struct machine *m, struct vmd_vm *ret_vm)
{
	const struct record *record = &m->record;
	uint64_t cpu = m->cpu_usec;

	memset(ret_vm, 0, sizeof(*ret_vm));
	strcpy(ret_vm->vm_id, record->vm_id);
	strcpy(ret_vm->pool, record->pool);
	ret_vm->cid = record->cid;
	ret_vm->state = m->state;
	ret_vm->reason = m->reason;
	ret_vm->parts = machine_parts(m);
	if (m->qemu_fd >= 0) {
		ret_vm->pid = record->qemu_pid;
		cpu = child_cpu_usec(record->qemu_pid);
	}
	if (m->backend_fd >= 0)
		ret_vm->backend_pid = record->backend_pid;
	ret_vm->accelerator = record->accelerator;
	ret_vm->vsock = record->vsock;
	ret_vm->created_usec = record->created_usec;
	ret_vm->deadline_usec = record->deadline_usec;
	ret_vm->cpu_usec = cpu != UINT64_MAX ? cpu : m->cpu_usec;
}

static uint64_t disk_used(const struct machine *m)
{
	char path[VMD_ID_MAX + sizeof("/" SCRATCH_FILE)];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/" SCRATCH_FILE,
		       m->record.vm_id);
	if (fstatat(m->host->vm_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return VMD_UNKNOWN;
	return (uint64_t)st.st_blocks * 512;
}

void machine_inspect(const struct machine *m, struct vmd_details *ret_details)
{
	const struct record *record = &m->record;

	memset(ret_details, 0, sizeof(*ret_details));
	machine_describe(m, &ret_details->vm);
	strcpy(ret_details->image, record->image);
	strcpy(ret_details->digest, record->digest);
	ret_details->memory_mib = record->memory_mib;
	ret_details->vcpus = record->vcpus;
	ret_details->disk_bytes = record->disk_bytes;
	ret_details->disk_used_bytes = disk_used(m);
	ret_details->rss_bytes = VMD_UNKNOWN;
	if (m->qemu_fd >= 0)
		ret_details->rss_bytes = child_rss_bytes(record->qemu_pid);
}
