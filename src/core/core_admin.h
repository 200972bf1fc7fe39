/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_ADMIN_H
#define CORE_CORE_ADMIN_H

/* The operator's calls: a part of core.h, whose rules hold here. */

#include "base/histogram.h"
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

/**
 * core_admin_owner() - Whose a key, container, VM or artifact is
 * @ret_tenant:	"" if it is nobody's, or there is no such thing
 */
void core_admin_owner(struct core *core, const char *id,
		      char ret_tenant[CORE_TENANT_MAX + 1]);

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
 * core_admin_console() - The end of what a guest wrote to its console
 *
 * Answers {"vm","total_bytes","omitted_bytes","text"}, where text is a guest's.
 * Also of a container or VM that has ended, as long as vmd keeps it.
 */
int core_admin_console(struct core *core, const char *id, json_fn done,
		       void *userdata, struct error *err);

/**
 * core_admin_audit() - Compare ledger, domains, processes, disks, sockets, CIDs
 *
 * Answers {"differences":[{kind, id, what}…],"checked":{…}}; nothing is
 * mended by looking.
 */
int core_admin_audit(struct core *core, json_fn done, void *userdata,
		     struct error *err);

/**
 * core_admin_mend() - The same, and make right what can be made right
 *
 * Each difference has "mended", a sentence that says what was done, or null for
 * what needs a person. VMs and sessions that end because of it are under way.
 */
int core_admin_mend(struct core *core, json_fn done, void *userdata,
		    struct error *err);

/**
 * core_admin_top() - What each VM takes of the host right now, and for whom
 *
 * Answers {"data":[{"vm","pool","container" and what is known of it,"vcpus",
 * "memory_mib","disk_bytes","cpu_usec","memory_used_bytes",
 * "disk_used_bytes"}…],"clock_usec"}, in no order. What cannot be measured is
 * null, and so is the VM of a session that waits for one. The share of the CPU
 * is the difference of two answers, by "clock_usec".
 */
int core_admin_top(struct core *core, json_fn done, void *userdata,
		   struct error *err);

/** core_admin_status() - Pools, images, accelerator, backend, versions */
int core_admin_status(struct core *core, struct buf *ret_json,
		      struct error *err);

/*
 * Parts of it: {"pools":[…]}, {"images":[{"image","pools":[names]}…]} of those
 * that pools run, and {"problems":[sentences],"ok","hypervisor":{…}}.
 */
int core_admin_pools(struct core *core, struct buf *ret_json,
		     struct error *err);
int core_admin_images(struct core *core, struct buf *ret_json,
		      struct error *err);
int core_admin_doctor(struct core *core, struct buf *ret_json,
		      struct error *err);

/**
 * core_admin_probe() - Boot a pool's image to see whether and how fast it boots
 * @pool:	NULL: the first that there is an image for
 * @accelerator: "kvm" or "qemu". Emulation only where the settings allow it
 *
 * Answers {"pool","image","accelerator","booted","create_ms","boot_ms",
 * "echo_ms","reason"}, where a stage that was not reached is null. The VM takes
 * room while it is there, and is nobody's.
 */
int core_admin_probe(struct core *core, const char *pool,
		     const char *accelerator, json_fn done, void *userdata,
		     struct error *err);

/* What pool.NAME.ready can be, too */
#define CORE_POOL_READY_MAX 256u

/* For core_admin_pool_set(): as the settings have it */
#define POOL_READY_SETTING UINT64_MAX

/**
 * core_admin_pool_set() - Keep another number of VMs ready in a pool
 * @ready:	At most the pool's VMs. Those beyond are ended, those missing
 *		started, by and by
 *
 * Holds until this daemon ends: the settings are what lasts. Answers the pool as
 * core_admin_pools() has it, with "ready_setting" beside "ready_target".
 */
int core_admin_pool_set(struct core *core, const char *name, uint64_t ready,
			struct buf *ret_json, struct error *err);

/**
 * core_admin_drain() - Take no new sessions
 * @wait:	Then those that still live end as "drained", with their last
 *		files; USEC_INFINITY: never; 0: at once
 *
 * A later call changes @wait. Undone by core_admin_undrain() and by nothing else,
 * not by the end of the daemon or of the host either. Both hold from the call on,
 * and answer once the database has it, or an error if it cannot: what a restart
 * would find is the opposite then.
 *
 * All three answer {"state": "off", "draining" or "drained", "sessions",
 * "since", "deadline_at"}, which is a member of the status, too.
 */
int core_admin_drain(struct core *core, usec_t wait, json_fn done,
		     void *userdata, struct error *err);
int core_admin_undrain(struct core *core, json_fn done, void *userdata,
		       struct error *err);
int core_admin_drain_get(struct core *core, struct buf *ret_json,
			 struct error *err);

struct key_spec {
	const char *tenant; /* made if it does not exist */
	const char *name;
	unsigned scopes;
	int64_t expires_after_sec; /* 0: never */
	uint64_t max_requests;     /* at a time; 0: the tenant's limit alone */
	uint64_t requests_per_minute;
};

/**
 * core_admin_key_create() - Make a key
 *
 * Answers {"id","tenant","name","scopes":[…],"created_at","expires_at",
 * "last_used_at","key"} and the limits that are set, the only time that "key" is shown.
 */
int core_admin_key_create(struct core *core, const struct key_spec *spec,
			  json_fn done, void *userdata, struct error *err);

/** core_admin_key_list() - {"keys":[as above, no "key"]}; @tenant NULL: of all */
int core_admin_key_list(struct core *core, const char *tenant,
			struct buf *ret_json, struct error *err);

/**
 * core_admin_key_revoke() - Have a key open nothing any more
 *
 * What is under way with it is cut off (core_on_revoked()); what it made stays
 * its tenant's.
 */
int core_admin_key_revoke(struct core *core, const char *key_id,
			  core_done_fn done, void *userdata, struct error *err);

/* A limit of core_admin_tenant_set() that stays as it is. */
#define TENANT_KEEP UINT64_MAX

/**
 * struct tenant_limits - What a tenant may have
 * @max_executions: That run or wait at a time
 * @max_requests: Under way at a time, with all of its keys
 * @max_bytes:	Files and artifacts together
 * @session_seconds_per_day: VM time of a day in UTC
 *
 * 0 stands for what the settings say.
 */
struct tenant_limits {
	uint64_t max_sessions;
	uint64_t max_executions;
	uint64_t max_requests;
	uint64_t requests_per_minute;
	uint64_t max_bytes;
	uint64_t session_seconds_per_day;
};

/**
 * core_admin_tenant_set() - Make a tenant, or change one
 * @create:	It must not exist yet, else it must
 *
 * Answers {"id","created_at","state","limits":{…, null for the settings'},
 * "effective":{…},"holds":{…}}.
 */
int core_admin_tenant_set(struct core *core, const char *id,
			  const struct tenant_limits *limits, bool create,
			  json_fn done, void *userdata, struct error *err);

/** core_admin_tenant_get() - As answered by core_admin_tenant_set() */
int core_admin_tenant_get(struct core *core, const char *id,
			  struct buf *ret_json, struct error *err);

/** core_admin_tenant_list() - {"tenants":[…]}, by name */
int core_admin_tenant_list(struct core *core, struct buf *ret_json,
			   struct error *err);

/**
 * core_admin_tenant_delete() - Erase a tenant and all that it has
 *
 * Once it has called back, nobody can act for the tenant; requests under way
 * are cut off and sessions end. Files, executions, records and keys go within
 * seconds, however often the daemon is killed meanwhile; until then its state
 * is "erasing" and its name is taken. What it used stays in the sums of the
 * ledger, under no name.
 */
int core_admin_tenant_delete(struct core *core, const char *id,
			     core_done_fn done, void *userdata,
			     struct error *err);

/**
 * enum usage_by - What a report of usage has rows for, within each tenant
 * @USAGE_BY_TENANT: Only one
 * @USAGE_BY_DAY:	Each day
 * @USAGE_BY_ORIGIN: Each conversation, agent or toolbox that made sessions, and
 *		"api" for those that nothing else made; most VM time first
 * @USAGE_BY_KEY: Each key, "" for what was made without one; in the same order
 */
enum usage_by {
	USAGE_BY_TENANT,
	USAGE_BY_DAY,
	USAGE_BY_ORIGIN,
	USAGE_BY_KEY,

	USAGE_BY_COUNT,
};

/** usage_by_find() - By its name in the API; Return: whether there is one */
bool usage_by_find(const char *name, enum usage_by *ret);

/**
 * core_admin_usage() - What was used, by tenant
 * @since_day:	First day, counted from 1970 in UTC
 * @tenant:	NULL: all
 *
 * Answers {"usage":[{"tenant","day", "origin" or "key","sessions",
 * "live_sessions", the members of core_usage_write(), and of responses
 * "responses", "input_tokens", "output_tokens", "tool_calls" and "held_s", for
 * which they had a session}…]}. Sessions that live are in it with what
 * they used until now, on the last day.
 */
int core_admin_usage(struct core *core, int64_t since_day, enum usage_by by,
		     const char *tenant, json_fn done, void *userdata,
		     struct error *err);

/**
 * core_admin_artifacts() - Files of all containers, all versions of them
 * @each:	@tenant: whose it is
 */
int core_admin_artifacts(struct core *core, const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct cfile_view *file,
				      const char *tenant),
			 void *userdata, bool *ret_more, struct error *err);

/** core_admin_artifact_open() - As core_cfile_open(), by the id alone */
int core_admin_artifact_open(struct core *core, const char *id,
			     struct cfile_view *ret, int *ret_fd,
			     struct error *err);
int core_admin_artifact_delete(struct core *core, const char *id,
			       core_done_fn done, void *userdata,
			       struct error *err);

/** core_backup_fn - @fd: the copy, taken over */
typedef void (*core_backup_fn)(void *userdata, int fd, const struct error *err);

/** core_admin_backup() - Copy the database while it is in use */
int core_admin_backup(struct core *core, core_backup_fn done, void *userdata,
		      struct error *err);

/** core_admin_advance_clock() - Only with test.clock; moves boot time on */
int core_admin_advance_clock(struct core *core, usec_t by, struct error *err);

/* ------------------------------------------------------------- metrics */

/**
 * core_metrics() - Every figure once, in Prometheus' terms
 * @emit:	@labels is "" or "name=\"value\",…", values already escaped
 */
void core_metrics(struct core *core, figure_fn emit, void *userdata);

#endif
