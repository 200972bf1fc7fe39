/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tenant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/name.h"
#include "core/budget.h"
#include "core/core_priv.h"

/* A key's last use is noted so often. */
#define KEY_NOTE_USEC USEC_PER_MINUTE

/* ----------------------------------------------------------------- objects */

static int tenant_new(struct core *core, const char *id, struct tenant **ret)
{
	_cleanup_free_ struct tenant *tenant = calloc(1, sizeof(*tenant));
	int r;

	if (!tenant)
		return -ENOMEM;
	strncpy(tenant->id, id, sizeof(tenant->id) - 1);
	tenant->created_usec = clock_wall(core->clock);
	r = map_put(&core->tenants, &tenant->node, tenant->id, tenant);
	if (r < 0)
		return r;
	*ret = take_ptr(tenant);
	return 0;
}

struct tenant *tenant_find(struct core *core, const char *id)
{
	struct tenant *tenant = map_get(&core->tenants, id);

	return tenant && !tenant->closed_usec ? tenant : NULL;
}

struct tenant *tenant_get(struct core *core, const char *id)
{
	struct tenant *tenant = map_get(&core->tenants, id);

	if (!tenant && tenant_new(core, id, &tenant) < 0)
		return NULL;
	return tenant;
}

void tenant_put_row(const struct tenant *tenant, struct store_batch *batch)
{
	struct store_tenant row = {
		.created_usec = tenant->created_usec,
		.closed_usec = tenant->closed_usec,
		.max_sessions = tenant->own.max_sessions,
		.max_executions = tenant->own.max_executions,
		.max_requests = tenant->own.max_requests,
		.requests_per_minute = tenant->own.requests_per_minute,
		.max_bytes = tenant->own.max_bytes,
		.session_seconds_per_day = tenant->own.session_seconds_per_day,
	};

	strcpy(row.id, tenant->id);
	/* What fails is kept in the batch and told by its commit. */
	(void)store_batch_put_tenant(batch, &row);
}

int tenant_make(struct core *core, const char *id, struct store_batch *batch,
		struct tenant **ret, struct error *err)
{
	struct tenant *tenant = map_get(&core->tenants, id);
	bool is_new = !tenant;
	int r;

	if (tenant && tenant->closed_usec)
		return error_set(err, ERR_CONFLICT,
				 "Tenant '%s' is being erased", id);
	if (is_new && core->tenants.count >= TENANTS_MAX)
		return error_set(err, ERR_LIMIT, "There are %u tenants already",
				 TENANTS_MAX);
	if (is_new) {
		r = tenant_new(core, id, &tenant);
		if (r < 0)
			return error_set_errno(err, r, "Cannot make a tenant");
	}
	/* Always: the row of one that is new to others may be on its way. */
	tenant_put_row(tenant, batch);
	*ret = tenant;
	return is_new;
}

int tenant_check_id(const char *id, const char *param, struct error *err)
{
	int r;

	if (strlen(id) <= CORE_TENANT_MAX && name_is_label(id))
		return 0;
	r = error_set(err, ERR_BAD_REQUEST, "'%s' cannot name a tenant", id);
	error_set_param(err, "%s", param);
	return r;
}

int tenant_restore(struct core *core, const struct store_tenant *row)
{
	struct tenant *tenant;
	int r;

	r = tenant_new(core, row->id, &tenant);
	if (r < 0)
		return r;
	tenant->created_usec = row->created_usec;
	tenant->closed_usec = row->closed_usec;
	tenant->own = (struct tenant_limits){
		.max_sessions = row->max_sessions,
		.max_executions = row->max_executions,
		.max_requests = row->max_requests,
		.requests_per_minute = row->requests_per_minute,
		.max_bytes = row->max_bytes,
		.session_seconds_per_day = row->session_seconds_per_day,
	};
	return 0;
}

struct tenant_limits tenant_limits_of(const struct core *core,
				      const struct tenant *tenant)
{
	const struct tenant_limits *usual = &core->set.tenant;
	struct tenant_limits l = tenant->own;

	if (!l.max_sessions)
		l.max_sessions = usual->max_sessions;
	if (!l.max_executions)
		l.max_executions = usual->max_executions;
	if (!l.max_requests)
		l.max_requests = usual->max_requests;
	if (!l.requests_per_minute)
		l.requests_per_minute = usual->requests_per_minute;
	if (!l.max_bytes)
		l.max_bytes = usual->max_bytes;
	if (!l.session_seconds_per_day)
		l.session_seconds_per_day = usual->session_seconds_per_day;
	return l;
}

/* -------------------------------------------------------------------- ends */

static void key_forget(void *object, void *userdata)
{
	struct key *key = object;
	struct core *core = userdata;

	map_remove(&core->digests, &key->by_digest);
	map_remove(&core->keys, &key->node);
	free(key);
}

static void tenant_forget(void *object, void *userdata)
{
	struct tenant *tenant = object;
	struct core *core = userdata;

	map_remove(&core->tenants, &tenant->node);
	free(tenant);
}

void tenant_unmake(struct core *core, struct tenant *tenant)
{
	if (tenant && !tenant->sessions && !tenant->executions &&
	    !tenant->requests)
		tenant_forget(tenant, core);
}

static void key_gc(void *object, void *userdata)
{
	struct key *key = object;

	if (key->tenant->closed_usec && key->requests == 0)
		key_forget(object, userdata);
}

static void tenant_gc_one(void *object, void *userdata)
{
	struct tenant *tenant = object;
	struct core *core = userdata;
	struct store_tenant row;

	if (!tenant->closed_usec || tenant->sessions || tenant->executions ||
	    tenant->requests ||
	    store_tenant_get(core->store, tenant->id, &row) != -ENOENT)
		return;
	log_info(NULL, "Tenant '%s' is erased", tenant->id);
	tenant_forget(object, userdata);
}

void tenant_gc(struct core *core)
{
	/* A request that holds a key holds its tenant's place as well. */
	map_each(&core->keys, key_gc, core);
	map_each(&core->tenants, tenant_gc_one, core);
}

void tenants_done(struct core *core)
{
	map_each(&core->keys, key_forget, core);
	map_done(&core->keys);
	map_done(&core->digests);
	map_each(&core->tenants, tenant_forget, core);
	map_done(&core->tenants);
}

/* ------------------------------------------------------------------- rooms */

static int refuse_room(struct error *err, uint64_t limit, const char *what)
{
	int r = error_set(err, ERR_LIMIT,
			  "All %llu %s of this tenant are in use",
			  (unsigned long long)limit, what);

	error_set_reason(err, "quota");
	return r;
}

int tenant_take_session(struct core *core, struct tenant *tenant,
			struct error *err)
{
	const struct tenant_limits l = tenant_limits_of(core, tenant);
	int r;

	if (l.max_sessions && tenant->sessions >= l.max_sessions)
		return refuse_room(err, l.max_sessions,
				   "containers that may run at a time");
	r = budget_check(core, tenant, err);
	if (r < 0)
		return r;
	tenant->sessions++;
	return 0;
}

void tenant_give_session(struct core *core, struct tenant *tenant)
{
	tenant->sessions--;
	/* The last that its erasing waited for. */
	if (tenant->closed_usec && tenant->sessions == 0 && !core->stopping)
		timer_set(core->sweep, 0);
}

int tenant_check_execution(const struct core *core, const struct tenant *tenant,
			   struct error *err)
{
	const struct tenant_limits l = tenant_limits_of(core, tenant);

	if (!l.max_executions || tenant->executions < l.max_executions)
		return 0;
	return refuse_room(err, l.max_executions,
			   "executions that may run or wait at a time");
}

/* ---------------------------------------------------------------- requests */

int key_find(struct core *core, const uint8_t hash[HASH_SIZE],
	     struct store_key *ret)
{
	char digest[2 * HASH_SIZE + 1];
	const struct key *key;

	hex_encode(hash, HASH_SIZE, digest);
	key = map_get(&core->digests, digest);
	if (!key)
		return store_key_find(core->store, hash, ret);
	*ret = key->row;
	return 0;
}

void key_changed(struct core *core, const char *id)
{
	struct key *key = map_get(&core->keys, id);

	if (key)
		map_remove(&core->digests, &key->by_digest);
}

static int key_new(struct core *core, const struct store_key *row,
		   struct key **ret)
{
	struct key *key = calloc(1, sizeof(*key));

	if (!key)
		return -ENOMEM;
	key->row = *row;
	hex_encode(row->hash, sizeof(row->hash), key->digest);
	if (map_put(&core->keys, &key->node, key->row.id, key) < 0) {
		free(key);
		return -ENOMEM;
	}
	/* Without, it is read each time. */
	(void)map_put(&core->digests, &key->by_digest, key->digest, key);
	*ret = key;
	return 0;
}

static void note_use(struct core *core, struct key *key)
{
	usec_t now = clock_wall(core->clock);
	struct store_batch *batch;

	if (key->used_usec < key->row.last_used_usec)
		key->used_usec = key->row.last_used_usec;
	if (now < key->used_usec + KEY_NOTE_USEC)
		return;
	key->used_usec = now;
	batch = store_batch_new(core->store);
	(void)store_batch_touch_key(batch, key->row.id, now);
	core_commit(core, batch, NULL);
}

struct key *key_use(struct core *core, const struct store_key *row,
		    struct tenant *tenant)
{
	struct key *key = map_get(&core->keys, row->id);

	if (!key && key_new(core, row, &key) < 0)
		return NULL;
	key->tenant = tenant;
	note_use(core, key);
	return key;
}

/* Return: 0, or seconds until there is a token again; one is not taken yet */
static unsigned bucket_wait(struct bucket *b, uint64_t per_minute, usec_t now)
{
	double rate = (double)per_minute / USEC_PER_MINUTE;
	double room = rate * BUCKET_USEC;

	if (per_minute == 0)
		return 0;
	if (room < 1)
		room = 1;
	if (b->at == 0)
		b->tokens = room;
	else
		b->tokens += rate * (double)usec_sub(now, b->at);
	if (b->tokens > room)
		b->tokens = room;
	b->at = now;
	if (b->tokens >= 1)
		return 0;
	return 1 + (unsigned)((1 - b->tokens) / rate / USEC_PER_SEC);
}

static void bucket_take(struct bucket *b, uint64_t per_minute)
{
	if (per_minute)
		b->tokens -= 1;
}

static int check_requests(uint64_t requests, uint64_t max, const char *whose,
			  struct error *err)
{
	int r;

	if (max == 0 || requests < max)
		return 0;
	r = error_set(err, ERR_LIMIT,
		      "All %llu requests that this %s may have under way at a "
		      "time are in use",
		      (unsigned long long)max, whose);
	error_set_reason(err, "rate_limit_exceeded");
	return r;
}

static int check_rate(struct bucket *b, uint64_t per_minute, usec_t now,
		      const char *whose, struct error *err)
{
	unsigned wait = bucket_wait(b, per_minute, now);
	int r;

	if (wait == 0)
		return 0;
	r = error_set(err, ERR_LIMIT,
		      "This %s may make %llu requests a minute: the next one "
		      "in %u s",
		      whose, (unsigned long long)per_minute, wait);
	error_set_reason(err, "rate_limit_exceeded");
	error_set_retry_after(err, wait);
	return r;
}

int core_request_begin(struct core *core, const struct principal *who,
		       struct error *err)
{
	struct tenant *tenant = tenant_find(core, who->tenant);
	struct key *key = map_get(&core->keys, who->key_id);
	usec_t now = clock_boot(core->clock);
	struct tenant_limits l;
	int r;

	if (!tenant || !key)
		return auth_refuse_key(err);
	l = tenant_limits_of(core, tenant);
	r = check_requests(key->requests, key->row.max_requests, "key", err);
	if (r >= 0)
		r = check_requests(tenant->requests, l.max_requests, "tenant",
				   err);
	if (r >= 0)
		r = check_rate(&key->bucket, key->row.requests_per_minute, now,
			       "key", err);
	if (r >= 0)
		r = check_rate(&tenant->bucket, l.requests_per_minute, now,
			       "tenant", err);
	if (r < 0)
		return r;
	bucket_take(&key->bucket, key->row.requests_per_minute);
	bucket_take(&tenant->bucket, l.requests_per_minute);
	key->requests++;
	tenant->requests++;
	return 0;
}

void core_request_end(struct core *core, const struct principal *who)
{
	struct tenant *tenant = map_get(&core->tenants, who->tenant);
	struct key *key = map_get(&core->keys, who->key_id);

	/* Both stay as long as a request holds them. */
	tenant->requests--;
	key->requests--;
}
