/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_PRIV_H
#define CORE_CORE_PRIV_H

/*
 * What the parts of core share. Each part has its own corner in struct core
 * and is the only one to write there; the rest is read by all.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"
#include "core/admission.h"
#include "core/core.h"
#include "core/core_settings.h"
#include "core/drain.h"
#include "core/gc.h"
#include "core/map.h"
#include "core/metrics.h"
#include "core/notice.h"
#include "core/owed.h"
#include "core/parts.h"
#include "core/pool.h"
#include "core/reconcile.h"
#include "core/tenant.h"
#include "core/definition.h"
#include "core/talk.h"
#include "store/store.h"
#include "vmd/vmd.h"

/* How often what is too old is removed. */
#define CORE_SWEEP_USEC (60 * USEC_PER_SEC)

/* At most this long for the VMs to be gone when no work is waited for. */
#define CORE_STOP_USEC (30 * USEC_PER_SEC)

/* When a create that a drain refused may be worth another try. */
#define CORE_DRAIN_RETRY_SEC 60

/* CIDs count up from here and are not used again. */
#define CORE_CID_FIRST 0x10000u

struct core {
	sd_event *event;
	struct clock *clock;
	struct clock *guest_clock;
	struct clock *own_clock; /* guest_clock, if nobody gave one */
	const char *proc;
	const struct settings *settings;
	struct store *store;
	struct blobs *blobs;
	struct vmd_client *vmd;
	bool development;

	struct core_settings set;
	struct gc gc;
	struct map tenants;
	struct map keys; /* those in use */
	struct map digests; /* of them */
	struct map vms;
	struct map containers;
	struct map handles; /* containers by what handle.h says */
	struct map execs;
	struct pools pools;
	struct admission admission;
	struct reconcile reconcile;
	struct metrics metrics;
	struct notices notices;
	struct owing owing;
	struct drain drain;
	struct assembly_list assemblies;
	struct definitions definitions;
	struct talks talks;

	char boot_id[CLOCK_BOOT_ID_SIZE];
	uint64_t next_cid;
	struct timer *sweep;

	void (*revoked)(void *userdata, const char *tenant, const char *key_id);
	void *revoked_userdata;

	bool started;
	bool stopping;
	struct timer *stop_deadline;
	sd_event_source *stop_over;
	void (*stop_done)(void *userdata);
	void *stop_userdata;

	TAILQ_HEAD(, cfile_create) creating; /* cfile_create.c */

	/* Rows that views point into until the loop goes on. */
	struct store_container row_container;
	struct store_file row_file;
	struct store_cfile row_cfile;
};

/** core_refuse() - Whether new sessions are refused, and why */
int core_refuse(struct core *core, struct error *err);

/** core_refuse_work() - Whether new executions are */
int core_refuse_work(struct core *core, struct error *err);

/** core_vm_is_gone() - To be called by a VM that is: the last one may be awaited */
void core_vm_is_gone(struct core *core);

/** core_store_failed() - The error of a batch that was not carried out */
int core_store_failed(int r, struct error *err);

/* What made a container, if neither conversation nor agent did. */
#define CORE_ORIGIN_API "api"

/* Of the Unix socket, if nobody says another; always there. */
#define CORE_TENANT_DEFAULT "default"

/** auth_refuse_key() - What is said of a key that opens nothing */
int auth_refuse_key(struct error *err);

/** core_list_failed() - The error of a list of the store; 0 stays 0 */
int core_list_failed(int r, const struct core_page *page, struct error *err);

/**
 * core_commit() - Commit a batch that nobody waits for
 * @batch:	Taken over in any case
 * @scope:	Whom a failure is logged about
 */
void core_commit(struct core *core, struct store_batch *batch,
		 const struct log_scope *scope);

/**
 * core_commit_for() - Commit a batch that a client waits for
 * @batch:	Taken over in any case
 * @done:	As of core.h
 */
int core_commit_for(struct core *core, struct store_batch *batch,
		    core_done_fn done, void *userdata, struct error *err);

/**
 * core_commit_then() - Commit a batch whose end its owner acts upon
 * @batch:	Taken over in any case
 * @done:	Called in any case, and at once if it cannot be begun
 */
void core_commit_then(struct core *core, struct store_batch *batch,
		      store_done_fn *done, void *userdata);

#endif
