/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/name.h"
#include "core/container.h"
#include "core/exec.h"
#include "core/vm.h"
#include "store/hash.h"

/* The calls about executions: see core.h. */

/**
 * struct exec_accept - An answer that is still to be given
 * @exec:	Pinned
 * @ret_exec:	What to answer, which is another one if the key was used before
 */
struct exec_accept {
	struct gc_node node;
	struct core *core;
	struct exec *exec;
	struct principal who;
	char container_id[ID_SIZE];
	struct idempotency idempotency;
	exec_fn done;
	void *userdata;
};

/* ------------------------------------------------------------------- find */

/* Frees what was loaded for one answer, unless a watch holds it. */
static void exec_loaded_over(void *object)
{
	struct exec *e = object;

	e->buried.free = NULL;
	exec_unpin(e);
}

static int exec_find_stored(struct core *core, const struct principal *who,
			    const char *container, const char *id,
			    struct exec **ret)
{
	struct store_execution row;
	int r;

	r = store_execution_get(core->store, who->tenant, container, id, &row);
	if (r >= 0)
		r = exec_load(core, &row, ret);
	if (r < 0)
		return r;
	exec_pin(*ret);
	gc_bury(&core->gc, &(*ret)->buried, exec_loaded_over, *ret);
	return 0;
}

int exec_find(struct core *core, const struct principal *who,
	      const char *container, const char *id, struct exec **ret,
	      struct error *err)
{
	struct exec *e;
	int r;

	r = container_check(core, who, container, err);
	if (r < 0)
		return r;
	e = map_get(&core->execs, id);
	if (e && strcmp(e->container_id, container) == 0) {
		*ret = e;
		return 0;
	}
	r = -ENOENT;
	if (id_is(ID_EXEC, id))
		r = exec_find_stored(core, who, container, id, ret);
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND,
				 "Execution with id '%s' not found.", id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read an execution");
	return 0;
}

/* ------------------------------------------------------------------ start */

static int check_text(const char *field, const char *data, size_t size,
		      size_t max, struct error *err)
{
	int r;

	if (size > max) {
		r = error_set(err, ERR_BAD_REQUEST,
			      "'%s' has %zu bytes, at "
			      "most %zu are allowed",
			      field, size, max);
		error_set_reason(err, "string_above_max_length");
	} else if (!utf8_is_valid(data, size)) {
		r = error_set(err, ERR_BAD_REQUEST, "'%s' is not UTF-8", field);
		error_set_reason(err, "invalid_value");
	} else {
		return 0;
	}
	error_set_param(err, "%s", field);
	return r;
}

static int check_timeout(const struct core *core, usec_t timeout,
			 struct error *err)
{
	usec_t max = core->set.exec_max_timeout;
	int r;

	if (timeout <= max)
		return 0;
	r = error_set(err, ERR_BAD_REQUEST,
		      "'timeout_s' is %.3f, at most "
		      "%.3f is allowed",
		      (double)timeout / USEC_PER_SEC,
		      (double)max / USEC_PER_SEC);
	error_set_param(err, "timeout_s");
	error_set_reason(err, "decimal_above_max_value");
	return r;
}

static int check_spec(const struct core *core, const struct exec_spec *spec,
		      struct error *err)
{
	int r;

	if (spec->code_len == 0) {
		r = error_set(err, ERR_BAD_REQUEST, "'code' is empty");
		error_set_param(err, "code");
		error_set_reason(err, "string_below_min_length");
		return r;
	}
	r = check_text("code", spec->code, spec->code_len, CORE_CODE_MAX, err);
	if (r >= 0)
		r = check_text("stdin", spec->stdin_data, spec->stdin_len,
			       CORE_STDIN_MAX, err);
	if (r >= 0)
		r = check_timeout(core, spec->timeout_usec, err);
	return r;
}

static int check_room(const struct container *c, struct error *err)
{
	int r;

	if (c->queued < CORE_QUEUE_MAX)
		return tenant_check_execution(c->core, c->tenant, err);
	r = error_set(err, ERR_BUSY,
		      "Container '%s' is busy: %u "
		      "executions wait already",
		      c->id, c->queued);
	error_set_reason(err, "container_busy");
	return r;
}

static void accept_answer(void *object)
{
	struct exec_accept *a = object;
	struct exec_view view;

	exec_fill_view(a->exec, &view);
	a->done(a->userdata, &view, NULL);
	exec_unpin(a->exec);
	free((char *)a->idempotency.key);
	free(a);
}

static void accept_fail(struct exec_accept *a, const struct error *err)
{
	a->done(a->userdata, NULL, err);
	if (a->exec)
		exec_unpin(a->exec);
	free((char *)a->idempotency.key);
	free(a);
}

/*
 * Who has what run: noted before it runs, so that no end of ours comes between.
 * Of the code there is the digest and no more: it is a client's.
 */
static void accept_audit(const struct exec *e, const struct principal *who)
{
	char digest[2 * HASH_SIZE + 1] = "", uid[16] = "";
	uint8_t hash[HASH_SIZE];
	const struct log_field fields[] = {
		{ "TENANT", who->tenant },
		{ "KEY_ID", who->key_id },
		{ "UID", uid },
		{ "CODE_SHA256", digest },
	};

	if (hash_sha256(e->code, e->code_len, hash) >= 0)
		hex_encode(hash, sizeof(hash), digest);
	if (!who->key_id[0])
		(void)snprintf(uid, sizeof(uid), "%u", who->uid);
	log_audit(&e->scope, "execution", fields,
		  sizeof(fields) / sizeof(fields[0]));
}

/* The execution was accepted: the answer follows when the loop has unwound. */
static void accept_later(struct exec_accept *a)
{
	gc_bury(&a->core->gc, &a->node, accept_answer, a);
}

/* What was answered to this key before, or that it was another request. */
static int accept_earlier(struct exec_accept *a, struct error *err)
{
	struct core *core = a->core;
	struct store_idempotency row;
	int r;

	r = store_idempotency_get(core->store, a->who.tenant,
				  a->idempotency.key, clock_wall(core->clock),
				  &row);
	if (r < 0)
		return r;
	if (memcmp(row.body_sha256, a->idempotency.body_sha256, HASH_SIZE))
		return error_set(err, ERR_UNPROCESSABLE,
				 "Idempotency-Key was "
				 "used with another request");
	if (a->exec)
		exec_unpin(a->exec);
	a->exec = NULL;
	r = exec_find(core, &a->who, a->container_id, row.answer, &a->exec,
		      err);
	if (r < 0)
		return r;
	exec_pin(a->exec);
	return 1;
}

static void on_key_committed(void *userdata, int r)
{
	struct exec_accept *a = userdata;
	struct exec *e = a->exec;
	struct error err = ERROR_INIT;

	e->accepting = false;
	if (r >= 0) {
		accept_audit(e, &a->who);
		/* Its session may have ended meanwhile, and it with it. */
		if (e->state == EXEC_STATE_QUEUED)
			container_pump(e->container);
		accept_later(a);
		return;
	}
	/* Nobody was told of it: it never was. */
	if (e->state == EXEC_STATE_QUEUED) {
		container_exec_remove(e->container, e);
		exec_cancel_new(e);
	}
	r = r == -EEXIST ? accept_earlier(a, &err) : core_store_failed(r, &err);
	if (r > 0)
		accept_later(a);
	else
		accept_fail(a, &err);
}

/* With a key, the row that remembers it comes before the execution. */
static int start_with_key(struct exec_accept *a, struct error *err)
{
	struct core *core = a->core;
	struct store_batch *batch = store_batch_new(core->store);
	struct store_idempotency row = {
		.created_usec = clock_wall(core->clock),
	};
	int r;

	strcpy(row.tenant, a->who.tenant);
	strncpy(row.key, a->idempotency.key, sizeof(row.key) - 1);
	strcpy(row.answer, a->exec->id);
	memcpy(row.body_sha256, a->idempotency.body_sha256, HASH_SIZE);
	(void)store_batch_add_idempotency(batch, &row);
	exec_put_start(a->exec, batch);
	r = store_commit(core->store, batch, on_key_committed, a);
	if (r < 0) {
		store_batch_free(batch);
		return core_store_failed(r, err);
	}
	return 0;
}

static int accept_new(struct core *core, const struct principal *who,
		      const char *container, const struct exec_spec *spec,
		      exec_fn done, void *userdata, struct exec_accept **ret)
{
	struct exec_accept *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->core = core;
	a->who = *who;
	a->done = done;
	a->userdata = userdata;
	strncpy(a->container_id, container, sizeof(a->container_id) - 1);
	a->idempotency = spec->idempotency;
	if (spec->idempotency.key) {
		a->idempotency.key = strdup(spec->idempotency.key);
		if (!a->idempotency.key) {
			free(a);
			return -ENOMEM;
		}
	}
	*ret = a;
	return 0;
}

static int start(struct exec_accept *a, struct container *c,
		 const struct exec_spec *spec, struct error *err)
{
	int r;

	r = exec_new(c, spec, &a->exec);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start an execution");
	exec_pin(a->exec);
	if (a->idempotency.key) {
		r = start_with_key(a, err);
		if (r < 0) {
			exec_cancel_new(a->exec);
			return r;
		}
		/* It has its turn, but does not begin before the commit. */
		a->exec->accepting = true;
		container_exec_add(c, a->exec);
		return 0;
	}
	accept_audit(a->exec, &a->who);
	container_exec_add(c, a->exec);
	/* Sent already, if it was its turn; the record can wait. */
	exec_save_start(a->exec);
	accept_later(a);
	return 0;
}

int core_exec_start(struct core *core, const struct principal *who,
		    const char *container, const struct exec_spec *spec,
		    exec_fn accepted, void *userdata, struct error *err)
{
	struct exec_accept *a = NULL;
	struct container *c = NULL;
	int r;

	r = check_spec(core, spec, err);
	if (r < 0)
		return r;
	r = accept_new(core, who, container, spec, accepted, userdata, &a);
	if (r < 0)
		return error_set_errno(err, r, "Cannot start an execution");
	/* What was answered once is answered again, session or not. */
	r = a->idempotency.key ? accept_earlier(a, err) : -ENOENT;
	if (r > 0) {
		accept_later(a);
		return 0;
	}
	if (r == -ENOENT && !error_is_set(err))
		r = container_find(core, who, container, &c, err);
	if (r >= 0)
		r = core_refuse_work(core, err);
	if (r >= 0)
		r = check_room(c, err);
	if (r >= 0) {
		reaper_touch(c);
		r = start(a, c, spec, err);
	}
	if (r < 0) {
		if (a->exec)
			exec_unpin(a->exec);
		free((char *)a->idempotency.key);
		free(a);
	}
	return r;
}

/* ------------------------------------------------------------------ others */

int core_exec_get(struct core *core, const struct principal *who,
		  const char *container, const char *id, struct exec_view *ret,
		  struct error *err)
{
	struct exec *e;
	int r;

	r = exec_find(core, who, container, id, &e, err);
	if (r < 0)
		return r;
	reaper_touch_by_id(core, container);
	exec_fill_view(e, ret);
	return 0;
}

int core_exec_interrupt(struct core *core, const struct principal *who,
			const char *container, const char *id,
			struct error *err)
{
	struct exec *e;
	int r;

	r = exec_find(core, who, container, id, &e, err);
	if (r < 0)
		return r;
	reaper_touch_by_id(core, container);
	if (e->state == EXEC_STATE_QUEUED && e->listed) {
		exec_cancel(e);
		return 0;
	}
	/* While the link is down there is nobody to interrupt it. */
	if (e->state != EXEC_STATE_RUNNING || !e->container ||
	    !vm_linked(e->container->vm))
		return 0;
	r = guest_link_interrupt(e->container->vm->link, e->number);
	return r < 0 ? error_set_errno(err, r, "Cannot interrupt it") : 0;
}
