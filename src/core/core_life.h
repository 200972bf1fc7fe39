/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_LIFE_H
#define CORE_CORE_LIFE_H

/* The life of a core, for whoever has one: a part of core.h, whose rules hold. */

#include "core/core.h"

struct blobs;
struct settings;
struct store;
struct vmd_client;
struct vmd_gone;
struct vmd_hello;

/**
 * struct core_config - What a core works with
 * @clock:	For the limits of sessions and for dates
 * @guest_clock: For the deadlines of guests and of the hypervisor process,
 *		which live in the kernel's time: never moved, except in unit
 *		tests. NULL: the kernel's
 * @proc:	Where the kernel says how the host is; NULL: /proc, as always
 *		but in unit tests
 * @vmd:	Its owner passes on what its handlers hear: core_vmd_…()
 */
struct core_config {
	sd_event *event;
	struct clock *clock;
	struct clock *guest_clock;
	const char *proc;
	const struct settings *settings;
	struct store *store;
	struct blobs *blobs;
	struct vmd_client *vmd;
	bool development;
};

enum core_stop {
	CORE_STOP_END, /* finish, last harvest, end every VM, then done */
	CORE_STOP_HAND_OVER, /* leave VMs to the next daemon */
};

/**
 * core_new() - Load durable state; nothing runs yet
 * @config:	Borrowed objects; they outlive the core
 */
int core_new(const struct core_config *config, struct core **ret,
	     struct error *err);

/**
 * core_start() - Adopt what runs, remove what should not, fill the pools
 * @ready:	Called when reconciliation is over and the hypervisor process
 *		has answered; core_ready() tells the state at any time
 */
int core_start(struct core *core, void (*ready)(void *userdata), void *userdata,
	       struct error *err);

/**
 * core_stop() - Refuse new work and come to rest; @done is called once
 *
 * With CORE_STOP_END, what runs or waits for its turn may take session.drain.
 */
void core_stop(struct core *core, enum core_stop how,
	       void (*done)(void *userdata), void *userdata);

/** core_stop_at_once() - Wait no longer for what runs */
void core_stop_at_once(struct core *core);

/**
 * core_free() - End a core; NULL is fine
 *
 * Before it, in this order: store_flush(), since what follows a commit may need
 * the vmd client; vmd_client_free(), which answers the calls that core made, as
 * core's objects expect. Store and blobs are freed after it.
 */
void core_free(struct core *core);

/**
 * core_ready() - Whether work is accepted
 * @why:	Called with one sentence per thing that is wrong
 *
 * Return: true when nothing is wrong
 */
bool core_ready(struct core *core,
		void (*why)(void *userdata, const char *sentence),
		void *userdata);

/*
 * What the daemon, which keeps the hypervisor process and its connection,
 * passes on from the handlers of the struct vmd_client. See struct
 * vmd_handlers for the arguments.
 */
void core_vmd_ready(struct core *core, const struct vmd_hello *hello);
void core_vmd_changed(struct core *core, const struct vmd_hello *hello);
void core_vmd_gone(struct core *core, const struct vmd_gone *gone);
void core_vmd_lost(struct core *core, const char *why);

#endif
