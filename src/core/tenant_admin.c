/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "core/container.h"

/* The operator's calls about tenants. */

static const struct {
	const char *name;
	size_t offset;
} limits[] = {
#define LIMIT(name) { #name, offsetof(struct tenant_limits, name) }
	LIMIT(max_sessions),  LIMIT(max_executions),
	LIMIT(max_requests),  LIMIT(requests_per_minute),
	LIMIT(max_bytes),     LIMIT(session_seconds_per_day),
#undef LIMIT
};

enum { LIMIT_COUNT = sizeof(limits) / sizeof(limits[0]) };
static_assert(sizeof(struct tenant_limits) == LIMIT_COUNT * sizeof(uint64_t),
	      "limits[] doesn't match struct tenant_limits");

static uint64_t limit_of(const struct tenant_limits *l, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)l + limits[i].offset, sizeof(value));
	return value;
}

static void limits_change(struct tenant_limits *l,
			  const struct tenant_limits *to)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++)
		if (limit_of(to, i) != TENANT_KEEP)
			memcpy((char *)l + limits[i].offset,
			       (const char *)to + limits[i].offset,
			       sizeof(uint64_t));
}

/* What is not there, an own limit or any at all, is null. */
static void write_limits(struct json_writer *w, const char *key,
			 const struct tenant_limits *l)
{
	size_t i;

	json_write_object(w, key);
	for (i = 0; i < LIMIT_COUNT; i++)
		if (limit_of(l, i))
			json_write_uint(w, limits[i].name, limit_of(l, i));
		else
			json_write_null(w, limits[i].name);
	json_write_close(w);
}

static void write_holds(struct core *core, const struct tenant *tenant,
			struct json_writer *w)
{
	struct store_totals totals = { 0 };

	/* The figures of a database that fails are zeros here. */
	(void)store_tenant_totals(core->store, tenant->id, &totals);
	json_write_object(w, "holds");
	json_write_uint(w, "sessions", tenant->sessions);
	json_write_uint(w, "executions", tenant->executions);
	json_write_uint(w, "requests", tenant->requests);
	json_write_uint(w, "files", totals.files + totals.cfiles);
	json_write_uint(w, "bytes", store_totals_bytes(&totals));
	json_write_close(w);
}

static void write_tenant(struct core *core, const struct tenant *tenant,
			 struct json_writer *w)
{
	const struct tenant_limits all = tenant_limits_of(core, tenant);

	json_write_object(w, NULL);
	json_write_string(w, "id", tenant->id);
	json_write_string(w, "object", "tenant");
	json_write_uint(w, "created_at", tenant->created_usec / USEC_PER_SEC);
	json_write_string(w, "state",
			  tenant->closed_usec ? "erasing" : "active");
	write_limits(w, "limits", &tenant->own);
	write_limits(w, "effective", &all);
	write_holds(core, tenant, w);
	json_write_close(w);
}

static int refuse_unknown(const char *id, struct error *err)
{
	return error_set(err, ERR_NOT_FOUND, "There is no tenant '%s'", id);
}

/* -------------------------------------------------------------------- look */

int core_admin_tenant_get(struct core *core, const char *id,
			  struct buf *ret_json, struct error *err)
{
	const struct tenant *tenant = map_get(&core->tenants, id);
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	int r;

	if (!tenant)
		return refuse_unknown(id, err);
	write_tenant(core, tenant, &w);
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot tell of a tenant") : 0;
}

struct sorted {
	const struct tenant **tenants;
	size_t count;
};

static void add_sorted(void *object, void *userdata)
{
	struct sorted *s = userdata;

	s->tenants[s->count++] = object;
}

static int by_id(const void *a, const void *b)
{
	const struct tenant *const *one = a, *const *two = b;

	return strcmp((*one)->id, (*two)->id);
}

int core_admin_tenant_list(struct core *core, struct buf *ret_json,
			   struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	struct sorted s = { .count = 0 };
	size_t i;
	int r;

	s.tenants = calloc(core->tenants.count + 1, sizeof(*s.tenants));
	if (!s.tenants)
		return error_set_errno(err, -ENOMEM, "Cannot list tenants");
	map_each(&core->tenants, add_sorted, &s);
	qsort(s.tenants, s.count, sizeof(*s.tenants), by_id);
	json_write_object(&w, NULL);
	json_write_array(&w, "tenants");
	for (i = 0; i < s.count; i++)
		write_tenant(core, s.tenants[i], &w);
	json_write_close(&w);
	json_write_close(&w);
	free(s.tenants);
	r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot list tenants") : 0;
}

/* --------------------------------------------------------------------- set */

/**
 * struct tenant_set - A change that is on its way to the disk
 * @before:	What holds again if it does not get there
 */
struct tenant_set {
	struct core *core;
	char id[CORE_TENANT_MAX + 1];
	bool made;
	struct tenant_limits before;
	json_fn done;
	void *userdata;
};

static void set_undo(struct tenant_set *ts)
{
	struct tenant *tenant = map_get(&ts->core->tenants, ts->id);

	if (!tenant)
		return;
	tenant->own = ts->before;
	if (ts->made)
		tenant_unmake(ts->core, tenant);
}

static void on_set(void *userdata, int r)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(4096);
	struct tenant_set *ts = userdata;
	struct error err = ERROR_INIT;

	if (r < 0) {
		set_undo(ts);
		core_store_failed(r, &err);
	} else {
		r = core_admin_tenant_get(ts->core, ts->id, &json, &err);
	}
	ts->done(ts->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		 r < 0 ? &err : NULL);
	free(ts);
}

static int check_set(struct core *core, const char *id, bool create,
		     struct error *err)
{
	int r;

	if (!create)
		return tenant_find(core, id) ? 0 : refuse_unknown(id, err);
	r = tenant_check_id(id, "id", err);
	if (r >= 0 && tenant_find(core, id))
		r = error_set(err, ERR_CONFLICT, "There is a tenant '%s'", id);
	return r;
}

static int set_commit(struct tenant_set *ts, const struct tenant_limits *to,
		      struct error *err)
{
	struct store_batch *batch = store_batch_new(ts->core->store);
	struct tenant *tenant;
	int r;

	r = tenant_make(ts->core, ts->id, batch, &tenant, err);
	if (r < 0) {
		store_batch_free(batch);
		return r;
	}
	ts->made = r > 0;
	ts->before = tenant->own;
	limits_change(&tenant->own, to);
	tenant_put_row(tenant, batch);
	r = store_commit(ts->core->store, batch, on_set, ts);
	if (r < 0) {
		store_batch_free(batch);
		set_undo(ts);
		return core_store_failed(r, err);
	}
	return 0;
}

int core_admin_tenant_set(struct core *core, const char *id,
			  const struct tenant_limits *to, bool create,
			  json_fn done, void *userdata, struct error *err)
{
	struct tenant_set *ts;
	int r;

	r = check_set(core, id, create, err);
	if (r < 0)
		return r;
	ts = calloc(1, sizeof(*ts));
	if (!ts)
		return error_set_errno(err, -ENOMEM, "Cannot set a tenant");
	ts->core = core;
	strcpy(ts->id, id);
	ts->done = done;
	ts->userdata = userdata;
	r = set_commit(ts, to, err);
	if (r < 0)
		free(ts);
	return r;
}

/* ------------------------------------------------------------------ delete */

struct tenant_close {
	struct core *core;
	struct tenant *tenant;
	core_done_fn done;
	void *userdata;
};

static void end_session(void *object, void *userdata)
{
	struct container *c = object;

	if (c->tenant != userdata)
		return;
	c->erased = true;
	container_end(c, END_DELETED);
}

static void on_closed(void *userdata, int r)
{
	struct tenant_close *tc = userdata;
	struct core *core = tc->core;
	struct error err = ERROR_INIT;

	if (r < 0) {
		tc->tenant->closed_usec = 0;
		core_store_failed(r, &err);
	} else {
		log_info(NULL, "Tenant '%s' is being erased", tc->tenant->id);
		if (core->revoked)
			core->revoked(core->revoked_userdata, tc->tenant->id,
				      NULL);
		map_each(&core->containers, end_session, tc->tenant);
		timer_set(core->sweep, 0);
	}
	tc->done(tc->userdata, r < 0 ? &err : NULL);
	free(tc);
}

int core_admin_tenant_delete(struct core *core, const char *id,
			     core_done_fn done, void *userdata,
			     struct error *err)
{
	struct tenant *tenant = tenant_find(core, id);
	struct store_batch *batch;
	struct tenant_close *tc;
	int r;

	if (!tenant)
		return refuse_unknown(id, err);
	if (strcmp(id, CORE_TENANT_DEFAULT) == 0)
		return error_set(err, ERR_CONFLICT,
				 "Tenant '%s' is who acts on the Unix socket, "
				 "and cannot be deleted",
				 id);
	tc = calloc(1, sizeof(*tc));
	if (!tc)
		return error_set_errno(err, -ENOMEM, "Cannot erase a tenant");
	*tc = (struct tenant_close){ core, tenant, done, userdata };
	/* At once: nothing may begin for it while this is being written. */
	tenant->closed_usec = clock_wall(core->clock);
	batch = store_batch_new(core->store);
	tenant_put_row(tenant, batch);
	r = store_commit(core->store, batch, on_closed, tc);
	if (r < 0) {
		store_batch_free(batch);
		tenant->closed_usec = 0;
		free(tc);
		return core_store_failed(r, err);
	}
	return 0;
}
