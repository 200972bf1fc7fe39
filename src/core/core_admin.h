/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_ADMIN_H
#define CORE_CORE_ADMIN_H

/* The operator's calls: a part of core.h, whose rules hold here. */

#include "core/core.h"

/** core_admin_containers() - Of all tenants; @all: those that ended as well */
int core_admin_containers(struct core *core, bool all,
			  void (*each)(void *userdata,
				       const struct container_view *container),
			  void *userdata, struct error *err);

/*
 * Answers of many shapes are JSON text (base/json_write.h), ready to be sent:
 * one object, appended to @ret_json or given to the callback.
 */

/** core_admin_inspect() - Everything about one container or VM */
int core_admin_inspect(struct core *core, const char *id, struct buf *ret_json,
		       struct error *err);

/** core_admin_kill() - End a session with reason "operator" */
int core_admin_kill(struct core *core, const char *id, core_done_fn done,
		    void *userdata, struct error *err);

/**
 * core_admin_nmi() - Make the guest's kernel panic, to see where it hung
 *
 * The session then ends as guest_panic, and the console tells the rest.
 */
int core_admin_nmi(struct core *core, const char *id, core_done_fn done,
		   void *userdata, struct error *err);

typedef void (*json_fn)(void *userdata, const char *json, size_t size,
			const struct error *err);

/**
 * core_admin_audit() - Compare ledger, domains, processes, disks, sockets, CIDs
 *
 * Answers {"differences":[{kind, id, what}…],"checked":{…}}; nothing is
 * repaired by looking.
 */
int core_admin_audit(struct core *core, json_fn done, void *userdata,
		     struct error *err);

/** core_admin_status() - Pools, images, accelerator, backend, versions */
int core_admin_status(struct core *core, struct buf *ret_json,
		      struct error *err);

struct key_spec {
	const char *tenant; /* made if it does not exist */
	const char *name;
	unsigned scopes;
	int64_t expires_after_sec; /* 0: never */
};

/**
 * core_admin_key_create() - Make a key
 *
 * Answers {"id","tenant","name","scopes":[…],"created_at","expires_at","key"},
 * the only time that "key" is shown.
 */
int core_admin_key_create(struct core *core, const struct key_spec *spec,
			  json_fn done, void *userdata, struct error *err);

/** core_admin_key_list() - {"keys":[as above, without "key"]}, all tenants */
int core_admin_key_list(struct core *core, struct buf *ret_json,
			struct error *err);
int core_admin_key_revoke(struct core *core, const char *key_id,
			  core_done_fn done, void *userdata, struct error *err);

/** core_admin_advance_clock() - Only with test.clock; moves boot time on */
int core_admin_advance_clock(struct core *core, usec_t by, struct error *err);

/* ------------------------------------------------------------- metrics */

/**
 * core_metrics() - Every figure once, in Prometheus' terms
 * @emit:	@labels is "" or "name=\"value\",…", values already escaped
 */
void core_metrics(struct core *core,
		  void (*emit)(void *userdata, const char *name,
			       const char *type, const char *help,
			       const char *labels, double value),
		  void *userdata);

#endif
