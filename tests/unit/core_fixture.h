/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_CORE_FIXTURE_H
#define CUPOLA_TESTS_CORE_FIXTURE_H

/*
 * A whole core on a real store in a directory of its own, with a scripted
 * hypervisor process and scripted guests, all in one loop, and a clock that
 * stands still unless a test lets time pass.
 */

#include "scripted_vmd.h"
#include "test.h"

#include "base/clock.h"
#include "base/settings.h"
#include "core/core.h"
#include "store/store.h"
#include "vmd/vmd.h"

/* Real time that anything may take before a test gives up. */
#define FIXTURE_PATIENCE_USEC (20 * USEC_PER_SEC)

struct fixture {
	char dir[64];
	sd_event *event;
	struct clock *clock;
	struct settings *settings;
	struct blobs *blobs;
	struct store *store;
	struct vmd_client *client;
	struct scripted_vmd vmd;
	int remote; /* socket of one in another process; 0: that of ours */
	char proc[80]; /* what the kernel says of the host; "": nothing yet */
	struct core *core;
	bool ready;
	struct principal who;
};

/** struct answer - What a callback of core said; strings are copies */
struct answer {
	bool called;
	bool failed;
	struct error err;
	char id[ID_SIZE];
	char text[8192];
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/** fixture_set() - A setting; before fixture_start() */
void fixture_set(struct fixture *fx, const char *assignment);

/**
 * fixture_host() - Let the host have as much memory, and its CPUs that pressure
 *
 * Before fixture_start() for the first time, then at any time; without it the
 * host is this machine.
 */
void fixture_host(struct fixture *fx, unsigned memory_mib, unsigned pressure);

/** fixture_start() - Begin, and wait until core is ready */
void fixture_start(struct fixture *fx);

/** fixture_kill() - As kill -9 does: what is on the disk stays, VMs stay */
void fixture_kill(struct fixture *fx);

void fixture_connect(struct fixture *fx);

/** fixture_turn() - One round of the loop, waiting shortly for an event */
void fixture_turn(struct fixture *fx);

/** fixture_settle() - Rounds until nothing happens, all commits included */
void fixture_settle(struct fixture *fx);

/** fixture_note() - The same, and what has begun is written as that */
void fixture_note(struct fixture *fx);

/** fixture_release() - The same, and what waits to go along goes alone */
void fixture_release(struct fixture *fx);

#define RUN_UNTIL(fx, condition)                                        \
	do {                                                            \
		usec_t run_end = fixture_now() + FIXTURE_PATIENCE_USEC; \
		while (!(condition)) {                                  \
			if (fixture_now() > run_end)                    \
				fail_msg("never: %s", #condition);      \
			fixture_turn(fx);                               \
		}                                                       \
	} while (0)

usec_t fixture_now(void);

/* Callbacks that fill in a struct answer. */
void on_container(void *userdata, const struct container_view *container,
		  const struct error *err);
void on_exec(void *userdata, const struct exec_view *exec,
	     const struct error *err);
void on_cfile(void *userdata, const struct cfile_view *file,
	      const struct error *err);
void on_file(void *userdata, const struct file_view *file,
	     const struct error *err);
void on_done(void *userdata, const struct error *err);
void on_json(void *userdata, const char *json, size_t size,
	     const struct error *err);

/** fixture_create() - A container, answered; its VM is the last of fx->vmd */
void fixture_create(struct fixture *fx, const char *const *files, size_t count,
		    struct answer *ret);

/** fixture_create_held() - The same, and vmd, asked for its VM, says nothing yet */
void fixture_create_held(struct fixture *fx, struct answer *ret);

/** fixture_session() - A container that is RUNNING; Return: its guest */
struct scripted_guest *fixture_session(struct fixture *fx, char id[ID_SIZE]);

struct container_view fixture_container(struct fixture *fx, const char *id);

/** fixture_wait_state() - Until a container is in a state */
void fixture_wait_state(struct fixture *fx, const char *id,
			enum session_state_view state);

/** fixture_exec() - Start an execution and wait for its acceptance */
void fixture_exec(struct fixture *fx, const char *container, const char *code,
		  char id[ID_SIZE]);

/**
 * fixture_running() - Start, with a session in which the guest runs @code
 *
 * Return: its guest
 */
struct scripted_guest *fixture_running(struct fixture *fx, const char *code,
				       char container[ID_SIZE],
				       char exec[ID_SIZE]);

/** fixture_exec_view() - Look at one; valid until the next turn */
struct exec_view fixture_exec_view(struct fixture *fx, const char *container,
				   const char *id);
void fixture_wait_exec(struct fixture *fx, const char *container,
		       const char *id, enum exec_status status);

/** fixture_figure() - One of core_metrics(); -1 if there is none of that name */
double fixture_figure(struct fixture *fx, const char *name, const char *labels);

/** fixture_upload() - A file of this content; Return: its id in @ret */
void fixture_upload(struct fixture *fx, const char *name, const void *data,
		    size_t size, char ret[ID_SIZE]);

/** fixture_guest() - The guest of a container's VM */
struct scripted_guest *fixture_guest(struct fixture *fx, const char *container);
struct scripted_vm *fixture_vm(struct fixture *fx, const char *container);

#endif
