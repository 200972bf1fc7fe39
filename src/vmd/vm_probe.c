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
#include "vmd/vm_probe.h"
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

/**
 * struct vm_probe - One that is under way
 * @began:	When the stage began that is being measured
 * @ended:	What there is to know is known; the VM's end follows
 */
struct vm_probe {
	struct host *host;
	struct machine *machine;
	enum vmd_accelerator accelerator;
	usec_t began, deadline;
	struct dial *dial;
	struct timer *timer;
	int fd;
	sd_event_source *io;
	size_t received;
	bool ended;
	struct vmd_probed probed;
	void (*done)(const struct vmd_probed *probed, void *userdata);
	void *userdata;
};

/* As in "KVM cannot run it" */
static const char *who(const struct vm_probe *p)
{
	return p->accelerator == VMD_ACCELERATOR_KVM ? "KVM" : "Emulation";
}

/* How long this stage has taken; the next begins. */
static usec_t stage_over(struct vm_probe *p)
{
	usec_t now = clock_boot(p->host->clock);
	usec_t usec = usec_sub(now, p->began);

	p->began = now;
	return usec > 0 ? usec : 1;
}

static void probe_free(struct vm_probe *p)
{
	dial_cancel(p->dial);
	sd_event_source_disable_unref(p->io);
	close_fd(&p->fd);
	timer_free(p->timer);
	free(p);
}

/* The machine's end follows, and then ours. */
static void conclude(struct vm_probe *p)
{
	p->ended = true;
	timer_clear(p->timer);
	machine_end(p->machine, VMD_REASON_DESTROYED);
}

static void conclude_failed(struct vm_probe *p, const char *what)
{
	usec_t usec = usec_sub(clock_boot(p->host->clock), p->began);

	(void)snprintf(p->probed.reason, sizeof(p->probed.reason),
		       "%s %s after %u ms", who(p), what,
		       (unsigned)(usec / USEC_PER_MSEC));
	conclude(p);
}

static void finish(struct vm_probe *p)
{
	machine_forget(p->machine);
	p->done(&p->probed, p->userdata);
	probe_free(p);
}

static void on_gone(struct machine *m, void *userdata)
{
	struct vm_probe *p = userdata;

	if (!p->ended)
		(void)snprintf(p->probed.reason, sizeof(p->probed.reason),
			       "%s %s: the VM ended (%s)", who(p),
			       p->probed.booted ? "booted it, but then" :
						  "cannot run it",
			       vmd_reason_name(m->reason));
	finish(p);
}

static void dial(struct vm_probe *p);

/* The guest has said what begins each connection. */
static void challenged(struct vm_probe *p)
{
	usec_t usec = stage_over(p);

	close_fd(&p->fd);
	p->received = 0;
	if (!p->probed.booted) {
		p->probed.booted = 1;
		p->probed.boot_usec = usec;
		(void)snprintf(p->probed.reason, sizeof(p->probed.reason),
			       "it booted after %u ms",
			       (unsigned)(usec / USEC_PER_MSEC));
		dial(p);
		return;
	}
	p->probed.echo_usec = usec;
	conclude(p);
}

static int on_challenge(sd_event_source *source, int fd, uint32_t revents,
			void *userdata)
{
	char bytes[PROBE_CHALLENGE_SIZE];
	struct vm_probe *p = userdata;
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
		challenged(p);
	else
		conclude_failed(p, "ran it, and its guest hung up");
	return 0;
}

static void on_dialled(struct dial *dialled, int r, int fd, unsigned attempts,
		       usec_t usec, void *userdata)
{
	struct vm_probe *p = userdata;

	(void)dialled;
	(void)attempts;
	(void)usec;
	p->dial = NULL;
	if (r < 0)
		return;		/* the timer, or the machine's end, tells */
	p->fd = fd;
	r = event_add_io(p->host->event, fd, EPOLLIN, on_challenge, p,
			 "vm-probe", &p->io);
	if (r < 0)
		conclude_failed(p, "could not be tried");
}

static void dial(struct vm_probe *p)
{
	if (dial_start(p->machine, p->deadline, on_dialled, p, &p->dial) < 0)
		conclude_failed(p, "could not be tried");
}

static void on_timer(struct timer *timer, void *userdata)
{
	struct vm_probe *p = userdata;

	if (clock_boot(p->host->clock) >= p->deadline)
		conclude_failed(p, p->probed.booted ?
					   "booted it, but it fell silent" :
					   "did not boot it in time");
	else if (p->machine->console.total == 0)
		conclude_failed(p, "cannot run it: nothing came from it");
	else
		timer_set(timer, p->deadline);
}

static void on_created(struct machine *m, int r,
		       const struct vmd_created *created,
		       const struct error *err, void *userdata)
{
	struct vm_probe *p = userdata;
	bool kvm = p->accelerator == VMD_ACCELERATOR_KVM;

	(void)m;
	(void)created;
	if (r < 0) {
		(void)log_warning(NULL, 0, "%s", err->message);
		(void)snprintf(p->probed.reason, sizeof(p->probed.reason),
			       "%s cannot run it: QEMU did not start", who(p));
		finish(p);
		return;
	}
	p->probed.create_usec = stage_over(p);
	p->deadline = usec_add(p->began,
			       settings_usec(p->host->settings, "hypervisor",
					     kvm ? "kvm_probe_timeout" :
						   "boot_timeout"));
	/* Whoever emulates is slow to say the first word, too. */
	timer_set(p->timer, kvm ? usec_add(p->began, PROBE_SILENCE_USEC) :
				  p->deadline);
	dial(p);
}

static int make_machine(struct vm_probe *p, const struct pool *pool)
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
	record.accelerator = p->accelerator;
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

int vm_probe_start(struct host *host, const struct pool *pool,
		   enum vmd_accelerator accelerator,
		   void (*done)(const struct vmd_probed *probed,
				void *userdata),
		   void *userdata)
{
	struct vm_probe *p;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->host = host;
	p->accelerator = accelerator;
	p->began = clock_boot(host->clock);
	p->fd = -1;
	p->done = done;
	p->userdata = userdata;
	r = timer_new(host->event, host->clock, "vm-probe", on_timer, p,
		      &p->timer);
	if (r >= 0)
		r = make_machine(p, pool);
	if (r < 0)
		probe_free(p);
	return r;
}
