#ifndef CUPOLA_TESTS_STORE_FIXTURE_H
#define CUPOLA_TESTS_STORE_FIXTURE_H

/* A store in a directory of its own, and calls that wait for their answer. */

#include "test.h"

#include <systemd/sd-event.h>

#include "store/store.h"

struct fixture {
	char dir[64];
	char blob_dir[80];
	char db_path[80];
	sd_event *event;
	struct blobs *blobs;
	struct store *store;
	bool small; /* on a file system of a few MiB */
};

/* cmocka's setup and teardown: a fresh directory, tenants "t1" and "t2". */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* In between: as a daemon that ends and starts. */
void fixture_open(struct fixture *fx, uint64_t free_floor_bytes);
void fixture_close(struct fixture *fx);

/* Into a store that is empty: tenants "t1" and "t2". */
void fixture_add_tenants(struct fixture *fx);

/* Commits a batch and waits; the batch is gone afterwards. */
int fixture_commit(struct fixture *fx, struct store_batch *batch);

/* Writes a blob in one go; the writer is gone afterwards unless kept. */
int fixture_write_blob(struct fixture *fx, const void *data, size_t size,
		       struct blob_writer **ret_keep, struct blob_info *ret);

/* Sweeps and waits. */
struct store_swept fixture_sweep(struct fixture *fx,
				 const struct store_sweep_spec *spec);

/* How many files lie below the blob directory, temporary ones included. */
unsigned fixture_count_blobs(const struct fixture *fx);

/* Rows with everything filled in that must be. */
struct store_file file_row(const char *id, const char *tenant,
			   const struct blob_info *blob);
struct store_container container_row(const char *id, const char *tenant);
struct store_cfile cfile_row(const char *id, const char *container,
			     const char *tenant, const char *path,
			     const struct blob_info *blob);
struct store_execution execution_row(const char *id, const char *container,
				     const char *tenant);

void copy_text(char *to, size_t size, const char *from);
#define COPY(array, text) copy_text(array, sizeof(array), text)

#endif
