#include "store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fs.h"

#define NOW_USEC (1700000000 * USEC_PER_SEC)

void copy_text(char *to, size_t size, const char *from)
{
	assert_true(strlen(from) < size);
	memcpy(to, from, strlen(from) + 1);
}

void fixture_open(struct fixture *fx, uint64_t free_floor_bytes)
{
	const struct blobs_config blobs = {
		.event = fx->event,
		.dir = fx->blob_dir,
		.free_floor_bytes = free_floor_bytes,
	};
	struct store_config config = {
		.event = fx->event,
		.path = fx->db_path,
	};
	struct error err = ERROR_INIT;

	if (blobs_open(&blobs, &fx->blobs, &err) < 0)
		fail_msg("%s", err.message);
	config.blobs = fx->blobs;
	if (store_open(&config, &fx->store, &err) < 0)
		fail_msg("%s", err.message);
}

void fixture_close(struct fixture *fx)
{
	store_free(fx->store);
	fx->store = NULL;
	blobs_free(fx->blobs);
	fx->blobs = NULL;
}

void fixture_add_tenants(struct fixture *fx)
{
	struct store_batch *batch = store_batch_new(fx->store);
	struct store_tenant row = { .created_usec = NOW_USEC };

	COPY(row.id, "t1");
	assert_int_equal(store_batch_put_tenant(batch, &row), 0);
	COPY(row.id, "t2");
	assert_int_equal(store_batch_put_tenant(batch, &row), 0);
	assert_int_equal(fixture_commit(fx, batch), 0);
}

int fixture_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	test_make_directory("store", fx->dir, sizeof(fx->dir));
	(void)snprintf(fx->blob_dir, sizeof(fx->blob_dir), "%s/blobs", fx->dir);
	(void)snprintf(fx->db_path, sizeof(fx->db_path), "%s/db.sqlite",
		       fx->dir);
	assert_true(sd_event_new(&fx->event) >= 0);
	fixture_open(fx, 0);
	fixture_add_tenants(fx);
	*state = fx;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fx = *state;

	fixture_close(fx);
	sd_event_unref(fx->event);
	assert_int_equal(fs_remove_tree(AT_FDCWD, fx->dir), 0);
	free(fx);
	return 0;
}

struct outcome {
	bool called;
	int r;
	struct blob_info info;
	struct store_swept swept;
};

static void wait_for(struct fixture *fx, const struct outcome *outcome)
{
	while (!outcome->called)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
}

static void on_committed(void *userdata, int r)
{
	struct outcome *outcome = userdata;

	assert_false(outcome->called);
	outcome->called = true;
	outcome->r = r;
}

int fixture_commit(struct fixture *fx, struct store_batch *batch)
{
	struct outcome outcome = { 0 };
	int r;

	r = store_commit(fx->store, batch, on_committed, &outcome);
	if (r < 0) {
		store_batch_free(batch);
		return r;
	}
	wait_for(fx, &outcome);
	return outcome.r;
}

static void on_blob(void *userdata, int r, const struct blob_info *info)
{
	struct outcome *outcome = userdata;

	assert_false(outcome->called);
	assert_true(r < 0 ? !info : !!info);
	outcome->called = true;
	outcome->r = r;
	if (info)
		outcome->info = *info;
}

int fixture_write_blob(struct fixture *fx, const void *data, size_t size,
		       struct blob_writer **ret_keep, struct blob_info *ret)
{
	struct outcome outcome = { 0 };
	const struct blob_spec spec = {
		.expected_bytes = BLOB_LENGTH_UNKNOWN,
		.max_bytes = BLOB_CHUNK_SIZE,
		.done = on_blob,
		.userdata = &outcome,
	};
	struct blob_writer *writer;

	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, data, size), size);
	assert_int_equal(blob_writer_finish(writer), 0);
	wait_for(fx, &outcome);
	if (ret)
		*ret = outcome.info;
	if (ret_keep)
		*ret_keep = writer;
	else
		blob_writer_free(writer);
	return outcome.r;
}

static void on_swept(void *userdata, int r, const struct store_swept *swept)
{
	struct outcome *outcome = userdata;

	outcome->called = true;
	outcome->r = r;
	outcome->swept = *swept;
}

struct store_swept fixture_sweep(struct fixture *fx,
				 const struct store_sweep_spec *spec)
{
	struct outcome outcome = { 0 };

	assert_int_equal(store_sweep(fx->store, spec, on_swept, &outcome), 0);
	wait_for(fx, &outcome);
	assert_int_equal(outcome.r, 0);
	return outcome.swept;
}

static unsigned count_files(int parent, const char *path)
{
	_cleanup_close_ int fd = fs_open_dir(parent, path);
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	unsigned count = 0;
	int here;

	assert_true(fd >= 0);
	here = fd;
	dir = fdopendir(fd);
	assert_non_null(dir);
	(void)take_fd(fd);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (entry->d_type == DT_DIR)
			count += count_files(here, entry->d_name);
		else
			count++;
	}
	return count;
}

unsigned fixture_count_blobs(const struct fixture *fx)
{
	return count_files(AT_FDCWD, fx->blob_dir);
}

struct store_file file_row(const char *id, const char *tenant,
			   const struct blob_info *blob)
{
	struct store_file row = { .created_usec = NOW_USEC };

	COPY(row.id, id);
	COPY(row.tenant, tenant);
	COPY(row.filename, "data.csv");
	COPY(row.purpose, "assistants");
	COPY(row.media_type, "text/csv");
	memcpy(row.sha256, blob->sha256, HASH_SIZE);
	row.bytes = blob->bytes;
	return row;
}

struct store_container container_row(const char *id, const char *tenant)
{
	struct store_container row = { .created_usec = NOW_USEC,
				       .idle_minutes = 20 };

	COPY(row.id, id);
	COPY(row.tenant, tenant);
	COPY(row.name, "demo");
	COPY(row.state, "running");
	return row;
}

struct store_cfile cfile_row(const char *id, const char *container,
			     const char *tenant, const char *path,
			     const struct blob_info *blob)
{
	struct store_cfile row = { .created_usec = NOW_USEC };

	COPY(row.id, id);
	COPY(row.container_id, container);
	COPY(row.tenant, tenant);
	COPY(row.path, path);
	COPY(row.source, "assistant");
	memcpy(row.sha256, blob->sha256, HASH_SIZE);
	row.bytes = blob->bytes;
	return row;
}

struct store_execution execution_row(const char *id, const char *container,
				     const char *tenant)
{
	struct store_execution row = { .created_usec = NOW_USEC, .number = 1 };

	COPY(row.id, id);
	COPY(row.container_id, container);
	COPY(row.tenant, tenant);
	COPY(row.status, "running");
	return row;
}
