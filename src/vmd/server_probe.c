#include <errno.h>
#include <string.h>

#include "vmd/accelerator.h"
#include "vmd/server_private.h"
#include "vmd/vm_probe.h"

/*
 * PROBE: one at a time, since they would measure each other. What KVM showed is
 * remembered as if the start had tried it; VMs of the pool get what the pool has
 * until the table is decided again.
 */

static void on_probed(const struct vmd_probed *probed, void *userdata)
{
	struct server *server = userdata;
	uint64_t serial = server->probe_serial;

	server->probing = false;
	server->probe_serial = 0;
	if (server->probe.accelerator == VMD_ACCELERATOR_KVM)
		accelerator_remember(server->host, server->probe_digest,
				     probed->booted, probed->reason);
	if (serial != 0)
		server_answer_body(server, serial, 0, NULL, probed,
				   sizeof(*probed), -1);
}

static int begin(struct server *server, const struct vmd_probe *probe,
		 struct error *err)
{
	const struct pool *pool = pools_find(server->host->pools,
					     probe->generation, probe->pool);
	int r;

	if (server->probing) {
		(void)error_set(err, ERR_CONFLICT,
				"another probe is under way");
		return -EBUSY;
	}
	if (!pool) {
		(void)error_set(err, ERR_CONFLICT,
				"the pool table has changed");
		return -ESTALE;
	}
	/* A pool that may not emulate has a problem, and an image all the same. */
	if (!pool->image.digest[0])
		return error_set(err, ERR_HYPERVISOR, "%s", pool->problem);
	if (probe->accelerator != VMD_ACCELERATOR_KVM &&
	    probe->accelerator != VMD_ACCELERATOR_TCG) {
		(void)error_set(err, ERR_INTERNAL, "the request is malformed");
		return -EINVAL;
	}
	server->probe = *probe;
	strcpy(server->probe_digest, pool->image.digest);
	r = vm_probe_start(server->host, pool,
			   (enum vmd_accelerator)probe->accelerator, on_probed,
			   server);
	if (r < 0)
		return error_set_errno(err, r, "Cannot boot a probe");
	server->probing = true;
	return 0;
}

int server_got_probe(struct server *server, uint64_t serial, const void *body)
{
	struct error err = ERROR_INIT;
	int r;

	r = begin(server, body, &err);
	if (r < 0)
		server_answer_zeros(server, serial, r, &err,
				    sizeof(struct vmd_probed));
	else
		server->probe_serial = serial;
	return 0;
}
