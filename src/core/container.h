/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CONTAINER_H
#define CORE_CONTAINER_H

/*
 * A container that has a session. Those that ended are rows of the store only,
 * and all that reads them is in container_read.c.
 *
 * The container decides for its session: the reaper, executions, the VM and the
 * operator only ask it. So an execution that arrives at the idle limit is
 * either accepted, and no idle limit ends it, or refused with the reason.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/core_priv.h"
#include "core/end_reason.h"
#include "core/exec.h"
#include "core/session_state.h"

/* The digest of what makes a handle, in hex, and NUL; see handle.h */
#define CONTAINER_HANDLE_SIZE (2 * HASH_SIZE + 1)

struct create;
struct guest_xfer;
struct pull;
struct vm;

/* A file that breaks off so often is not tried again. */
#define CONTAINER_PLACING_TRIES 5

/* The files of a session that ends are fetched for at most this long. */
#define CONTAINER_HARVEST_USEC (10 * USEC_PER_SEC)

/* When what could not be sent for want of memory is tried again. */
#define CONTAINER_PUMP_USEC USEC_PER_SEC

/**
 * struct staged - A file that must be in the guest before any execution
 * @cfile_id:	Its row
 * @placed:	It is there; the list stays whole until all are
 */
struct staged {
	TAILQ_ENTRY(staged) next;
	char cfile_id[ID_SIZE];
	char path[WIRE_PATH_MAX + 1]; /* below /mnt/data */
	uint8_t sha256[HASH_SIZE];
	uint64_t bytes;
	bool placed;
};

TAILQ_HEAD(staged_list, staged);

struct container {
	struct core *core;
	struct gc_node buried;
	struct map_node node;
	struct map_node by_handle;
	char id[ID_SIZE];
	char handle[CONTAINER_HANDLE_SIZE]; /* empty: has none, or no more */
	struct log_scope scope;

	struct tenant *tenant;
	char key_id[ID_SIZE];
	char name[STORE_NAME_SIZE];
	char origin[STORE_NAME_SIZE];
	enum core_dialect dialect;
	unsigned idle_minutes;
	enum memory_tier memory; /* asked for */
	uint32_t memory_mib;     /* its VM's */
	struct pool *pool;
	char image[STORE_IMAGE_SIZE];
	usec_t created_usec; /* wall */
	usec_t asked_usec;   /* boot; 0: of an earlier daemon, or told */
	enum claim found;    /* by its create */

	enum session_state_view state; /* session_enter() writes it */
	enum end_reason reason;
	usec_t ended_usec; /* wall */
	bool erased;       /* deleted: nobody but the operator sees it */
	struct vm *vm;
	unsigned kernel_epoch;

	/* container_row.c: what could not be written down yet */
	struct owed owed;
	bool owes_row;
	bool owes_assigned;

	/* container_create.c: who asked for it while it was ACCEPTED */
	struct create *waiting;

	/* reaper.c */
	usec_t idle_usec;
	usec_t active_boot; /* last activity */
	usec_t active_wall;
	unsigned uploads; /* on their way: the idle clock stands */
	usec_t warned_idle; /* the deadline that was warned of */
	usec_t warned_hard;
	struct timer *limit;

	/* container_exec.c */
	struct exec_list queue;
	unsigned queued;
	struct exec *running;
	struct exec_list unreleased; /* over here, kept by the guest */
	unsigned unreleased_count;
	uint32_t next_number;

	/* placing.c */
	struct staged_list staged;
	struct guest_xfer *placing;
	unsigned placing_lost; /* tries of the first one, in a row */

	/* harvest.c */
	struct pull *harvest;
	struct timer *pump; /* to try again what could not be sent */
	struct timer *harvest_deadline;
	bool harvesting; /* the timer's next is the deadline */
	usec_t harvest_since; /* boot; 0: none is under way */

	/* The execution that ended last, if this daemon knows it */
	char last_exec[ID_SIZE];
	enum exec_status last_status;
	usec_t last_ended_usec; /* wall */

	struct usage_view usage;
	usec_t assigned_usec; /* as long as there is no VM to tell */
	usec_t metered_usec;  /* by budget.c, from then on; 0: not; wall */
	uint64_t executing_usec;
	uint64_t cpu_usec;
};

/* container_pool.c: where it is made */

/** container_pool_find() - The pool that a spec asks for, if it can serve now */
int container_pool_find(struct core *core, const struct container_spec *spec,
			struct pool **ret, struct error *err);

/** container_pool_moved_on() - Return: the refusal of a pin to another image */
int container_pool_moved_on(const struct pool *pool, const char *image,
			    struct error *err);

/** container_pool_unserved() - Return: the refusal while vmd is not there */
int container_pool_unserved(struct error *err);

/* container.c: life; container_row.c: its row */

int container_new(struct core *core, const struct container_spec *spec,
		  const struct principal *who, struct pool *pool,
		  struct container **ret, struct error *err);
int container_restore(struct core *core, const struct store_container *row,
		      struct container **ret);

/** container_put_row() - Write its row as it is now */
void container_put_row(const struct container *c, struct store_batch *batch);

/**
 * container_save() - The same in a batch of its own that nobody waits for
 *
 * This and the two below try again until it is written.
 */
void container_save(struct container *c);

/** container_save_assigned() - That its VM is its own from now on */
void container_save_assigned(struct container *c);

/** container_save_end() - That it has ended; then it is buried */
void container_save_end(struct container *c);

/** container_bury() - Its end is durable: nobody needs the object any more */
void container_bury(struct container *c);

/** container_begin() - Its intent is durable: get on with it */
void container_begin(struct container *c);

/** container_forget() - Its intent could not be written: it never was */
void container_forget(struct container *c);

/** container_end() - End the session; only the first reason counts */
void container_end(struct container *c, enum end_reason reason);

/** reason_harvests() - Whether the last files are worth waiting for */
bool reason_harvests(enum end_reason reason);

/** container_harvest() - It has stopped: fetch its last files */
void container_harvest(struct container *c);

/** container_destroy_vm() - The harvest is over or given up */
void container_destroy_vm(struct container *c);

/* What its VM tells a container. */
void container_vm_ready(struct container *c);
void container_link_lost(struct container *c);
void container_vm_gone(struct container *c, uint64_t cpu_usec);
void container_sample(struct container *c, uint64_t cpu_usec);

/** container_placed() - All files are in the guest */
void container_placed(struct container *c);

/** session_set_executing() - Between RUNNING and EXECUTING */
void session_set_executing(struct container *c, bool executing);

/** container_free() - One that is in nobody's hands; NULL is fine */
void container_free(void *container);
void container_free_all(struct core *core);

/* container_read.c */

/**
 * container_find() - A live container of a tenant
 *
 * Return: 0; ERR_NOT_FOUND, with reason "container_expired" if it ended
 */
int container_find(struct core *core, const struct principal *who,
		   const char *id, struct container **ret, struct error *err);

/** container_check() - Whether a tenant has such a container, live or ended */
int container_check(struct core *core, const struct principal *who,
		    const char *id, struct error *err);

void container_fill_view(const struct container *c, struct container_view *ret);

/** container_view_of_row() - The same of one that ended */
void container_view_of_row(const struct store_container *row,
			   struct container_view *ret);

/* container_exec.c: turns of executions */

/** container_exec_add() - Queue an accepted execution and see to it */
void container_exec_add(struct container *c, struct exec *e);

/** container_exec_remove() - One that waits and was never accepted */
void container_exec_remove(struct container *c, struct exec *e);

/** container_pump() - Start what can be started */
void container_pump(struct container *c);

/** container_init_pump() - Be able to pump again; Return: 0 or negative errno */
int container_init_pump(struct container *c);

/** container_exec_over() - The running execution is over in the guest */
void container_exec_over(struct container *c, struct exec *e);

/** container_exec_saved() - Its record is on the disk */
void container_exec_saved(struct container *c, struct exec *e);

/**
 * container_lose_execs() - All that run or wait end as session_lost
 *
 * One that is over in the guest, with files being fetched, goes on: what it
 * came to is known.
 */
void container_lose_execs(struct container *c);

/** container_restore_exec() - One that an earlier daemon had accepted */
void container_restore_exec(struct container *c, struct exec *e);

/** container_detach_execs() - The container goes before they do */
void container_detach_execs(struct container *c);

/** container_greeted() - The guest says which executions it keeps */
int container_greeted(struct container *c, const struct message_hello *hello,
		      struct error *err);

/** container_exec_frame() - A frame about an execution */
int container_exec_frame(struct container *c, const struct frame *f,
			 struct error *err);

/* reaper.c: limits */

int reaper_init(struct container *c);

/** reaper_touch() - Activity of the owner */
void reaper_touch(struct container *c);

/** reaper_touch_by_id() - The same, if a container of that id lives */
void reaper_touch_by_id(struct core *core, const char *container);

/** reaper_check() - Look when the next limit is due, or end it now */
void reaper_check(struct container *c);

/** reaper_idle_deadline() - On the boot clock; USEC_INFINITY while it stands */
usec_t reaper_idle_deadline(const struct container *c);
usec_t reaper_hard_deadline(const struct container *c);

/* stage.c: the files that a create names */

/** stage_files() - Write their rows, and have them placed later */
int stage_files(struct container *c, const struct principal *who,
		const struct container_spec *spec, struct store_batch *batch,
		struct error *err);

/* placing.c: files on their way into the guest */

int staged_add(struct container *c, const char *cfile_id, const char *path,
	       const uint8_t sha256[HASH_SIZE], uint64_t bytes);
void staged_remove(struct container *c, const char *cfile_id);
void staged_clear(struct container *c);

/** staged_forbids() - Whether one is a folder of @path, or the other way round */
bool staged_forbids(const struct container *c, const char *path);

/** placing_next() - Put the next staged file, or say that all are there */
void placing_next(struct container *c);

/* harvest.c: the last files of a session that ends */

/** harvest_start() - Return: false if there is no guest to ask */
bool harvest_start(struct container *c);

/** harvest_frame() - CHANGED and QUIESCED */
int harvest_frame(struct container *c, const struct frame *f,
		  struct error *err);
void harvest_stop(struct container *c);

#endif
