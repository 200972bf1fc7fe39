/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_FAKE_CORE_H
#define UNIT_FAKE_CORE_H

/*
 * core.h without VMs, store and hypervisor, for tests of what lies above it: it
 * keeps files in memory, has one container, and runs executions as the test
 * says. Linked in place of libcore.
 */

#include "base/buf.h"
#include "base/name.h"
#include "base/trace.h"
#include "core/core.h"
#include "core/end_reason.h"

#define FAKE_KEY "ck-good"
#define FAKE_OTHER_KEY "ck-other"
#define FAKE_FILES_KEY "ck-files-only"
#define FAKE_TOOLBOXES_KEY "ck-toolboxes-only"
#define FAKE_CONTAINER "cntr_1"
#define FAKE_EXPIRED "cntr_expired"
#define FAKE_ENDED_SEC 1790000000	/* 2026-09-21T14:13:20Z */
#define FAKE_EXEC "exec_1"

enum { FAKE_FILES_MAX = 1024 };

struct fake_definitions;
struct fake_talks;

struct fake_file {
	struct file_view view;
	char name[NAME_FILE_MAX + 1];
	char purpose[32];
	char tenant[CORE_TENANT_MAX + 1];
	int fd;
};

/** struct fake_cfile - A file of the one container; @fd -1: it is empty */
struct fake_cfile {
	char *path;
	int fd;
	uint64_t bytes;
	bool deleted;
};

/**
 * struct core - What the test may look at and turn
 * @ready:	What core_ready() says
 * @uploads:	How many exist
 * @stall:	core_upload_write() answers -EAGAIN until fake_core_room()
 * @upload_max:	Bytes an upload may have
 * @execs:	How many executions were started
 * @code:	Source of the last one, at most its first 63 bytes
 * @timeout_usec: Of the last one
 * @watches:	How many readers follow
 * @key:	Idempotency-Key of the last create or execution
 * @named:	A handle stands for its container
 * @interrupts:	How many executions were interrupted
 * @deletes:	How many containers were deleted
 * @dialect, @idle_minutes, @origin: Of the last create; @dialect is the
 *		container's
 * @ended:	The container has expired
 * @name:	Of the last create
 * @pool:	Of the last create; "" if it named none
 */
struct core {
	sd_event *event;
	bool ready;
	unsigned uploads;
	bool stall;
	uint64_t upload_max;
	unsigned requests;		/* with a key, under way */
	unsigned requests_max;		/* 0: any */
	void (*revoked)(void *userdata, const char *tenant,
			const char *key_id);
	void *revoked_userdata;
	char tenant[CORE_TENANT_MAX + 1];	/* that was set last */
	struct tenant_limits tenant_limits;
	bool tenant_created;
	int64_t usage_since;
	enum usage_by usage_by;
	uint64_t uploaded;
	struct core_upload *stalled;
	struct fake_file file[FAKE_FILES_MAX];
	unsigned files;
	unsigned lists;		/* of files, that were asked for */
	struct fake_cfile *cfile;
	size_t cfiles;
	unsigned execs;
	char code[64];
	size_t code_len;
	usec_t timeout_usec;
	struct trace trace;
	char key[64];
	bool named;
	unsigned interrupts;
	unsigned deletes;
	enum core_dialect dialect;
	unsigned idle_minutes;
	char origin[CORE_NAME_MAX + 1];
	bool ended;
	enum end_reason end_reason;	/* of FAKE_EXPIRED; set: all are it */
	struct fake_definitions *definitions;
	struct fake_talks *talks;
	char name[CORE_NAME_MAX + 1];
	char pool[CORE_NAME_MAX + 1];
	char image[CORE_NAME_MAX + 1];
	unsigned watches;
	struct exec_watch *watch;
	struct exec_event *events;
	size_t event_count;
	struct exec_view exec;
	bool hold_accept;		/* core_exec_start() calls back later */
	exec_fn accepted;
	void *accepted_userdata;
	uint64_t happened;		/* events, numbered from 1 */
	struct core_events *follower;	/* the last one */
	bool drain;
	usec_t drain_wait;
};

struct core *fake_core_new(sd_event *event);
void fake_core_free(struct core *core);

/**
 * fake_core_cfile() - Give the container a file; its id is "cfile_" and a number
 * @path:	Below /mnt/data
 */
struct fake_cfile *fake_core_cfile(struct core *core, const char *path,
				   const void *data, size_t size);

/** fake_core_room() - The disk is no longer behind */
void fake_core_room(struct core *core);

/** fake_core_accept() - Call back what @hold_accept has held */
void fake_core_accept(struct core *core);

/** fake_core_output() - The execution prints */
void fake_core_output(struct core *core, bool is_stderr, const void *data,
		      size_t size);

/** fake_core_happen() - An event */
void fake_core_happen(struct core *core);

/** fake_core_done() - The execution ends, with this status */
void fake_core_done(struct core *core, enum exec_status status);

#endif
