/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

/*
 * What Cupola does, whichever way it is asked.
 *
 * The dialects in src/api turn requests into these calls and views into
 * answers; they decide nothing. Core owns every live object (tenants, pools,
 * VMs, containers, executions) and knows nothing of HTTP.
 *
 * Rules that hold for every call:
 *
 *  - All run on the loop's thread and never block.
 *  - A call that fails at once returns a negative errno, has filled in @err,
 *    and will not call back. One that returns 0 with a callback calls it
 *    exactly once, later, never from inside the call, whatever happens to VM,
 *    guest or hypervisor process. The caller keeps @userdata alive until then.
 *  - Views are snapshots or borrow from core; those handed to a callback and
 *    those filled in by a get are valid until control returns to the loop.
 *  - The principal bounds everything: what belongs to another tenant is
 *    answered exactly like what does not exist.
 *  - Times in views are Unix seconds of the wall clock. Limits are kept on the
 *    boot clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"

struct buf;
struct core;
struct json_object;
struct json_writer;

#define CORE_NAME_MAX 256     /* container names, bytes */
#define CORE_TENANT_MAX 64
#define CORE_POOL_DEFAULT "default"
#define CORE_FILE_IDS_MAX 50 /* file_ids of one create */
#define CORE_CODE_MAX (512 * 1024)
#define CORE_STDIN_MAX (4 * 1024 * 1024)
#define CORE_PAGE_MAX 100         /* containers and container files */
#define CORE_FILES_PAGE_MAX 10000 /* files */

/* ---------------------------------------------------------- principals */

enum core_scope {
	CORE_SCOPE_FILES = 1 << 0,
	CORE_SCOPE_CONTAINERS = 1 << 1,
	CORE_SCOPE_RESPONSES = 1 << 2,
	CORE_SCOPE_TOOLBOXES = 1 << 3,
	CORE_SCOPE_SESSIONS = 1 << 4,
	CORE_SCOPE_METRICS = 1 << 5,
	CORE_SCOPE_ALL = (1 << 6) - 1,
};

/** struct principal - On whose behalf a call is made; copied freely */
struct principal {
	char tenant[CORE_TENANT_MAX + 1];
	char key_id[ID_MAX + 1]; /* empty on the Unix socket */
	uid_t uid;               /* then: who is at its other end */
	unsigned scopes;         /* enum core_scope */
};

/**
 * core_authenticate() - Who holds this API key
 *
 * Takes the same time whether the key exists or not.
 * Return: 0, or ERR_UNAUTHORIZED with reason "invalid_api_key"
 */
int core_authenticate(struct core *core, const char *key, size_t key_len,
		      struct principal *ret, struct error *err);

/** core_local() - The principal of who came by a trusted Unix socket; NULL: "default" */
int core_local(struct core *core, const char *tenant, uid_t uid,
	       struct principal *ret, struct error *err);

/**
 * core_request_begin() - Take a place, and a token, for one request with a key
 *
 * Return: 0, and core_request_end() has to follow; ERR_LIMIT with the numbers;
 * ERR_UNAUTHORIZED if the key has been revoked since it was authenticated
 */
int core_request_begin(struct core *core, const struct principal *who,
		       struct error *err);
void core_request_end(struct core *core, const struct principal *who);

/**
 * core_on_revoked() - Be told of keys that open nothing any more
 * @revoked:	@key_id NULL: none of the tenant's does. What is under way for
 *		them has to end now
 */
void core_on_revoked(struct core *core,
		     void (*revoked)(void *userdata, const char *tenant,
				     const char *key_id),
		     void *userdata);

/* --------------------------------------------------------------- pages */

/** struct core_page - What part of a list is asked for */
struct core_page {
	unsigned limit;
	bool ascending;         /* by creation; newest first if not */
	char after[ID_MAX + 1]; /* empty: from the beginning */
};

/* --------------------------------------------------------------- files */

struct file_view {
	char id[ID_MAX + 1]; /* file-… */
	uint64_t bytes;
	int64_t created_at;
	int64_t expires_at; /* 0: never */
	const char *filename;
	const char *purpose;
	uint8_t sha256[32];
};

struct file_spec {
	const char *filename;
	const char *purpose;
	int64_t expires_after_sec; /* 0: the purpose's default */
};

typedef void (*file_fn)(void *userdata, const struct file_view *file,
			const struct error *err);
typedef void (*core_done_fn)(void *userdata, const struct error *err);

/**
 * struct core_upload - Bytes on their way from a client into the blob store
 *
 * Memory is constant: when too much waits for the disk, core_upload_write()
 * answers -EAGAIN and @room is called once there is room again. While an
 * upload for a container exists, the container's idle clock stands still.
 */
struct core_upload;

/**
 * core_upload_new() - Begin to receive bytes
 * @container:	Container the bytes are for, checked now (404 before the body
 *		is read); NULL for a file of its own
 * @declared:	Bytes announced by the client, or UINT64_MAX if it did not;
 *		above the limit of the kind: ERR_TOO_LARGE at once
 */
int core_upload_new(struct core *core, const struct principal *who,
		    const char *container, uint64_t declared,
		    void (*room)(void *userdata), void *userdata,
		    struct core_upload **ret, struct error *err);

/**
 * core_upload_write() - Hand over the next bytes; they are copied
 *
 * Return: 0; -EAGAIN (nothing taken, @room follows; @err untouched); or
 * another negative errno with @err: ERR_TOO_LARGE, ERR_STORAGE_FULL
 */
int core_upload_write(struct core_upload *upload, const void *data, size_t size,
		      struct error *err);

/** core_upload_free() - Give up; nothing of it stays. NULL is fine */
void core_upload_free(struct core_upload *upload);

/**
 * core_file_create() - Make a finished upload a file
 * @upload:	Taken over if the call succeeds
 */
int core_file_create(struct core *core, const struct principal *who,
		     const struct file_spec *spec, struct core_upload *upload,
		     file_fn done, void *userdata, struct error *err);

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err);

/** core_file_open() - The content: a descriptor that the caller closes */
int core_file_open(struct core *core, const struct principal *who,
		   const char *id, struct file_view *ret, int *ret_fd,
		   struct error *err);

/** core_file_list() - @purpose: exact match, or NULL for all */
int core_file_list(struct core *core, const struct principal *who,
		   const char *purpose, const struct core_page *page,
		   void (*each)(void *userdata, const struct file_view *file),
		   void *userdata, bool *ret_more, struct error *err);

int core_file_delete(struct core *core, const struct principal *who,
		     const char *id, core_done_fn done, void *userdata,
		     struct error *err);

/* ---------------------------------------------------------- containers */

enum memory_tier {
	MEMORY_1G,
	MEMORY_4G,
	MEMORY_16G,
	MEMORY_64G,
	MEMORY_TIER_COUNT
};

/* Which dialect asked: idle limits differ (API overview in the manual). */
enum core_dialect {
	DIALECT_OPENAI,
	DIALECT_FOUNDRY,
	DIALECT_SESSIONS,
	DIALECT_MCP,
	DIALECT_COUNT
};

/**
 * struct idempotency - A create or execution that a client may repeat
 *
 * The same key with the same request within 24 hours gives the first answer's
 * object again; with another it is ERR_UNPROCESSABLE. @body_sha256 is of all that
 * makes it that request.
 */
struct idempotency {
	const char *key; /* NULL: none */
	uint8_t body_sha256[32];
};

/**
 * struct container_spec - What is asked for
 * @name:	In DIALECT_SESSIONS and DIALECT_MCP a handle: with tenant, key,
 *		dialect and pool it stands for one container as long as that
 *		one's session lives
 * @pool:	NULL: CORE_POOL_DEFAULT
 * @image:	A pin (core_image_is_pin()): refused if the pool runs another one;
 *		NULL: whatever it runs
 */
struct container_spec {
	const char *name;
	enum core_dialect dialect;
	const char *pool;
	const char *image;
	unsigned idle_minutes; /* 0: the dialect's default */
	enum memory_tier memory;
	size_t file_count;
	const char *const *file_ids; /* copied in, source "user" */
	const char *origin; /* conversation or agent; NULL: the API itself */
	struct idempotency idempotency;
};

enum session_state_view {
	SESSION_VIEW_ACCEPTED,
	SESSION_VIEW_BOOTING,
	SESSION_VIEW_RUNNING,
	SESSION_VIEW_EXECUTING,
	SESSION_VIEW_STOPPING,
	SESSION_VIEW_ENDED,
	SESSION_VIEW_COUNT
};

struct usage_view {
	uint64_t executions;
	uint64_t assigned_sec;
	uint64_t executing_msec;
	uint64_t cpu_msec;
	uint64_t memory_mib_msec;
	uint64_t bytes_in;
	uint64_t bytes_out;
};

/** core_usage_write() - Its members, into an object that was begun */
void core_usage_write(const struct usage_view *usage, struct json_writer *w);

struct container_view {
	char id[ID_MAX + 1]; /* cntr_… */
	const char *name;
	const char *tenant; /* for the operator only */
	const char *key_id; /* … */
	const char *origin; /* what made it, "api" if nothing else did */
	enum core_dialect dialect;
	int64_t created_at;
	int64_t last_active_at;
	unsigned idle_minutes;
	enum memory_tier memory; /* asked for */
	uint32_t memory_mib;     /* what it has; 0: no VM yet */
	bool expired; /* "status": expired, else running */

	enum session_state_view state;
	int64_t idle_expires_at;  /* 0: clock stands still or ended */
	int64_t hard_expires_at;  /* 0: no VM yet, or ended */
	const char *ended_reason; /* NULL while it lives */
	int64_t ended_at;
	const char *pool;
	const char *image; /* "name@sha256:…", "" before */
	const char *vm;    /* vm_…, for the operator; "" if none */
	unsigned kernel_epoch;
	unsigned queued;            /* executions that wait */
	char executing[ID_MAX + 1]; /* exec_… now running, or empty */
	struct usage_view usage;
};

typedef void (*container_fn)(void *userdata,
			     const struct container_view *container,
			     const struct error *err);

/**
 * core_container_create() - Admit a session and make its intent durable
 *
 * Calls back as soon as both are done; the VM boots or is claimed meanwhile,
 * and calls that need the guest wait for it. Refused at once: unknown pool or
 * file (ERR_NOT_FOUND with param "file_ids"), limits (ERR_LIMIT), capacity
 * (ERR_CAPACITY), a memory tier this host cannot give.
 *
 * Where the name is a handle that stands for a container, that one is the
 * answer, whatever else the spec says.
 */
int core_container_create(struct core *core, const struct principal *who,
			  const struct container_spec *spec, container_fn done,
			  void *userdata, struct error *err);

/**
 * core_container_get() - Look at a container
 * @touch:	Counts as the owner's activity (every successful call of a
 *		tenant does; the operator's do not)
 */
int core_container_get(struct core *core, const struct principal *who,
		       const char *id, bool touch, struct container_view *ret,
		       struct error *err);

/**
 * core_container_live() - Touch a container that is about to be used
 *
 * Return: 0; ERR_NOT_FOUND, with reason "container_expired" and a message that
 * says when, why and what to do, if its session has ended
 */
int core_container_live(struct core *core, const struct principal *who,
			const char *id, struct container_view *ret,
			struct error *err);

/**
 * core_container_named() - The container that a handle stands for
 *
 * Return: 0; ERR_NOT_FOUND if there is none now, with a message that says when and
 * why the last one expired, if one did that the ledger still has
 */
int core_container_named(struct core *core, const struct principal *who,
			 enum core_dialect dialect, const char *pool,
			 const char *name, bool touch,
			 struct container_view *ret, struct error *err);

/**
 * struct core_image - What a pool's VMs run
 * @image:	"name@sha256:…"
 * @built_at:	In ISO 8601
 * @packages:	Names of the distribution's packages, each with its version
 */
struct core_image {
	const char *image;
	const char *built_at;
	const struct json_object *packages;
};

typedef void (*core_image_fn)(void *userdata, const struct core_image *image,
			      const struct error *err);

/** core_pool_image() - Look at it; @image is NULL if @err is set */
int core_pool_image(struct core *core, const char *name, core_image_fn done,
		    void *userdata, struct error *err);

/** core_container_named_list() - All of a pool that handles of @who stand for */
void core_container_named_list(
	struct core *core, const struct principal *who,
	enum core_dialect dialect, const char *pool,
	void (*each)(void *userdata, const struct container_view *container),
	void *userdata);

/** core_container_list() - @name: exact match, or NULL for all */
int core_container_list(struct core *core, const struct principal *who,
			const char *name, const struct core_page *page,
			void (*each)(void *userdata,
				     const struct container_view *container),
			void *userdata, bool *ret_more, struct error *err);

/** core_container_delete() - End its VM, erase its files, forget it */
int core_container_delete(struct core *core, const struct principal *who,
			  const char *id, core_done_fn done, void *userdata,
			  struct error *err);

/* ----------------------------------------------------- container files */

struct cfile_view {
	char id[ID_MAX + 1]; /* cfile_… */
	char container[ID_MAX + 1];
	int64_t created_at;
	uint64_t bytes;
	const char *path; /* absolute, below /mnt/data/; U+FFFD: not UTF-8 */
	const char *path_b64; /* then its bytes below it, as base64; or NULL */
	bool by_user;     /* source: user, else assistant */
	bool changed_during_read; /* the beginning of a file that grew */
	uint8_t sha256[32];
};

typedef void (*cfile_fn)(void *userdata, const struct cfile_view *file,
			 const struct error *err);

/**
 * core_cfile_create() - Make a finished upload a file of a container
 * @path:	Below /mnt/data, as in "sub/table.csv"; an existing file there is
 *		replaced, its older id keeps its bytes
 * @upload:	Made for this container, or for none; taken over if the call
 *		succeeds
 *
 * Calls back when the file is visible in the guest, or, while the VM is not
 * there yet, when it is durable and sure to be placed before the first
 * execution runs.
 */
int core_cfile_create(struct core *core, const struct principal *who,
		      const char *container, const char *path,
		      struct core_upload *upload, cfile_fn done, void *userdata,
		      struct error *err);

/**
 * core_cfile_copy() - The same from a file that was uploaded before
 * @path:	NULL: the file's own name
 */
int core_cfile_copy(struct core *core, const struct principal *who,
		    const char *container, const char *file_id,
		    const char *path, cfile_fn done, void *userdata,
		    struct error *err);

/**
 * core_cfile_given() - Whether a container was given these bytes under a path
 * @path:	Absolute
 *
 * Also if code has changed or removed the file since.
 */
bool core_cfile_given(struct core *core, const struct principal *who,
		      const char *container, const char *path,
		      const uint8_t sha256[32]);

/** core_digest() - The SHA-256 that views of files have */
int core_digest(const void *data, size_t size, uint8_t ret[32]);

int core_cfile_get(struct core *core, const struct principal *who,
		   const char *container, const char *id,
		   struct cfile_view *ret, struct error *err);

/**
 * core_cfile_find() - The newest file that a path names
 * @path:	Absolute, as in a view
 *
 * The file of exactly that name or, if there is none, the only one whose name
 * is the same in Unicode's normal form C.
 */
int core_cfile_find(struct core *core, const struct principal *who,
		    const char *container, const char *path,
		    struct cfile_view *ret, struct error *err);

/** core_cfile_content() - Open a file that was looked up just now */
int core_cfile_content(struct core *core, const struct cfile_view *file,
		       int *ret_fd, struct error *err);

/** core_cfile_open() - Look it up by its id, and open it */
int core_cfile_open(struct core *core, const struct principal *who,
		    const char *container, const char *id,
		    struct cfile_view *ret, int *ret_fd, struct error *err);

/** core_cfile_list() - The newest id of each path */
int core_cfile_list(struct core *core, const struct principal *who,
		    const char *container, const struct core_page *page,
		    void (*each)(void *userdata, const struct cfile_view *file),
		    void *userdata, bool *ret_more, struct error *err);

int core_cfile_delete(struct core *core, const struct principal *who,
		      const char *container, const char *id, core_done_fn done,
		      void *userdata, struct error *err);

/* What else core does, in headers of their own for length alone. */
#include "core/core_admin.h"
#include "core/core_events.h"
#include "core/core_exec.h"
#include "core/core_life.h"
#include "core/core_options.h"
#include "core/core_parts.h"
#include "core/core_talk.h"
#include "core/core_definition.h"
#endif
