#ifndef VMD_MACHINE_H
#define VMD_MACHINE_H

#include <stdbool.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/timer.h"
#include "vmd/child.h"
#include "vmd/console.h"
#include "vmd/host.h"
#include "vmd/machine_state.h"
#include "vmd/record.h"
#include "vmd/vmd.h"

/*
 * A VM from its create to the removal of its last trace.
 *
 * It belongs to the loop's thread. What blocks (creating, destroying, removing)
 * runs in jobs that have copies of what they need; a machine is not freed while
 * a job of it is out.
 */

struct dial;
struct create_job;

/**
 * struct machine_watch - Who wants to hear of a machine
 * @created:	It runs, or @r says why not; in the latter case it is gone
 * @gone:	Nothing of it is left; not called after a failed create
 */
struct machine_watch {
	void (*created)(struct machine *m, int r,
			const struct vmd_created *created,
			const struct error *err, void *userdata);
	void (*gone)(struct machine *m, void *userdata);
};

/**
 * struct machine - A VM
 * @record:		What is written down about it
 * @reason:		Why it ends or ended: the first that was known
 * @qemu_fd:		Holds QEMU; -1 before it runs and after its end was seen
 * @backend_fd:		Holds its vsock daemon, likewise
 * @domain_gone:	libvirt has no domain of it, or not any more
 * @destroying:		A destroy job is out
 * @removing:		A remove job is out
 * @cancelled:		Its end overtook its create, which is still to be answered
 * @died_usec:		When QEMU was seen dead, or 0
 * @ending_usec:	When the end began
 * @suspicious:		It stands still or QEMU is dead, and libvirt has a moment
 *			to say why
 * @next_try:		When destroying or removing is to be tried (again)
 * @pause_usec:		Between the last try and the next
 * @killed:		QEMU was sent SIGKILL
 * @cpu_usec:		CPU time of QEMU: the last sample, or exact at the end
 * @listens:		Its guest said so, on the console
 * @blind_from:		When it may be dialled although it did not say so
 * @retry:		Next step of ending it
 * @deadline:		Hard deadline
 */
struct machine {
	struct machine *next;
	struct host *host;
	struct record record;
	struct log_scope scope;
	const struct machine_watch *watch;
	void *watch_userdata;
	enum vmd_state state;
	enum vmd_reason reason;
	int qemu_fd;
	int backend_fd;
	sd_event_source *qemu_source;
	sd_event_source *backend_source;
	struct create_job *creating;
	bool domain_gone;
	bool destroying;
	bool removing;
	bool cancelled;
	bool freed;
	bool suspicious;
	bool killed;
	usec_t died_usec;
	usec_t ending_usec;
	usec_t next_try;
	usec_t pause_usec;
	uint64_t cpu_usec;
	bool cpu_exact;
	int wait_status;
	struct timer *retry;
	struct timer *deadline;
	struct console console;
	bool listens;
	usec_t blind_from;
	struct dial *dials;
};

/**
 * machine_new() - A machine in state CREATING, in the host's list
 * @record:	Copied
 *
 * Return: 0 or negative errno
 */
int machine_new(struct host *host, const struct record *record,
		const struct machine_watch *watch, void *userdata,
		struct machine **ret_machine);

/** machine_free() - Forget a machine; nothing may be out for it */
void machine_free(struct machine *m);

/** machine_forget() - Have it freed in the next round of the loop */
void machine_forget(struct machine *m);

/** machine_find() - By id; NULL if there is none. Gone ones are found, too */
struct machine *machine_find(const struct host *host, const char *vm_id);

/** machine_find_uuid() - By its domain's UUID */
struct machine *machine_find_uuid(const struct host *host, const char *uuid);

/**
 * machine_uses_cid() - Whether a machine that is not gone has a CID, or another
 *			with which it would be the same user (see vm_user.h)
 */
bool machine_uses_cid(const struct host *host, uint32_t cid);

/** machine_enter() - The only function that changes the state */
void machine_enter(struct machine *m, enum vmd_state to);

/**
 * machine_create() - Make it and start it, in a job
 * @pool:	What it is made of; copied
 * @nonce:	Copied, and wiped after use
 *
 * Return: 0, or negative errno: then the machine is as it was
 */
int machine_create(struct machine *m, const struct pool *pool,
		   const uint8_t nonce[VMD_NONCE_SIZE]);

/**
 * machine_run() - It has processes from here on
 * @qemu_fd:	Taken over
 * @backend_fd:	Taken over; -1 without
 *
 * Watches them, the console and the deadline. Enters RUNNING.
 */
void machine_run(struct machine *m, int qemu_fd, int backend_fd);

/**
 * machine_end() - End it, whatever it does
 * @reason:	Counts if none was known before
 *
 * Returns at once; watch.gone() is called when it is done. For a machine that
 * is being created the end follows the create.
 */
void machine_end(struct machine *m, enum vmd_reason reason);

/**
 * machine_step() - Take the next step of its end, if it is time for one
 *
 * Called whenever something changed: a timer, a death, a job that is done.
 */
void machine_step(struct machine *m);

/**
 * machine_nmi() - Interrupt it so that its kernel panics
 *
 * Returns at once; what comes of it is seen by the machine's end.
 *
 * Return: 0; -ENOENT if it does not run; another negative errno
 */
int machine_nmi(struct machine *m);

/** machine_news() - libvirt says something about it */
void machine_news(struct machine *m, enum virt_news news);

/** machine_set_deadline() - Move its hard deadline */
void machine_set_deadline(struct machine *m, usec_t deadline_usec);

/** machine_sample() - Read its CPU time, in case we cannot wait() for its end */
void machine_sample(struct machine *m);

/** machine_describe() - As in a list */
void machine_describe(const struct machine *m, struct vmd_vm *ret_vm);

/** machine_inspect() - Closely */
void machine_inspect(const struct machine *m, struct vmd_details *ret_details);

#endif
