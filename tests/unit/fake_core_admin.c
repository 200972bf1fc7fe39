/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fake_core_impl.h"

/* The operator's calls. */

int core_admin_containers(struct core *core, bool all,
			  void (*each)(void *userdata,
				       const struct container_view *container),
			  void *userdata, struct error *err)
{
	struct container_view view;

	(void)core;
	(void)all;
	(void)err;
	fake_core_fill_container(core, &view, "listed");
	each(userdata, &view);
	return 0;
}

static int answer(struct buf *b)
{
	return buf_add_str(b, "{\"a\":1}");
}

int core_admin_inspect(struct core *core, const char *id,
		       struct buf *ret_json, struct error *err)
{
	(void)core;
	if (fake_core_find(core, id, err) < 0)
		return -ENOENT;
	return answer(ret_json);
}

int core_admin_kill(struct core *core, const char *id, core_done_fn done,
		    void *userdata, struct error *err)
{
	if (fake_core_find(core, id, err) < 0)
		return -ENOENT;
	fake_core_later(core, userdata)->done = done;
	return 0;
}

int core_admin_nmi(struct core *core, const char *id, core_done_fn done,
		   void *userdata, struct error *err)
{
	return core_admin_kill(core, id, done, userdata, err);
}

int core_admin_audit(struct core *core, json_fn done, void *userdata,
		     struct error *err)
{
	(void)err;
	fake_core_later(core, userdata)->json = done;
	return 0;
}

int core_admin_mend(struct core *core, json_fn done, void *userdata,
		    struct error *err)
{
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_probe(struct core *core, const char *pool,
		     const char *accelerator, json_fn done, void *userdata,
		     struct error *err)
{
	(void)pool;
	(void)accelerator;
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_console(struct core *core, const char *id, json_fn done,
		       void *userdata, struct error *err)
{
	if (fake_core_find(core, id, err) < 0)
		return -ENOENT;
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_top(struct core *core, json_fn done, void *userdata,
		   struct error *err)
{
	return core_admin_audit(core, done, userdata, err);
}

int core_admin_status(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	(void)core;
	(void)err;
	return answer(ret_json);
}

int core_admin_pools(struct core *core, struct buf *ret_json,
		     struct error *err)
{
	return core_admin_status(core, ret_json, err);
}

int core_admin_pool_set(struct core *core, const char *name, uint64_t ready,
			struct buf *ret_json, struct error *err)
{
	(void)name;
	(void)ready;
	return core_admin_status(core, ret_json, err);
}

int core_admin_images(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	return core_admin_status(core, ret_json, err);
}

int core_admin_doctor(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	return core_admin_status(core, ret_json, err);
}

int core_admin_key_create(struct core *core, const struct key_spec *spec,
			  json_fn done, void *userdata, struct error *err)
{
	static char text[256];
	struct fake_later *later = fake_core_later(core, userdata);

	(void)err;
	(void)snprintf(text, sizeof(text),
		       "{\"id\":\"key_made\",\"tenant\":\"%s\","
		       "\"key\":\"ck-made\"}", spec->tenant);
	later->json = done;
	later->json_text = text;
	return 0;
}

int core_admin_key_list(struct core *core, const char *tenant,
			struct buf *ret_json, struct error *err)
{
	(void)tenant;
	return core_admin_status(core, ret_json, err);
}

void core_admin_owner(struct core *core, const char *id,
		      char ret_tenant[CORE_TENANT_MAX + 1])
{
	bool known = strncmp(id, "key_", 4) == 0 || strncmp(id, "cntr_", 5) == 0;

	(void)core;
	strcpy(ret_tenant, known ? "acme" : "");
}

int core_admin_key_revoke(struct core *core, const char *key_id,
			  core_done_fn done, void *userdata,
			  struct error *err)
{
	(void)key_id;
	(void)err;
	fake_core_later(core, userdata)->done = done;
	return 0;
}

int core_admin_advance_clock(struct core *core, usec_t by, struct error *err)
{
	(void)core;
	(void)by;
	return error_set(err, ERR_FORBIDDEN, "test.clock is not set");
}

void core_metrics(struct core *core, figure_fn emit, void *userdata)
{
	static const struct family sessions = {
		"cupola_sessions", "gauge", "Sessions",
	};

	(void)core;
	emit(userdata, &sessions, "", "state=\"running\"", 1);
	emit(userdata, &sessions, "", "state=\"booting\"", 0);
}

int core_request_begin(struct core *core, const struct principal *who,
		       struct error *err)
{
	(void)who;
	if (core->requests_max && core->requests >= core->requests_max) {
		error_set_retry_after(err, 7);
		return error_set(err, ERR_LIMIT, "All requests are in use");
	}
	core->requests++;
	return 0;
}

void core_request_end(struct core *core, const struct principal *who)
{
	(void)who;
	core->requests--;
}

void core_on_revoked(struct core *core,
		     void (*revoked)(void *userdata, const char *tenant,
				     const char *key_id),
		     void *userdata)
{
	core->revoked = revoked;
	core->revoked_userdata = userdata;
}

int core_admin_tenant_set(struct core *core, const char *id,
			  const struct tenant_limits *limits, bool create,
			  json_fn done, void *userdata, struct error *err)
{
	(void)err;
	snprintf(core->tenant, sizeof(core->tenant), "%s", id);
	core->tenant_limits = *limits;
	core->tenant_created = create;
	fake_core_later(core, userdata)->json = done;
	return 0;
}

int core_admin_tenant_get(struct core *core, const char *id,
			  struct buf *ret_json, struct error *err)
{
	(void)id;
	return core_admin_status(core, ret_json, err);
}

int core_admin_tenant_list(struct core *core, struct buf *ret_json,
			   struct error *err)
{
	return core_admin_status(core, ret_json, err);
}

int core_admin_tenant_delete(struct core *core, const char *id,
			     core_done_fn done, void *userdata,
			     struct error *err)
{
	return core_admin_key_revoke(core, id, done, userdata, err);
}

int core_admin_usage(struct core *core, int64_t since_day, enum usage_by by,
		     const char *tenant, json_fn done, void *userdata,
		     struct error *err)
{
	(void)tenant;
	core->usage_since = since_day;
	core->usage_by = by;
	return core_admin_audit(core, done, userdata, err);
}

bool usage_by_find(const char *name, enum usage_by *ret)
{
	*ret = USAGE_BY_DAY;
	return strcmp(name, "day") == 0;
}

int core_admin_backup(struct core *core, core_backup_fn done, void *userdata,
		      struct error *err)
{
	(void)core;
	(void)done;
	(void)userdata;
	return error_set(err, ERR_CONFLICT, "Another backup is being made");
}

int core_admin_artifacts(struct core *core, const struct core_page *page,
			 void (*each)(void *userdata,
				      const struct cfile_view *file,
				      const char *tenant),
			 void *userdata, bool *ret_more, struct error *err)
{
	const struct cfile_view file = {
		.id = "cfile_1",
		.container = FAKE_CONTAINER,
		.path = "/mnt/data/a",
	};

	(void)core;
	(void)page;
	(void)err;
	each(userdata, &file, "acme");
	*ret_more = false;
	return 0;
}

int core_admin_artifact_open(struct core *core, const char *id,
			     struct cfile_view *ret, int *ret_fd,
			     struct error *err)
{
	(void)core;
	(void)id;
	(void)ret;
	(void)ret_fd;
	return error_set(err, ERR_NOT_FOUND, "There is no artifact");
}

int core_admin_artifact_delete(struct core *core, const char *id,
			       core_done_fn done, void *userdata,
			       struct error *err)
{
	return core_admin_key_revoke(core, id, done, userdata, err);
}
