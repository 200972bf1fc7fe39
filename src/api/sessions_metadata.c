/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic sessions: what there is in one of them, before it has begun. */
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "api/sessions.h"
#include "base/json.h"

/**
 * struct kernel - What runs the code, by the package it comes with
 *
 * The first whose package the image has.
 */
static const struct kernel {
	const char *package;
	const char *name;
	const char *url;
	const char *description;
} kernels[] = {
	{ "python3-ipython", "ipython", "https://ipython.org",
	  "IPython's shell; its state stays from one execution to the next" },
	{ "python3", "python3", "https://www.python.org",
	  "Python; its state stays from one execution to the next" },
};

static const char *version_of(const struct core_image *image,
			      const char *package)
{
	return json_string_of(json_member(image->packages, package)).data;
}

static void write_version(struct json_writer *w, const char *name,
			  const char *version)
{
	json_write_object(w, NULL);
	json_write_string(w, "name", name);
	json_write_string(w, "version", version);
	json_write_close(w);
}

static void write_kernel(struct json_writer *w, const struct core_image *image)
{
	size_t i;

	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const struct kernel *kernel = &kernels[i];
		const char *version = version_of(image, kernel->package);

		if (!version)
			continue;
		json_write_object(w, "jupyterKernel");
		json_write_string(w, "name", kernel->name);
		json_write_string(w, "version", version);
		json_write_string(w, "projectUrl", kernel->url);
		json_write_string(w, "description", kernel->description);
		json_write_close(w);
		return;
	}
	json_write_null(w, "jupyterKernel");
}

static int on_package(const char *name, struct json_object *version,
		      void *userdata)
{
	write_version(userdata, name, json_string_of(version).data);
	return 0;
}

static void on_image(void *userdata, const struct core_image *image,
		     const struct error *err)
{
	struct request *req = userdata;
	struct json_writer *w;
	const char *python;

	if (reply_failure(req, err))
		return;
	w = reply_writer(req);
	python = version_of(image, "python3");
	json_write_object(w, NULL);
	json_write_array(w, "runtimes");
	if (python)
		write_version(w, "python", python);
	json_write_close(w);
	json_write_array(w, "preInstalledPackages");
	(void)json_each_member(image->packages, on_package, w);
	json_write_close(w);
	json_write_string(w, "createdAt", image->built_at);
	json_write_string(w, "lastUpdatedAt", image->built_at);
	write_kernel(w, image);
	json_write_string(w, "image", image->image);
	json_write_close(w);
	reply_ok(req);
}

/* It is the pool's: no identifier is needed, and no session begins. */
int sessions_metadata(struct request *req, struct error *err)
{
	struct session_call call;
	int r;

	r = session_version_read(req, &call, err);
	if (r >= 0)
		r = core_pool_image(req->core, req->match.pool, on_image, req,
				    err);
	return r < 0 ? r : ROUTE_PENDING;
}
