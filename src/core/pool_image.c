/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "core/core_definition.h"
#include "core/core_priv.h"
#include "core/pool.h"
#include "vmd/vmd.h"

/* What a pool's VMs run, as the image's manifest has it: vmd opens the file. */

struct look {
	core_image_fn done;
	void *userdata;
	char image[STORE_IMAGE_SIZE];
};

struct manifest {
	struct json_string built_at;
	struct json_object *packages;
};

static const struct json_field manifest_fields[] = {
	JSON_STRING_FIELD("built_at", struct manifest, built_at,
			  .required = true),
	JSON_OBJECT_FIELD("packages", struct manifest, packages,
			  .required = true),
};

static int read_text(int fd, struct buf *text)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > LIMIT_MANIFEST_FILE)
		return -EMSGSIZE;
	return fs_read_fd(fd, (size_t)st.st_size, text);
}

static int read_manifest(int fd, struct json_object **ret_json,
			 struct manifest *ret, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_MANIFEST_FILE);
	int r;

	r = read_text(fd, &text);
	if (r >= 0)
		r = json_parse(buf_str(&text), text.length, ret_json, NULL);
	if (r >= 0)
		r = json_read_fields(*ret_json, NULL, manifest_fields,
				     sizeof(manifest_fields) /
					     sizeof(manifest_fields[0]),
				     JSON_UNKNOWN_IGNORED, ret, NULL);
	return r < 0 ? error_set_errno(err, r, "Cannot read a manifest") : 0;
}

static void on_manifest(int r, int fd, const struct error *err, void *userdata)
{
	_cleanup_(json_freep) struct json_object *json = NULL;
	_cleanup_free_ struct look *look = userdata;
	_cleanup_close_ int file = fd;
	struct manifest manifest = { .packages = NULL };
	struct error failed = ERROR_INIT;

	if (r >= 0 && read_manifest(file, &json, &manifest, &failed) >= 0) {
		const struct core_image image = {
			.image = look->image,
			.built_at = manifest.built_at.data,
			.packages = manifest.packages,
		};

		look->done(look->userdata, &image, &failed);
		return;
	}
	if (r < 0)
		error_set(&failed, ERR_HYPERVISOR,
			  "The image cannot be looked at now: %s",
			  error_is_set(err) ? err->message
					    : "the hypervisor process has gone");
	look->done(look->userdata, NULL, &failed);
}

int core_pool_image(struct core *core, const char *name, core_image_fn done,
		    void *userdata, struct error *err)
{
	const struct pool *pool = pool_find(core, name);
	_cleanup_free_ struct look *look = NULL;
	int r;

	if (!pool)
		return core_pool_check(core, name, NULL, err);
	look = calloc(1, sizeof(*look));
	if (!look)
		return error_set_errno(err, -ENOMEM, "Cannot look at an image");
	look->done = done;
	look->userdata = userdata;
	strcpy(look->image, pool->image);
	r = pool->known ? vmd_client_manifest(core->vmd, pool->vmd_index,
					      on_manifest, look)
			: -ENOTCONN;
	if (r == -ENOTCONN)
		return error_set(err, ERR_HYPERVISOR,
				 "The image cannot be looked at now: the "
				 "hypervisor process is being started");
	if (r < 0)
		return error_set_errno(err, r, "Cannot look at an image");
	(void)take_ptr(look);
	return 0;
}
