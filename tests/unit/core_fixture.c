/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <fcntl.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/log.h"
#include "core/exec.h"
#include "core/guest_link.h"

#define BOOT_USEC (1000 * USEC_PER_SEC)
#define WALL_USEC (1700000000 * USEC_PER_SEC)

usec_t fixture_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (usec_t)now.tv_sec * USEC_PER_SEC + (usec_t)now.tv_nsec / 1000;
}

void fixture_turn(struct fixture *fx)
{
	assert_true(sd_event_run(fx->event, 20 * USEC_PER_MSEC) >= 0);
}

void fixture_settle(struct fixture *fx)
{
	/* A disk that takes its time is not one that has nothing to do. */
	do {
		while (sd_event_run(fx->event, 30 * USEC_PER_MSEC) > 0)
			;
		if (fx->store)
			store_flush(fx->store);
	} while (sd_event_run(fx->event, 0) > 0);
}

static void settle_after(struct fixture *fx, usec_t wait)
{
	fixture_settle(fx);
	clock_advance(fx->clock, wait);
	fixture_settle(fx);
}

void fixture_note(struct fixture *fx)
{
	settle_after(fx, EXEC_START_USEC);
}

void fixture_release(struct fixture *fx)
{
	settle_after(fx, LINK_RELEASE_USEC);
}

/* ------------------------------------------------------------------- life */

static void open_store(struct fixture *fx)
{
	char blobs[128], database[128];
	const struct blobs_config blobs_config = {
		.event = fx->event,
		.dir = blobs,
		.free_floor_bytes =
			settings_bytes(fx->settings, "host", "disk_reserve"),
	};
	struct store_config config = {
		.event = fx->event,
		.path = database,
	};
	struct error err = ERROR_INIT;

	(void)snprintf(blobs, sizeof(blobs), "%s/blobs", fx->dir);
	(void)snprintf(database, sizeof(database), "%s/db.sqlite", fx->dir);
	if (blobs_open(&blobs_config, &fx->blobs, &err) < 0)
		fail_msg("%s", err.message);
	config.blobs = fx->blobs;
	if (store_open(&config, &fx->store, &err) < 0)
		fail_msg("%s", err.message);
}

int fixture_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	log_set_level(getenv("TEST_VERBOSE") ? LOG_DEBUG : LOG_CRIT);
	test_make_directory("core", fx->dir, sizeof(fx->dir));
	assert_true(sd_event_new(&fx->event) >= 0);
	assert_int_equal(clock_new_manual(BOOT_USEC, WALL_USEC, &fx->clock), 0);
	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &fx->settings),
			 0);
	fixture_set(fx, "pool.default.ready=0");
	fixture_set(fx, "host.memory=16G");
	/* Refusals are told at once. */
	fixture_set(fx, "session.queue=0");
	/* What else runs on this machine decides nothing. */
	fixture_set(fx, "host.refill_pressure=100");
	fixture_set(fx, "host.memory_reserve=0");
	fixture_set(fx, "host.disk_reserve=0");
	vmd_script_init(&fx->vmd, fx->event, SCRIPTED_VMS_MAX);
	strcpy(fx->who.tenant, "default");
	fx->who.scopes = CORE_SCOPE_ALL;
	*state = fx;
	return 0;
}

void fixture_set(struct fixture *fx, const char *assignment)
{
	struct error err = ERROR_INIT;

	if (settings_set(fx->settings, assignment, &err) < 0)
		fail_msg("%s", err.message);
}

static void write_proc(const struct fixture *fx, const char *name,
		       const char *text)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", fx->proc, name);
	assert_int_equal(fs_write_file_atomic(AT_FDCWD, path, text,
					      strlen(text), 0600),
			 0);
}

void fixture_host(struct fixture *fx, unsigned memory_mib, unsigned pressure)
{
	char path[128], text[128];

	(void)snprintf(fx->proc, sizeof(fx->proc), "%s/proc", fx->dir);
	(void)snprintf(path, sizeof(path), "%s/pressure", fx->proc);
	assert_int_equal(fs_mkdir_p(path, 0700), 0);
	(void)snprintf(text, sizeof(text),
		       "MemTotal: 1 kB\nMemAvailable: %u kB\n",
		       memory_mib << 10);
	write_proc(fx, "meminfo", text);
	(void)snprintf(text, sizeof(text), "some avg10=%u.50 avg60=0.00\n",
		       pressure);
	write_proc(fx, "pressure/cpu", text);
}

static void on_core_ready(void *userdata)
{
	struct fixture *fx = userdata;

	fx->ready = true;
}

static void on_vmd_ready(const struct vmd_hello *hello, void *userdata)
{
	struct fixture *fx = userdata;

	core_vmd_ready(fx->core, hello);
}

static void on_vmd_gone(const struct vmd_gone *gone, void *userdata)
{
	struct fixture *fx = userdata;

	core_vmd_gone(fx->core, gone);
}

static void on_vmd_lost(const char *why, void *userdata)
{
	struct fixture *fx = userdata;

	core_vmd_lost(fx->core, why);
}

void fixture_connect(struct fixture *fx)
{
	int fd = fx->remote > 0 ? fx->remote : vmd_script_connect(&fx->vmd);

	assert_int_equal(vmd_client_attach(fx->client, fd), 0);
}

void fixture_start(struct fixture *fx)
{
	static const struct vmd_handlers handlers = {
		.ready = on_vmd_ready,
		.vm_gone = on_vmd_gone,
		.lost = on_vmd_lost,
	};
	struct core_config config = {
		.event = fx->event,
		.clock = fx->clock,
		.guest_clock = fx->clock,
		.proc = fx->proc[0] ? fx->proc : NULL,
		.settings = fx->settings,
		.development = true,
	};
	struct error err = ERROR_INIT;

	open_store(fx);
	assert_int_equal(vmd_client_new(fx->event, &handlers, fx, &fx->client),
			 0);
	config.store = fx->store;
	config.blobs = fx->blobs;
	config.vmd = fx->client;
	fx->ready = false;
	if (core_new(&config, &fx->core, &err) < 0 ||
	    core_start(fx->core, on_core_ready, fx, &err) < 0)
		fail_msg("%s", err.message);
	fixture_connect(fx);
	RUN_UNTIL(fx, fx->ready);
}

void fixture_kill(struct fixture *fx)
{
	size_t i;

	if (fx->store)
		store_flush(fx->store);
	vmd_client_free(fx->client);
	fx->client = NULL;
	core_free(fx->core);
	fx->core = NULL;
	store_free(fx->store);
	fx->store = NULL;
	blobs_free(fx->blobs);
	fx->blobs = NULL;
	vmd_script_drop(&fx->vmd);
	for (i = 0; i < fx->vmd.count; i++)
		guest_hang_up(fx->vmd.vms[i].guest);
}

int fixture_teardown(void **state)
{
	struct fixture *fx = *state;

	fixture_kill(fx);
	vmd_script_done(&fx->vmd);
	settings_free(fx->settings);
	clock_free(fx->clock);
	sd_event_unref(fx->event);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->dir), 0);
	free(fx);
	return 0;
}

/* -------------------------------------------------------------- callbacks */

static struct answer *answered(void *userdata, const struct error *err)
{
	struct answer *a = userdata;

	assert_false(a->called);
	a->called = true;
	a->failed = err != NULL;
	if (err)
		a->err = *err;
	return a;
}

void on_container(void *userdata, const struct container_view *container,
		  const struct error *err)
{
	struct answer *a = answered(userdata, err);

	if (container)
		strcpy(a->id, container->id);
}

void on_exec(void *userdata, const struct exec_view *exec,
	     const struct error *err)
{
	struct answer *a = answered(userdata, err);

	if (exec)
		strcpy(a->id, exec->id);
}

void on_cfile(void *userdata, const struct cfile_view *file,
	      const struct error *err)
{
	struct answer *a = answered(userdata, err);

	if (file)
		strcpy(a->id, file->id);
}

void on_file(void *userdata, const struct file_view *file,
	     const struct error *err)
{
	struct answer *a = answered(userdata, err);

	if (file)
		strcpy(a->id, file->id);
}

void on_done(void *userdata, const struct error *err)
{
	(void)answered(userdata, err);
}

void on_json(void *userdata, const char *json, size_t size,
	     const struct error *err)
{
	struct answer *a = answered(userdata, err);

	if (json)
		(void)snprintf(a->text, sizeof(a->text), "%.*s", (int)size,
			       json);
}

/* --------------------------------------------------------------- shortcuts */

void fixture_create(struct fixture *fx, const char *const *files, size_t count,
		    struct answer *ret)
{
	const struct container_spec spec = {
		.name = "test",
		.file_count = count,
		.file_ids = files,
	};

	*ret = (struct answer){ .called = false };
	if (core_container_create(fx->core, &fx->who, &spec, on_container, ret,
				  &ret->err) < 0)
		fail_msg("%s", ret->err.message);
	assert_false(ret->called);
	RUN_UNTIL(fx, ret->called);
	if (ret->failed)
		fail_msg("%s", ret->err.message);
}

void fixture_create_held(struct fixture *fx, struct answer *ret)
{
	fx->vmd.hold_creates = true;
	fixture_create(fx, NULL, 0, ret);
	RUN_UNTIL(fx, fx->vmd.creates == 1);
}

struct container_view fixture_container(struct fixture *fx, const char *id)
{
	struct container_view view;
	struct error err = ERROR_INIT;

	if (core_container_get(fx->core, &fx->who, id, false, &view, &err) < 0)
		fail_msg("%s", err.message);
	return view;
}

void fixture_wait_state(struct fixture *fx, const char *id,
			enum session_state_view state)
{
	usec_t end = fixture_now() + FIXTURE_PATIENCE_USEC;
	struct container_view view;

	while ((view = fixture_container(fx, id)).state != state) {
		if (fixture_now() > end)
			fail_msg("%s: state %d instead of %d, ended by %s", id,
				 view.state, state,
				 view.ended_reason ? view.ended_reason : "-");
		fixture_turn(fx);
	}
}

struct scripted_vm *fixture_vm(struct fixture *fx, const char *container)
{
	struct container_view view = fixture_container(fx, container);
	size_t i;

	for (i = 0; i < fx->vmd.count; i++)
		if (strcmp(fx->vmd.vms[i].create.vm_id, view.vm) == 0)
			return &fx->vmd.vms[i];
	fail_msg("no VM '%s'", view.vm);
	return NULL;
}

struct scripted_guest *fixture_guest(struct fixture *fx, const char *container)
{
	return fixture_vm(fx, container)->guest;
}

struct scripted_guest *fixture_session(struct fixture *fx, char id[ID_SIZE])
{
	struct answer a;

	fixture_create(fx, NULL, 0, &a);
	strcpy(id, a.id);
	fixture_wait_state(fx, id, SESSION_VIEW_RUNNING);
	return fixture_guest(fx, id);
}

void fixture_exec(struct fixture *fx, const char *container, const char *code,
		  char id[ID_SIZE])
{
	const struct exec_spec spec = {
		.code = code,
		.code_len = strlen(code),
		.stdin_data = "",
		.note = code,
	};
	struct answer a = { .called = false };

	if (core_exec_start(fx->core, &fx->who, container, &spec, on_exec, &a,
			    &a.err) < 0)
		fail_msg("%s", a.err.message);
	assert_false(a.called);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	strcpy(id, a.id);
}

struct scripted_guest *fixture_running(struct fixture *fx, const char *code,
				       char container[ID_SIZE],
				       char exec[ID_SIZE])
{
	struct scripted_guest *g;

	fixture_start(fx);
	g = fixture_session(fx, container);
	fixture_exec(fx, container, code, exec);
	RUN_UNTIL(fx, g->execs == 1);
	return g;
}

struct exec_view fixture_exec_view(struct fixture *fx, const char *container,
				   const char *id)
{
	struct exec_view view;
	struct error err = ERROR_INIT;

	if (core_exec_get(fx->core, &fx->who, container, id, &view, &err) < 0)
		fail_msg("%s", err.message);
	return view;
}

void fixture_wait_exec(struct fixture *fx, const char *container,
		       const char *id, enum exec_status status)
{
	RUN_UNTIL(fx, fixture_exec_view(fx, container, id).status == status);
}

static void on_room(void *userdata)
{
	(void)userdata;
}

void fixture_upload(struct fixture *fx, const char *name, const void *data,
		    size_t size, char ret[ID_SIZE])
{
	const struct file_spec spec = {
		.filename = name,
		.purpose = "assistants",
	};
	struct answer a = { .called = false };
	struct core_upload *upload;

	assert_int_equal(core_upload_new(fx->core, &fx->who, NULL, UINT64_MAX,
					 on_room, NULL, &upload, &a.err),
			 0);
	assert_int_equal(core_upload_write(upload, data, size, &a.err), 0);
	if (core_file_create(fx->core, &fx->who, &spec, upload, on_file, &a,
			     &a.err) < 0)
		fail_msg("%s", a.err.message);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	strcpy(ret, a.id);
}

/* ---------------------------------------------------------------- figures */

struct figure {
	const char *name;
	const char *labels;
	double value;
};

static void on_figure(void *userdata, const struct family *family,
		      const char *suffix, const char *labels, double value)
{
	struct figure *f = userdata;
	size_t length = strlen(family->name);

	if (strncmp(f->name, family->name, length) == 0 &&
	    strcmp(f->name + length, suffix) == 0 &&
	    strcmp(f->labels, labels) == 0)
		f->value = value;
}

double fixture_figure(struct fixture *fx, const char *name, const char *labels)
{
	struct figure f = { name, labels, -1 };

	core_metrics(fx->core, on_figure, &f);
	return f.value;
}
