/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/json_write.h"
#include "base/name.h"
#include "core/core_priv.h"

/*
 * API keys and principals.
 *
 * The store has the SHA-256 of each key and nothing else of it. A key has 256
 * random bits, so looking its hash up tells a stranger nothing, neither by the
 * answer's time nor by the answer: what is not a key in use is one query,
 * whatever it is.
 */

#define KEY_MAX 256

static const struct {
	enum core_scope scope;
	const char *name;
} scopes[] = {
	{ CORE_SCOPE_FILES, "files" },
	{ CORE_SCOPE_CONTAINERS, "containers" },
	{ CORE_SCOPE_RESPONSES, "responses" },
	{ CORE_SCOPE_TOOLBOXES, "toolboxes" },
	{ CORE_SCOPE_SESSIONS, "sessions" },
	{ CORE_SCOPE_METRICS, "metrics" },
};

int auth_refuse_key(struct error *err)
{
	int r;

	r = error_set(err, ERR_UNAUTHORIZED, "Incorrect API key provided");
	error_set_reason(err, "invalid_api_key");
	return r;
}

/* The index compares digests, of which a stranger cannot choose a single bit. */
static int find_key(struct core *core, const char *key, size_t key_len,
		    struct store_key *ret)
{
	uint8_t hash[HASH_SIZE];
	int r;

	r = hash_sha256(key, key_len, hash);
	if (r >= 0)
		r = key_find(core, hash, ret);
	if (r >= 0 && !secret_equal(ret->hash, hash, sizeof(hash)))
		r = -ENOENT;
	return r;
}

int core_authenticate(struct core *core, const char *key, size_t key_len,
		      struct principal *ret, struct error *err)
{
	usec_t now = clock_wall(core->clock);
	struct tenant *tenant;
	struct store_key row;
	int r;

	if (key_len > KEY_MAX)
		return auth_refuse_key(err);
	r = find_key(core, key, key_len, &row);
	if (r == -ENOENT ||
	    (r >= 0 && (row.revoked_usec ||
			(row.expires_usec && row.expires_usec <= now))))
		return auth_refuse_key(err);
	if (r < 0)
		return error_set_errno(err, r, "Cannot check a key");
	tenant = tenant_find(core, row.tenant);
	if (!tenant)
		return auth_refuse_key(err);
	if (!key_use(core, &row, tenant))
		return error_set_errno(err, -ENOMEM, "Cannot check a key");

	*ret = (struct principal){ .scopes = row.scopes };
	strcpy(ret->tenant, row.tenant);
	strcpy(ret->key_id, row.id);
	return 0;
}

int core_local(struct core *core, const char *tenant, uid_t uid,
	       struct principal *ret, struct error *err)
{
	const char *id = tenant ? tenant : CORE_TENANT_DEFAULT;
	const struct tenant *found = tenant_find(core, id);

	if (!found)
		return error_set(err, ERR_NOT_FOUND, "There is no tenant '%s'",
				 id);
	*ret = (struct principal){ .uid = uid, .scopes = CORE_SCOPE_ALL };
	strcpy(ret->tenant, found->id);
	return 0;
}

/* ----------------------------------------------------------- the operator's */

static void write_key(struct json_writer *w, const struct store_key *row)
{
	size_t i;

	json_write_string(w, "id", row->id);
	json_write_string(w, "tenant", row->tenant);
	json_write_string(w, "name", row->name);
	json_write_array(w, "scopes");
	for (i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (row->scopes & scopes[i].scope)
			json_write_string(w, NULL, scopes[i].name);
	json_write_close(w);
	json_write_uint(w, "created_at", row->created_usec / USEC_PER_SEC);
	if (row->expires_usec)
		json_write_uint(w, "expires_at",
				row->expires_usec / USEC_PER_SEC);
	else
		json_write_null(w, "expires_at");
	if (row->last_used_usec)
		json_write_uint(w, "last_used_at",
				row->last_used_usec / USEC_PER_SEC);
	else
		json_write_null(w, "last_used_at");
	if (row->revoked_usec)
		json_write_uint(w, "revoked_at",
				row->revoked_usec / USEC_PER_SEC);
	if (row->max_requests)
		json_write_uint(w, "max_requests", row->max_requests);
	if (row->requests_per_minute)
		json_write_uint(w, "requests_per_minute",
				row->requests_per_minute);
}

struct key_create {
	struct core *core;
	struct tenant *made; /* for this key, or NULL */
	struct store_key row;
	char key[ID_SIZE];
	json_fn done;
	void *userdata;
};

static void on_key_created(void *userdata, int r)
{
	struct key_create *kc = userdata;
	_cleanup_(buf_done) struct buf json = BUF_INIT(4096);
	struct json_writer w = JSON_WRITER_INIT(&json);
	struct error err = ERROR_INIT;

	if (r >= 0) {
		json_write_object(&w, NULL);
		write_key(&w, &kc->row);
		json_write_string(&w, "key", kc->key);
		json_write_close(&w);
		r = json_write_end(&w);
	}
	if (r < 0) {
		core_store_failed(r, &err);
		tenant_unmake(kc->core, kc->made);
	}
	kc->done(kc->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		 r < 0 ? &err : NULL);
	if (json.data)
		explicit_bzero(json.data, json.length);
	explicit_bzero(kc, sizeof(*kc));
	free(kc);
}

static int key_draw(struct core *core, const struct key_spec *spec,
		    struct key_create *kc)
{
	struct store_key *row = &kc->row;
	int r;

	r = id_new(ID_KEY, row->id);
	if (r >= 0)
		r = id_new(ID_KEY_SECRET, kc->key);
	if (r >= 0)
		r = hash_sha256(kc->key, strlen(kc->key), row->hash);
	if (r < 0)
		return r;
	strcpy(row->tenant, spec->tenant);
	if (spec->name)
		strcpy(row->name, spec->name);
	row->scopes = spec->scopes ? spec->scopes : CORE_SCOPE_ALL;
	row->max_requests = spec->max_requests;
	row->requests_per_minute = spec->requests_per_minute;
	row->created_usec = clock_wall(core->clock);
	if (spec->expires_after_sec > 0)
		row->expires_usec =
			row->created_usec +
			(usec_t)spec->expires_after_sec * USEC_PER_SEC;
	return 0;
}

static int check_key_spec(const struct key_spec *spec, struct error *err)
{
	int r;

	r = tenant_check_id(spec->tenant, "tenant", err);
	if (r < 0)
		return r;
	if (!spec->name || !spec->name[0])
		return 0;
	r = name_check_text(spec->name, strlen(spec->name), CORE_NAME_MAX, err);
	if (r < 0)
		error_set_param(err, "name");
	return r;
}

static int key_commit(struct key_create *kc, struct error *err)
{
	struct store_batch *batch = store_batch_new(kc->core->store);
	struct tenant *tenant;
	int r;

	r = tenant_make(kc->core, kc->row.tenant, batch, &tenant, err);
	if (r < 0) {
		store_batch_free(batch);
		return r;
	}
	if (r > 0)
		kc->made = tenant;
	(void)store_batch_put_key(batch, &kc->row);
	r = store_commit(kc->core->store, batch, on_key_created, kc);
	if (r < 0) {
		store_batch_free(batch);
		tenant_unmake(kc->core, kc->made);
		return core_store_failed(r, err);
	}
	return 0;
}

int core_admin_key_create(struct core *core, const struct key_spec *spec,
			  json_fn done, void *userdata, struct error *err)
{
	struct key_create *kc;
	int r;

	r = check_key_spec(spec, err);
	if (r < 0)
		return r;
	kc = calloc(1, sizeof(*kc));
	if (!kc)
		return error_set_errno(err, -ENOMEM, "Cannot make a key");
	kc->core = core;
	kc->done = done;
	kc->userdata = userdata;
	r = key_draw(core, spec, kc);
	r = r < 0 ? error_set_errno(err, r, "Cannot make a key") :
		    key_commit(kc, err);
	if (r < 0) {
		explicit_bzero(kc, sizeof(*kc));
		free(kc);
	}
	return r;
}

static void on_key_row(void *userdata, const struct store_key *row)
{
	struct json_writer *w = userdata;

	json_write_object(w, NULL);
	write_key(w, row);
	json_write_close(w);
}

int core_admin_key_list(struct core *core, const char *tenant,
			struct buf *ret_json, struct error *err)
{
	struct json_writer w = JSON_WRITER_INIT(ret_json);
	const struct store_page page = { .limit = STORE_PAGE_MAX };
	int r;

	json_write_object(&w, NULL);
	json_write_array(&w, "keys");
	r = store_key_list(core->store, tenant, &page, on_key_row, &w, NULL);
	json_write_close(&w);
	json_write_close(&w);
	if (r >= 0)
		r = json_write_end(&w);
	return r < 0 ? error_set_errno(err, r, "Cannot list keys") : 0;
}

struct key_revoke {
	struct core *core;
	struct store_key row;
	core_done_fn done;
	void *userdata;
};

static void on_key_revoked(void *userdata, int r)
{
	struct key_revoke *kr = userdata;
	struct core *core = kr->core;
	struct error err = ERROR_INIT;

	if (r < 0)
		core_store_failed(r, &err);
	else
		key_changed(core, kr->row.id);
	if (r >= 0 && core->revoked)
		core->revoked(core->revoked_userdata, kr->row.tenant,
			      kr->row.id);
	kr->done(kr->userdata, r < 0 ? &err : NULL);
	free(kr);
}

static int key_revoke(struct core *core, const struct store_key *row,
		      core_done_fn done, void *userdata, struct error *err)
{
	struct key_revoke *kr = calloc(1, sizeof(*kr));
	struct store_batch *batch;
	int r;

	if (!kr)
		return error_set_errno(err, -ENOMEM, "Cannot revoke a key");
	*kr = (struct key_revoke){ core, *row, done, userdata };
	if (!kr->row.revoked_usec)
		kr->row.revoked_usec = clock_wall(core->clock);
	batch = store_batch_new(core->store);
	(void)store_batch_put_key(batch, &kr->row);
	r = store_commit(core->store, batch, on_key_revoked, kr);
	if (r < 0) {
		store_batch_free(batch);
		free(kr);
		return core_store_failed(r, err);
	}
	return 0;
}

int core_admin_key_revoke(struct core *core, const char *key_id,
			  core_done_fn done, void *userdata, struct error *err)
{
	struct store_key row;
	int r;

	r = id_is(ID_KEY, key_id) ? store_key_get(core->store, key_id, &row) :
				    -ENOENT;
	if (r == -ENOENT)
		return error_set(err, ERR_NOT_FOUND, "There is no key '%s'",
				 key_id);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read a key");
	return key_revoke(core, &row, done, userdata, err);
}
