/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

struct core_upload {
	struct core *core;
	int fd;
	uint64_t bytes;
	void (*room)(void *userdata);
	void *userdata;
};

struct exec_watch {
	struct core *core;
	size_t next;
	void (*wake)(void *userdata);
	void *userdata;
	bool waiting;
};

/* -------------------------------------------------------------- later callbacks */

struct later {
	core_done_fn done;
	file_fn file;
	container_fn container;
	cfile_fn cfile;
	json_fn json;
	exec_fn exec;
	void *userdata;
	struct file_view file_view;
	struct cfile_view cfile_view;
	struct container_view container_view;
	struct exec_view exec_view;
};

static int on_later(sd_event_source *source, void *userdata)
{
	struct later *later = userdata;

	(void)source;
	if (later->done)
		later->done(later->userdata, NULL);
	if (later->file)
		later->file(later->userdata, &later->file_view, NULL);
	if (later->container)
		later->container(later->userdata, &later->container_view, NULL);
	if (later->cfile)
		later->cfile(later->userdata, &later->cfile_view, NULL);
	if (later->exec)
		later->exec(later->userdata, &later->exec_view, NULL);
	if (later->json)
		later->json(later->userdata, "{\"a\":1}", 7, NULL);
	free(later);
	sd_event_source_unref(source);
	return 0;
}

static struct later *call_later(struct core *core, void *userdata)
{
	struct later *later = calloc(1, sizeof(*later));
	sd_event_source *source;

	if (!later || sd_event_add_defer(core->event, &source, on_later,
					 later) < 0)
		abort();
	later->userdata = userdata;
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
	unsigned i;

	for (i = 0; i < core->files; i++)
		close_fd(&core->file[i].fd);
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
	} else {
		error_set_reason(err, "invalid_api_key");
		return error_set(err, ERR_UNAUTHORIZED,
				 "Incorrect API key provided");
	}
	return 0;
}

int core_local(struct core *core, const char *tenant, struct principal *ret,
	       struct error *err)
{
	(void)core;
	(void)err;
	*ret = (struct principal){ .scopes = CORE_SCOPE_ALL };
	snprintf(ret->tenant, sizeof(ret->tenant), "%s",
		 tenant ? tenant : "default");
	return 0;
}

/* ------------------------------------------------------------------ containers */

static int find_container(const char *id, struct error *err)
{
	if (strcmp(id, FAKE_CONTAINER) == 0)
		return 0;
	if (strcmp(id, FAKE_EXPIRED) == 0)
		error_set_reason(err, "container_expired");
	return error_set(err, ERR_NOT_FOUND,
			 "Container with id '%s' not found", id);
}

static void fill_container(struct container_view *view, const char *name)
{
	*view = (struct container_view){
		.name = name,
		.tenant = "default",
		.created_at = 1790000000,
		.last_active_at = 1790000001,
		.idle_minutes = 20,
		.state = SESSION_VIEW_RUNNING,
		.idle_expires_at = 1790001200,
		.hard_expires_at = 1790003600,
		.pool = "default",
		.image = "python@sha256:00",
		.vm = "vm_1",
		.kernel_epoch = 1,
	};
	strcpy(view->id, FAKE_CONTAINER);
}

int core_container_create(struct core *core, const struct principal *who,
			  const struct container_spec *spec, container_fn done,
			  void *userdata, struct error *err)
{
	struct later *later;

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
	snprintf(core->key, sizeof(core->key), "%s",
		 spec->idempotency.key ? spec->idempotency.key : "");
	later = call_later(core, userdata);
	later->container = done;
	fill_container(&later->container_view, "made");
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
	if (find_container(id, err) < 0)
		return -ENOENT;
	fill_container(ret, "n\xc3\xa4me");
	return 0;
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
	fill_container(&view, "listed");
	each(userdata, &view);
	*ret_more = false;
	return 0;
}

int core_container_delete(struct core *core, const struct principal *who,
			  const char *id, core_done_fn done, void *userdata,
			  struct error *err)
{
	(void)who;
	if (find_container(id, err) < 0)
		return -ENOENT;
	call_later(core, userdata)->done = done;
	return 0;
}

/* --------------------------------------------------------------------- uploads */

int core_upload_new(struct core *core, const struct principal *who,
		    const char *container, uint64_t declared,
		    void (*room)(void *userdata), void *userdata,
		    struct core_upload **ret, struct error *err)
{
	struct core_upload *upload;

	(void)who;
	if (container && find_container(container, err) < 0)
		return -ENOENT;
	if (declared != UINT64_MAX && declared > core->upload_max)
		return error_set(err, ERR_TOO_LARGE, "larger than allowed");
	upload = calloc(1, sizeof(*upload));
	if (!upload)
		abort();
	upload->core = core;
	upload->fd = memfd_create("upload", MFD_CLOEXEC);
	upload->room = room;
	upload->userdata = userdata;
	core->uploads++;
	*ret = upload;
	return 0;
}

int core_upload_write(struct core_upload *upload, const void *data,
		      size_t size, struct error *err)
{
	struct core *core = upload->core;

	if (core->stall) {
		core->stalled = upload;
		return -EAGAIN;
	}
	if (upload->bytes + size > core->upload_max)
		return error_set(err, ERR_TOO_LARGE, "larger than allowed");
	if (write(upload->fd, data, size) != (ssize_t)size)
		abort();
	upload->bytes += size;
	core->uploaded += size;
	return 0;
}

void core_upload_free(struct core_upload *upload)
{
	if (!upload)
		return;
	upload->core->uploads--;
	if (upload->core->stalled == upload)
		upload->core->stalled = NULL;
	close_fd(&upload->fd);
	free(upload);
}

void fake_core_room(struct core *core)
{
	struct core_upload *upload = take_ptr(core->stalled);

	core->stall = false;
	if (upload)
		upload->room(upload->userdata);
}

/* ----------------------------------------------------------------------- files */

static struct fake_file *find_file(struct core *core,
				   const struct principal *who, const char *id,
				   struct error *err)
{
	unsigned i;

	for (i = 0; i < core->files; i++)
		if (strcmp(core->file[i].view.id, id) == 0 &&
		    strcmp(core->file[i].tenant, who->tenant) == 0)
			return &core->file[i];
	error_set_param(err, "id");
	error_set(err, ERR_NOT_FOUND, "No such File object: %s", id);
	return NULL;
}

static struct fake_file *add_file(struct core *core,
				  const struct principal *who,
				  const char *name, const char *purpose,
				  struct core_upload *upload)
{
	struct fake_file *file = &core->file[core->files];

	if (core->files == FAKE_FILES_MAX)
		abort();
	snprintf(file->view.id, sizeof(file->view.id), "file-%u",
		 ++core->files);
	snprintf(file->name, sizeof(file->name), "%s", name);
	snprintf(file->purpose, sizeof(file->purpose), "%s", purpose);
	snprintf(file->tenant, sizeof(file->tenant), "%s", who->tenant);
	file->view.bytes = upload->bytes;
	file->view.created_at = 1790000000;
	file->view.filename = file->name;
	file->view.purpose = file->purpose;
	memset(file->view.sha256, 0xab, sizeof(file->view.sha256));
	file->fd = dup(upload->fd);
	core_upload_free(upload);
	return file;
}

int core_file_create(struct core *core, const struct principal *who,
		     const struct file_spec *spec, struct core_upload *upload,
		     file_fn done, void *userdata, struct error *err)
{
	struct fake_file *file;
	struct later *later;

	(void)err;
	file = add_file(core, who, spec->filename, spec->purpose, upload);
	if (spec->expires_after_sec)
		file->view.expires_at = file->view.created_at +
					spec->expires_after_sec;
	later = call_later(core, userdata);
	later->file = done;
	later->file_view = file->view;
	return 0;
}

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);

	if (!file)
		return -ENOENT;
	*ret = file->view;
	return 0;
}

int core_file_open(struct core *core, const struct principal *who,
		   const char *id, struct file_view *ret, int *ret_fd,
		   struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);
	char path[64];

	if (!file)
		return -ENOENT;
	*ret = file->view;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

/* Newest first is all that the tests of the server ask for. */
int core_file_list(struct core *core, const struct principal *who,
		   const char *purpose, const struct core_page *page,
		   void (*each)(void *userdata, const struct file_view *file),
		   void *userdata, bool *ret_more, struct error *err)
{
	unsigned i, given = 0;

	if (page->after[0] && !find_file(core, who, page->after, NULL)) {
		error_set_param(err, "after");
		return error_set(err, ERR_BAD_REQUEST, "no such row");
	}
	*ret_more = false;
	for (i = core->files; i > 0; i--) {
		struct fake_file *file = &core->file[i - 1];

		if (strcmp(file->tenant, who->tenant) != 0 ||
		    (purpose && strcmp(purpose, file->purpose) != 0))
			continue;
		if (given++ == page->limit) {
			*ret_more = true;
			break;
		}
		each(userdata, &file->view);
	}
	return 0;
}

int core_file_delete(struct core *core, const struct principal *who,
		     const char *id, core_done_fn done, void *userdata,
		     struct error *err)
{
	struct fake_file *file = find_file(core, who, id, err);

	if (!file)
		return -ENOENT;
	file->tenant[0] = '\0';
	call_later(core, userdata)->done = done;
	return 0;
}

/* ------------------------------------------------------------- container files */

int core_cfile_create(struct core *core, const struct principal *who,
		      const char *container, const char *name,
		      struct core_upload *upload, cfile_fn done,
		      void *userdata, struct error *err)
{
	struct fake_file *file;
	struct later *later;
	static char path[300];

	if (find_container(container, err) < 0)
		return -ENOENT;
	file = add_file(core, who, name, "assistants", upload);
	snprintf(path, sizeof(path), "/mnt/data/%s", name);
	later = call_later(core, userdata);
	later->cfile = done;
	later->cfile_view = (struct cfile_view){
		.created_at = 1790000000,
		.bytes = file->view.bytes,
		.path = path,
		.by_user = true,
	};
	strcpy(later->cfile_view.id, "cfile_1");
	strcpy(later->cfile_view.container, container);
	return 0;
}

int core_cfile_copy(struct core *core, const struct principal *who,
		    const char *container, const char *file_id, cfile_fn done,
		    void *userdata, struct error *err)
{
	(void)done;
	(void)userdata;
	if (find_container(container, err) < 0)
		return -ENOENT;
	if (!find_file(core, who, file_id, err))
		return -ENOENT;
	return error_set(err, ERR_CONFLICT, "not in the fake");
}

int core_cfile_get(struct core *core, const struct principal *who,
		   const char *container, const char *id,
		   struct cfile_view *ret, struct error *err)
{
	(void)core;
	(void)who;
	(void)ret;
	if (find_container(container, err) < 0)
		return -ENOENT;
	return error_set(err, ERR_NOT_FOUND, "No such file: %s", id);
}

int core_cfile_open(struct core *core, const struct principal *who,
		    const char *container, const char *id,
		    struct cfile_view *ret, int *ret_fd, struct error *err)
{
	(void)ret_fd;
	return core_cfile_get(core, who, container, id, ret, err);
}

int core_cfile_list(struct core *core, const struct principal *who,
		    const char *container, const struct core_page *page,
		    void (*each)(void *userdata,
				 const struct cfile_view *file),
		    void *userdata, bool *ret_more, struct error *err)
{
	(void)core;
	(void)who;
	(void)page;
	(void)each;
	(void)userdata;
	*ret_more = false;
	return find_container(container, err);
}

int core_cfile_delete(struct core *core, const struct principal *who,
		      const char *container, const char *id,
		      core_done_fn done, void *userdata, struct error *err)
{
	(void)who;
	(void)id;
	if (find_container(container, err) < 0)
		return -ENOENT;
	call_later(core, userdata)->done = done;
	return 0;
}

/* ------------------------------------------------------------------ executions */

const char *exec_status_name(enum exec_status status)
{
	static const char *const names[] = {
		"queued", "running", "ok", "error", "timeout", "interrupted",
		"output_limit", "oom", "kernel_died", "session_lost",
	};

	return names[status];
}

static void add_event(struct core *core, enum exec_event_type type)
{
	core->events = realloc(core->events, (core->event_count + 1) *
						     sizeof(*core->events));
	if (!core->events)
		abort();
	core->events[core->event_count] = (struct exec_event){
		.id = core->event_count + 1,
		.type = type,
		.view = &core->exec,
	};
	core->event_count++;
}

static void wake(struct core *core)
{
	struct exec_watch *watch = core->watch;

	if (!watch || !watch->waiting)
		return;
	watch->waiting = false;
	watch->wake(watch->userdata);
}

int core_exec_start(struct core *core, const struct principal *who,
		    const char *container, const struct exec_spec *spec,
		    exec_fn accepted, void *userdata, struct error *err)
{
	struct later *later;

	(void)who;
	if (find_container(container, err) < 0)
		return -ENOENT;
	if (spec->code_len == 4 && memcmp(spec->code, "busy", 4) == 0) {
		error_set_reason(err, "container_busy");
		return error_set(err, ERR_CONFLICT, "8 executions wait");
	}
	core->execs++;
	core->code_len = spec->code_len;
	snprintf(core->code, sizeof(core->code), "%s", spec->code);
	core->timeout_usec = spec->timeout_usec;
	snprintf(core->key, sizeof(core->key), "%s",
		 spec->idempotency.key ? spec->idempotency.key : "");
	core->exec = (struct exec_view){ .status = EXEC_RUNNING,
					 .created_at = 1790000000,
					 .execution_count = 3,
					 .kernel_epoch = 1 };
	strcpy(core->exec.id, FAKE_EXEC);
	strcpy(core->exec.container, container);
	core->event_count = 0;
	add_event(core, EXEC_EVENT_STARTED);
	if (core->hold_accept) {
		core->accepted = accepted;
		core->accepted_userdata = userdata;
		return 0;
	}
	later = call_later(core, userdata);
	later->exec = accepted;
	later->exec_view = core->exec;
	return 0;
}

void fake_core_accept(struct core *core)
{
	core->accepted(core->accepted_userdata, &core->exec, NULL);
}

void fake_core_output(struct core *core, bool is_stderr, const void *data,
		      size_t size)
{
	struct exec_event *event;

	add_event(core, EXEC_EVENT_OUTPUT);
	event = &core->events[core->event_count - 1];
	event->is_stderr = is_stderr;
	event->data = data;
	event->data_len = size;
	if (!is_stderr) {
		core->exec.out = data;
		core->exec.out_len = size;
	}
	wake(core);
}

void fake_core_done(struct core *core, enum exec_status status)
{
	core->exec.status = status;
	add_event(core, EXEC_EVENT_DONE);
	wake(core);
}

static int find_exec(struct core *core, const char *id, struct error *err)
{
	if (core->execs > 0 && strcmp(id, FAKE_EXEC) == 0)
		return 0;
	return error_set(err, ERR_NOT_FOUND, "No such execution: %s", id);
}

int core_exec_get(struct core *core, const struct principal *who,
		  const char *container, const char *id,
		  struct exec_view *ret, struct error *err)
{
	(void)who;
	if (find_container(container, err) < 0 || find_exec(core, id, err) < 0)
		return -ENOENT;
	*ret = core->exec;
	return 0;
}

int core_exec_interrupt(struct core *core, const struct principal *who,
			const char *container, const char *id,
			struct error *err)
{
	struct exec_view view;

	return core_exec_get(core, who, container, id, &view, err);
}

int exec_watch_new(struct core *core, const struct principal *who,
		   const char *container, const char *id, uint64_t after,
		   void (*wake_fn)(void *userdata), void *userdata,
		   struct exec_watch **ret, struct error *err)
{
	struct exec_view view;
	struct exec_watch *watch;

	if (core_exec_get(core, who, container, id, &view, err) < 0)
		return -ENOENT;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		abort();
	watch->core = core;
	watch->next = (size_t)after;
	watch->wake = wake_fn;
	watch->userdata = userdata;
	core->watch = watch;
	core->watches++;
	*ret = watch;
	return 0;
}

int exec_watch_next(struct exec_watch *watch, size_t max_data,
		    struct exec_event *ret)
{
	struct core *core = watch->core;

	(void)max_data;
	if (watch->next > 0 && watch->next == core->event_count &&
	    core->events[watch->next - 1].type == EXEC_EVENT_DONE)
		return -ENODATA;
	if (watch->next >= core->event_count) {
		watch->waiting = true;
		return 0;
	}
	*ret = core->events[watch->next++];
	return 1;
}

void exec_watch_free(struct exec_watch *watch)
{
	if (!watch)
		return;
	watch->core->watches--;
	if (watch->core->watch == watch)
		watch->core->watch = NULL;
	free(watch);
}

/* ------------------------------------------------------------------ operator's */

int core_admin_containers(struct core *core, bool all,
			  void (*each)(void *userdata,
				       const struct container_view *container),
			  void *userdata, struct error *err)
{
	struct container_view view;

	(void)core;
	(void)all;
	(void)err;
	fill_container(&view, "listed");
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
	if (find_container(id, err) < 0)
		return -ENOENT;
	return answer(ret_json);
}

int core_admin_kill(struct core *core, const char *id, core_done_fn done,
		    void *userdata, struct error *err)
{
	if (find_container(id, err) < 0)
		return -ENOENT;
	call_later(core, userdata)->done = done;
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
	call_later(core, userdata)->json = done;
	return 0;
}

int core_admin_status(struct core *core, struct buf *ret_json,
		      struct error *err)
{
	(void)core;
	(void)err;
	return answer(ret_json);
}

int core_admin_key_create(struct core *core, const struct key_spec *spec,
			  json_fn done, void *userdata, struct error *err)
{
	(void)spec;
	(void)err;
	call_later(core, userdata)->json = done;
	return 0;
}

int core_admin_key_list(struct core *core, struct buf *ret_json,
			struct error *err)
{
	return core_admin_status(core, ret_json, err);
}

int core_admin_key_revoke(struct core *core, const char *key_id,
			  core_done_fn done, void *userdata,
			  struct error *err)
{
	(void)key_id;
	(void)err;
	call_later(core, userdata)->done = done;
	return 0;
}

int core_admin_advance_clock(struct core *core, usec_t by, struct error *err)
{
	(void)core;
	(void)by;
	return error_set(err, ERR_FORBIDDEN, "test.clock is not set");
}

void core_metrics(struct core *core,
		  void (*emit)(void *userdata, const char *name,
			       const char *type, const char *help,
			       const char *labels, double value),
		  void *userdata)
{
	(void)core;
	emit(userdata, "cupola_sessions", "gauge", "Sessions",
	     "state=\"running\"", 1);
	emit(userdata, "cupola_sessions", "gauge", "Sessions",
	     "state=\"booting\"", 0);
}
