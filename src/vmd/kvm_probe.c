#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/event.h"
#include "base/id.h"
#include "base/timer.h"
#include "vmd/dial.h"
#include "vmd/kvm_probe.h"
#include "vmd/machine.h"

/*
 * A kernel that KVM cannot run shows it in two ways: KVM reports an internal
 * error, which pauses the VM, and the machine ends as crashed; or the virtual
 * CPU spins for ever. In the latter case nothing comes on the console either,
 * where a kernel that does run says its version within a fraction of a second.
 * So silence ends the probe long before the timeout, which has to be generous
 * for the sake of hosts that are busy.
 */

#define PROBE_SILENCE_USEC (4 * USEC_PER_SEC)

/* What a guest says first on any connection */
#define PROBE_CHALLENGE_SIZE 32

/* Below the CIDs of VMs: one of these, drawn at random */
#define PROBE_CID_FIRST 0x8000
#define PROBE_CID_COUNT 0x8000

struct kvm_probe {
	struct host *host;
	struct machine *machine;
	usec_t began, deadline;
	struct dial *dial;
	struct timer *timer;
	int fd;
	sd_event_source *io;
	size_t received;
	bool booted;
	char reason[VMD_MESSAGE_MAX];
	void (*done)(bool booted, const char *reason, void *userdata);
	void *userdata;
};

static void probe_free(struct kvm_probe *p)
{
	dial_cancel(p->dial);
	sd_event_source_disable_unref(p->io);
	close_fd(&p->fd);
	timer_free(p->timer);
	free(p);
}

/* The machine's end follows, and then ours. */
static void conclude(struct kvm_probe *p, bool booted, const char *reason)
{
	usec_t usec = usec_sub(clock_boot(p->host->clock), p->began);

	p->booted = booted;
	(void)snprintf(p->reason, sizeof(p->reason), "%s after %u ms", reason,
		       (unsigned)(usec / USEC_PER_MSEC));
	timer_clear(p->timer);
	machine_end(p->machine, VMD_REASON_DESTROYED);
}

static void finish(struct kvm_probe *p)
{
	machine_forget(p->machine);
	p->done(p->booted, p->reason, p->userdata);
	probe_free(p);
}

static void on_gone(struct machine *m, void *userdata)
{
	struct kvm_probe *p = userdata;

	if (p->reason[0] == '\0')
		(void)snprintf(p->reason, sizeof(p->reason),
			       "KVM cannot run it: the VM ended (%s)",
			       vmd_reason_name(m->reason));
	finish(p);
}

static int on_challenge(sd_event_source *source, int fd, uint32_t revents,
			void *userdata)
{
	char bytes[PROBE_CHALLENGE_SIZE];
	struct kvm_probe *p = userdata;
	ssize_t n;

	(void)source;
	(void)revents;
	n = recv(fd, bytes, sizeof(bytes) - p->received, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0)
		p->received += (size_t)n;
	if (n > 0 && p->received < PROBE_CHALLENGE_SIZE)
		return 0;
	p->io = sd_event_source_disable_unref(p->io);
	if (n > 0)
		conclude(p, true, "it booted");
	else
		conclude(p, false, "its guest hung up");
	return 0;
}

static void on_dialled(struct dial *dial, int r, int fd, unsigned attempts,
		       usec_t usec, void *userdata)
{
	struct kvm_probe *p = userdata;

	(void)dial;
	(void)attempts;
	(void)usec;
	p->dial = NULL;
	if (r < 0)
		return;		/* the timer, or the machine's end, tells */
	p->fd = fd;
	r = event_add_io(p->host->event, fd, EPOLLIN, on_challenge, p,
			 "kvm-probe", &p->io);
	if (r < 0)
		conclude(p, false, "it could not be tried");
}

static void on_timer(struct timer *timer, void *userdata)
{
	struct kvm_probe *p = userdata;

	if (clock_boot(p->host->clock) >= p->deadline)
		conclude(p, false, "KVM did not boot it in time");
	else if (p->machine->console.total == 0)
		conclude(p, false, "KVM cannot run it: nothing came from it");
	else
		timer_set(timer, p->deadline);
}

static void on_created(struct machine *m, int r,
		       const struct vmd_created *created,
		       const struct error *err, void *userdata)
{
	struct kvm_probe *p = userdata;
	usec_t now = clock_boot(p->host->clock);

	(void)created;
	if (r < 0) {
		(void)log_warning(NULL, 0, "%s", err->message);
		(void)snprintf(p->reason, sizeof(p->reason),
			       "KVM cannot run it: QEMU did not start");
		finish(p);
		return;
	}
	p->began = now;
	p->deadline = usec_add(now, settings_usec(p->host->settings,
						  "hypervisor",
						  "kvm_probe_timeout"));
	timer_set(p->timer, usec_add(now, PROBE_SILENCE_USEC));
	r = dial_start(m, p->deadline, on_dialled, p, &p->dial);
	if (r < 0)
		conclude(p, false, "it could not be tried");
}

static int make_machine(struct kvm_probe *p, const struct pool *pool)
{
	static const struct machine_watch watch = {
		.created = on_created,
		.gone = on_gone,
	};
	uint8_t nonce[VMD_NONCE_SIZE];
	struct record record;
	char id[ID_SIZE];
	uint16_t random;
	int r;

	r = id_new(ID_VM, id);
	if (r >= 0)
		r = random_bytes(nonce, sizeof(nonce));
	if (r >= 0)
		r = random_bytes(&random, sizeof(random));
	if (r >= 0)
		r = record_fill(&record, p->host, pool, id);
	if (r < 0)
		return r;
	record.hidden = 1;
	record.accelerator = VMD_ACCELERATOR_KVM;
	record.cid = PROBE_CID_FIRST + random % PROBE_CID_COUNT;
	record.deadline_usec = USEC_INFINITY;
	r = machine_new(p->host, &record, &watch, p, &p->machine);
	if (r < 0)
		return r;
	r = machine_create(p->machine, pool, nonce);
	if (r < 0)
		machine_free(p->machine);
	return r;
}

int kvm_probe_start(struct host *host, const struct pool *pool,
		    void (*done)(bool booted, const char *reason,
				 void *userdata),
		    void *userdata)
{
	struct kvm_probe *p;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->host = host;
	p->fd = -1;
	p->done = done;
	p->userdata = userdata;
	r = timer_new(host->event, host->clock, "kvm-probe", on_timer, p,
		      &p->timer);
	if (r >= 0)
		r = make_machine(p, pool);
	if (r < 0)
		probe_free(p);
	return r;
}
