/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CORE_PARTS_H
#define CORE_CORE_PARTS_H

/*
 * Files that arrive in parts: a part of core.h, whose rules hold here.
 *
 * Parts may come in any order and at once; which of them make the file, and in
 * what order, is said at the end. What is not completed within an hour is gone.
 */

#include "core/core.h"

#define CORE_PARTS_MAX 1024 /* of one upload */
#define CORE_PART_BYTES_MAX (64ULL << 20)
#define CORE_PARTS_BYTES_MAX (8ULL << 30) /* of all parts together */
#define CORE_MD5_SIZE 16

enum parts_status {
	PARTS_PENDING,
	PARTS_COMPLETED,
	PARTS_CANCELLED,
	PARTS_EXPIRED,

	PARTS_STATUS_COUNT,
};

/** parts_status_name() - As clients read it */
const char *parts_status_name(enum parts_status status);

/** struct parts_view - @file is NULL unless it is PARTS_COMPLETED */
struct parts_view {
	char id[ID_MAX + 1]; /* upload_… */
	uint64_t bytes;
	const char *filename;
	const char *purpose;
	int64_t created_at;
	int64_t expires_at;
	enum parts_status status;
	const struct file_view *file;
};

struct part_view {
	char id[ID_MAX + 1]; /* part_… */
	char upload_id[ID_MAX + 1];
	int64_t created_at;
};

typedef void (*parts_fn)(void *userdata, const struct parts_view *upload,
			 const struct error *err);
typedef void (*part_fn)(void *userdata, const struct part_view *part,
			const struct error *err);

/** core_parts_begin() - @bytes: what the parts will come to */
int core_parts_begin(struct core *core, const struct principal *who,
		     const struct file_spec *spec, uint64_t bytes,
		     parts_fn done, void *userdata, struct error *err);

/** core_parts_add() - @upload: taken over if the call succeeds */
int core_parts_add(struct core *core, const struct principal *who,
		   const char *id, struct core_upload *upload, part_fn done,
		   void *userdata, struct error *err);

/** struct parts_choice - Which parts make the file; @md5 may be NULL */
struct parts_choice {
	const char *const *part_ids;
	size_t count;
	const uint8_t *md5; /* CORE_MD5_SIZE bytes */
};

/**
 * core_parts_complete() - Make the parts a file
 *
 * ERR_BAD_REQUEST for a part unknown or named twice, another sum of bytes or another digest;
 * it stays pending then.
 */
int core_parts_complete(struct core *core, const struct principal *who,
			const char *id, const struct parts_choice *choice,
			parts_fn done, void *userdata, struct error *err);

int core_parts_cancel(struct core *core, const struct principal *who,
		      const char *id, parts_fn done, void *userdata,
		      struct error *err);

#endif
