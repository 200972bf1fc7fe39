/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "fake_core_impl.h"

/* -------------------------------------------------------------- later callbacks */

static void tell_image(const struct fake_later *later)
{
	static const char packages[] = "{\"python3\":\"3.13.5-1\","
				       "\"python3-numpy\":\"1:2.2\"}";
	_cleanup_(json_freep) struct json_object *json = NULL;
	struct core_image image = { .image = "python@sha256:00",
				    .built_at = "2026-11-30T01:08:54Z" };

	if (json_parse(packages, strlen(packages), &json, NULL) < 0)
		abort();
	image.packages = json;
	later->image(later->userdata, &image, NULL);
}

static int on_later(sd_event_source *source, void *userdata)
{
	struct fake_later *later = userdata;
	const struct error *err = error_is_set(&later->err) ? &later->err
							    : NULL;

	(void)source;
	if (later->done)
		later->done(later->userdata, err);
	if (later->file)
		later->file(later->userdata, &later->file_view, NULL);
	if (later->container)
		later->container(later->userdata, &later->container_view, NULL);
	if (later->cfile)
		later->cfile(later->userdata, &later->cfile_view, NULL);
	if (later->parts)
		later->parts(later->userdata, &later->parts_view, NULL);
	if (later->part)
		later->part(later->userdata, &later->part_view, NULL);
	if (later->exec)
		later->exec(later->userdata, &later->exec_view, NULL);
	if (later->conversation)
		later->conversation(later->userdata,
				    err ? NULL : &later->conversation_view,
				    err);
	if (later->definition)
		later->definition(later->userdata,
			       err ? NULL : &later->definition_view, err);
	if (later->definition_version)
		later->definition_version(later->userdata,
				       err ? NULL : &later->version_view, err);
	if (later->image)
		tell_image(later);
	if (later->json)
		later->json(later->userdata, later->json_text,
			    strlen(later->json_text), NULL);
	free(later);
	sd_event_source_unref(source);
	return 0;
}

struct fake_later *fake_core_later(struct core *core, void *userdata)
{
	struct fake_later *later = calloc(1, sizeof(*later));
	sd_event_source *source;

	if (!later || sd_event_add_defer(core->event, &source, on_later,
					 later) < 0)
		abort();
	later->userdata = userdata;
	later->json_text = "{\"a\":1}";
	return later;
}

/* -------------------------------------------------------------------- itself */

struct core *fake_core_new(sd_event *event)
{
	struct core *core = calloc(1, sizeof(*core));

	if (!core)
		abort();
	core->event = event;
	core->ready = true;
	core->upload_max = UINT64_MAX;
	return core;
}

void fake_core_free(struct core *core)
{
	size_t i;

	for (i = 0; i < core->files; i++)
		close_fd(&core->file[i].fd);
	for (i = 0; i < core->cfiles; i++) {
		close_fd(&core->cfile[i].fd);
		free(core->cfile[i].path);
	}
	free(core->cfile);
	fake_talks_free(core);
	fake_definitions_free(core);
	free(core->events);
	free(core);
}

bool core_ready(struct core *core,
		void (*why)(void *userdata, const char *sentence),
		void *userdata)
{
	if (!core->ready)
		why(userdata, "The hypervisor process has not answered yet");
	return core->ready;
}

int core_authenticate(struct core *core, const char *key, size_t key_len,
		      struct principal *ret, struct error *err)
{
	(void)core;
	(void)key_len;
	*ret = (struct principal){ .scopes = CORE_SCOPE_ALL };
	if (strcmp(key, FAKE_KEY) == 0) {
		strcpy(ret->tenant, "default");
		strcpy(ret->key_id, "key_1");
	} else if (strcmp(key, FAKE_OTHER_KEY) == 0) {
		strcpy(ret->tenant, "other");
	} else if (strcmp(key, FAKE_FILES_KEY) == 0) {
		strcpy(ret->tenant, "default");
		ret->scopes = CORE_SCOPE_FILES;
	} else if (strcmp(key, FAKE_TOOLBOXES_KEY) == 0) {
		strcpy(ret->tenant, "default");
		strcpy(ret->key_id, "key_2");
		ret->scopes = CORE_SCOPE_TOOLBOXES;
	} else {
		error_set_reason(err, "invalid_api_key");
		return error_set(err, ERR_UNAUTHORIZED,
				 "Incorrect API key provided");
	}
	return 0;
}

int core_local(struct core *core, const char *tenant, uid_t uid,
	       struct principal *ret, struct error *err)
{
	(void)core;
	(void)err;
	*ret = (struct principal){ .uid = uid, .scopes = CORE_SCOPE_ALL };
	snprintf(ret->tenant, sizeof(ret->tenant), "%s",
		 tenant ? tenant : "default");
	return 0;
}

/* ------------------------------------------------------------------ containers */

int fake_core_find(const struct core *core, const char *id,
		   struct error *err)
{
	if (strcmp(id, FAKE_CONTAINER) == 0)
		return 0;
	if (strcmp(id, FAKE_EXPIRED) == 0)
		return end_reason_tell(id, core->end_reason,
				       FAKE_ENDED_SEC * USEC_PER_SEC, err);
	return error_set(err, ERR_NOT_FOUND,
			 "Container with id '%s' not found", id);
}

void fake_core_fill_container(const struct core *core,
			      struct container_view *view, const char *name)
{
	*view = (struct container_view){
		.name = name,
		.tenant = "default",
		.key_id = "key_1",
		.dialect = core->dialect,
		.expired = core->ended,
		.created_at = 1790000000,
		.last_active_at = 1790000001,
		.idle_minutes = 20,
		.state = SESSION_VIEW_RUNNING,
		.idle_expires_at = 1790001200,
		.hard_expires_at = 1790003600,
		.pool = "default",
		.image = "python@sha256:00",
		.vm = "vm_1",
		.memory_mib = 1024,
		.kernel_epoch = 1,
	};
	strcpy(view->id, core->end_reason ? FAKE_EXPIRED : FAKE_CONTAINER);
}

bool core_image_is_pin(const char *image)
{
	return strchr(image, '@') != NULL;
}

int core_pool_check(struct core *core, const char *name, const char *image,
		    struct error *err)
{
	(void)core;
	if (image && strcmp(image, "python@000000000000") != 0)
		return error_set(err, ERR_NOT_FOUND, "not '%s'", image);
	if (!name || strcmp(name, "nowhere") != 0)
		return 0;
	return error_set(err, ERR_NOT_FOUND, "There is no pool '%s'", name);
}

int core_pool_image(struct core *core, const char *name, core_image_fn done,
		    void *userdata, struct error *err)
{
	struct fake_later *later;

	if (core_pool_check(core, name, NULL, err) < 0)
		return -ENOENT;
	later = fake_core_later(core, userdata);
	later->image = done;
	return 0;
}

int core_container_create(struct core *core, const struct principal *who,
			  const struct container_spec *spec, container_fn done,
			  void *userdata, struct error *err)
{
	struct fake_later *later;

	(void)who;
	if (spec->file_count > 0) {
		error_set_param(err, "file_ids");
		return error_set(err, ERR_NOT_FOUND,
				 "No such File object: %s", spec->file_ids[0]);
	}
	if (strcmp(spec->name, "capacity") == 0)
		return error_set(err, ERR_CAPACITY, "all 8 VMs are in use");
	if (strcmp(spec->name, "bug") == 0)
		return error_set(err, ERR_INTERNAL, "secret /host/path");
	if (spec->pool && strcmp(spec->pool, "nowhere") == 0)
		return error_set(err, ERR_NOT_FOUND, "There is no pool '%s'",
				 spec->pool);
	snprintf(core->name, sizeof(core->name), "%s", spec->name);
	snprintf(core->pool, sizeof(core->pool), "%s",
		 spec->pool ? spec->pool : "");
	snprintf(core->image, sizeof(core->image), "%s",
		 spec->image ? spec->image : "");
	snprintf(core->key, sizeof(core->key), "%s",
		 spec->idempotency.key ? spec->idempotency.key : "");
	core->dialect = spec->dialect;
	core->idle_minutes = spec->idle_minutes;
	snprintf(core->origin, sizeof(core->origin), "%s",
		 spec->origin ? spec->origin : "");
	later = fake_core_later(core, userdata);
	later->container = done;
	fake_core_fill_container(core, &later->container_view, "made");
	if (spec->idle_minutes)
		later->container_view.idle_minutes = spec->idle_minutes;
	later->container_view.memory = spec->memory;
	later->container_view.dialect = spec->dialect;
	return 0;
}

int core_container_get(struct core *core, const struct principal *who,
		       const char *id, bool touch, struct container_view *ret,
		       struct error *err)
{
	(void)core;
	(void)who;
	(void)touch;
	if (fake_core_find(core, id, err) < 0)
		return -ENOENT;
	fake_core_fill_container(core, ret, "n\xc3\xa4me");
	return 0;
}

int core_container_named(struct core *core, const struct principal *who,
			 enum core_dialect dialect, const char *pool,
			 const char *name, bool touch,
			 struct container_view *ret, struct error *err)
{
	(void)who;
	(void)dialect;
	(void)pool;
	(void)touch;
	if (!core->named && core->end_reason)
		return end_reason_tell_named(FAKE_EXPIRED, name,
					     core->end_reason,
					     FAKE_ENDED_SEC * USEC_PER_SEC,
					     err);
	if (!core->named)
		return error_set(err, ERR_NOT_FOUND,
				 "There is no session '%s' now", name);
	fake_core_fill_container(core, ret, name);
	return 0;
}

void core_container_named_list(
	struct core *core, const struct principal *who,
	enum core_dialect dialect, const char *pool,
	void (*each)(void *userdata, const struct container_view *container),
	void *userdata)
{
	struct container_view view;

	(void)who;
	(void)dialect;
	(void)pool;
	if (!core->named)
		return;
	fake_core_fill_container(core, &view, "user-1");
	each(userdata, &view);
}

int core_container_list(struct core *core, const struct principal *who,
			const char *name, const struct core_page *page,
			void (*each)(void *userdata,
				     const struct container_view *container),
			void *userdata, bool *ret_more, struct error *err)
{
	struct container_view view;

	(void)core;
	(void)who;
	(void)name;
	(void)page;
	(void)err;
	fake_core_fill_container(core, &view, "listed");
	each(userdata, &view);
	*ret_more = false;
	return 0;
}

int core_container_delete(struct core *core, const struct principal *who,
			  const char *id, core_done_fn done, void *userdata,
			  struct error *err)
{
	(void)who;
	if (fake_core_find(core, id, err) < 0)
		return -ENOENT;
	core->deletes++;
	fake_core_later(core, userdata)->done = done;
	return 0;
}
