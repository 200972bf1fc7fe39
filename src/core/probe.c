/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/settings.h"
#include "core/core_priv.h"
#include "core/pool.h"

/*
 * A VM that is booted only to see whether and how fast. It is vmd's alone, and
 * takes room like any other for as long as it is there: a host that is full is
 * not made fuller by looking what is wrong with it.
 */

enum { PROBE_JSON_MAX = 4096 };

struct probe {
	struct core *core;
	struct pool *pool;
	uint64_t cost_mib;
	enum vmd_accelerator accelerator;
	json_fn done;
	void *userdata;
};

static double msec(uint64_t usec)
{
	return (double)usec / (double)USEC_PER_MSEC;
}

/* A stage that was not reached took no time at all. */
static void write_stage(struct json_writer *w, const char *key, uint64_t usec)
{
	if (usec > 0)
		json_write_double(w, key, msec(usec));
	else
		json_write_null(w, key);
}

static int write_probed(struct buf *json, const struct probe *p,
			const struct vmd_probed *probed)
{
	struct json_writer w = JSON_WRITER_INIT(json);

	json_write_object(&w, NULL);
	json_write_string(&w, "pool", p->pool->name);
	json_write_string(&w, "image", p->pool->image);
	json_write_string(&w, "accelerator",
			  vmd_accelerator_name(p->accelerator));
	json_write_bool(&w, "booted", probed->booted);
	write_stage(&w, "create_ms", probed->create_usec);
	write_stage(&w, "boot_ms", probed->boot_usec);
	write_stage(&w, "echo_ms", probed->echo_usec);
	json_write_string(&w, "reason", probed->reason);
	json_write_close(&w);
	return json_write_end(&w);
}

static void on_probed(int r, const struct vmd_probed *probed,
		      const struct error *vmd_err, void *userdata)
{
	struct buf json = BUF_INIT(PROBE_JSON_MAX);
	struct error err = ERROR_INIT;
	struct probe *p = userdata;

	admission_give_vm(p->core, p->pool, p->cost_mib);
	if (r == -EBUSY || r == -ESTALE)
		(void)error_set(&err, ERR_CONFLICT, "Cannot boot a probe: %s",
				vmd_err ? vmd_err->message : strerror(-r));
	else if (r < 0)
		(void)error_set(&err, ERR_HYPERVISOR, "Cannot boot a probe: %s",
				vmd_err ? vmd_err->message : strerror(-r));
	else
		r = write_probed(&json, p, probed);
	if (r < 0)
		(void)error_set_errno(&err, r, "Cannot tell of the probe");
	p->done(p->userdata, r < 0 ? NULL : buf_str(&json), json.length,
		r < 0 ? &err : NULL);
	buf_done(&json);
	free(p);
}

static enum vmd_accelerator find_accelerator(const char *name)
{
	unsigned i;

	for (i = VMD_ACCELERATOR_NONE + 1; i < VMD_ACCELERATOR_COUNT; i++)
		if (strcmp(vmd_accelerator_name(i), name) == 0)
			return (enum vmd_accelerator)i;
	return VMD_ACCELERATOR_NONE;
}

/* The one of that name, or the first that there is an image for. */
static struct pool *find_pool(struct core *core, const char *name)
{
	struct pools *pools = &core->pools;
	size_t i;

	if (name)
		return pool_find(core, name);
	for (i = 0; i < pools->count; i++)
		if (pools->pool[i].known && pools->pool[i].vmd.digest[0])
			return &pools->pool[i];
	return pools->count > 0 ? &pools->pool[0] : NULL;
}

static int probe_start(struct probe *p, struct error *err)
{
	int r;

	if (p->accelerator == VMD_ACCELERATOR_TCG &&
	    !settings_bool(p->core->settings, "host", "allow_emulation"))
		return error_set(err, ERR_FORBIDDEN,
				 "Emulation is not allowed "
				 "(host.allow_emulation)");
	if (!p->pool->known)
		return error_set(err, ERR_HYPERVISOR,
				 "The hypervisor process cannot be asked");
	r = admission_take_vm(p->core, p->pool, pool_memory_mib(p->pool),
			      &p->cost_mib, err);
	if (r < 0)
		return r;
	r = vmd_client_probe(p->core->vmd, p->pool->vmd_index, p->accelerator,
			     on_probed, p);
	if (r >= 0)
		return 0;
	admission_give_vm(p->core, p->pool, p->cost_mib);
	return error_set(err, ERR_HYPERVISOR,
			 "The hypervisor process cannot be asked");
}

int core_admin_probe(struct core *core, const char *pool,
		     const char *accelerator, json_fn done, void *userdata,
		     struct error *err)
{
	struct probe *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set_errno(err, -ENOMEM, "Cannot boot a probe");
	*p = (struct probe){
		.core = core,
		.pool = find_pool(core, pool),
		.accelerator = find_accelerator(accelerator),
		.done = done,
		.userdata = userdata,
	};
	if (!p->pool)
		r = error_set(err, ERR_NOT_FOUND, "There is no pool '%s'",
			      pool ? pool : "");
	else if (p->accelerator == VMD_ACCELERATOR_NONE)
		r = error_set(err, ERR_BAD_REQUEST,
			      "There is no accelerator '%s'", accelerator);
	else
		r = probe_start(p, err);
	if (r < 0)
		free(p);
	return r;
}
