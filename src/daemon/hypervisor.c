#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/timer.h"
#include "core/core.h"
#include "daemon/daemon.h"
#include "daemon/hypervisor.h"
#include "daemon/lifecycle.h"
#include "daemon/vmd_process.h"
#include "vmd/vmd.h"

/*
 * cupola-vmd and the connection to it. In development it is our child, which
 * hands us a socket at each start; packaged it listens on a socket of its own,
 * and we come back when the connection breaks.
 */

#define RECONNECT_AFTER USEC_PER_SEC

enum { VMD_STARTS_MAX = 3 };

/* argv: fixed words, settings of ours, and all that was said on our own. */
enum { ARGUMENTS_MAX = 12 + 2 * OPTIONS_SET_MAX };

static void log_hello(const struct daemon *d, const struct vmd_hello *hello)
{
	uint32_t v = hello->libvirt_version, q = hello->qemu_version;

	log_info(NULL,
		 "Hypervisor: accelerator %s (%s), vsock backend %s, libvirt "
		 "%u.%u.%u, QEMU %u.%u.%u",
		 vmd_accelerator_name(hello->accelerator), hello->reason,
		 vmd_vsock_name(hello->vsock), v / 1000000, v / 1000 % 1000,
		 v % 1000, q / 1000000, q / 1000 % 1000, q % 1000);
	if (hello->accelerator == VMD_ACCELERATOR_TCG)
		log_warning(NULL, 0,
			    "VMs are emulated: slow, and no isolation is "
			    "promised");
	if (d->development)
		log_warning(NULL, 0,
			    "Development mode: there is no privilege "
			    "separation between cupolad and cupola-vmd");
}

/* A daemon that could never make a VM had better not seem to work. */
static int check_pools(const struct vmd_hello *hello, struct error *err)
{
	uint32_t i;

	for (i = 0; i < hello->pool_count && i < VMD_POOLS_MAX; i++) {
		const struct vmd_pool *pool = &hello->pools[i];

		if (!pool->problem[0])
			continue;
		if (strcmp(pool->name, "default") == 0)
			return error_set(err, ERR_HYPERVISOR, "%s",
					 pool->problem);
		log_warning(NULL, 0, "Pool '%s' makes no VMs: %s", pool->name,
			    pool->problem);
	}
	return 0;
}

static void on_ready(const struct vmd_hello *hello, void *userdata)
{
	struct daemon *d = userdata;
	struct error err = ERROR_INIT;

	if (d->phase == DAEMON_STARTING && !d->vmd_greeted) {
		log_hello(d, hello);
		if (check_pools(hello, &err) < 0) {
			lifecycle_fail(d, &err);
			return;
		}
	}
	d->vmd_greeted = true;
	core_vmd_ready(d->core, hello);
}

static void on_changed(const struct vmd_hello *hello, void *userdata)
{
	struct daemon *d = userdata;

	core_vmd_changed(d->core, hello);
}

static void on_progress(const char *text, void *userdata)
{
	(void)userdata;
	log_info(NULL, "Hypervisor: %s", text);
}

static void on_gone(const struct vmd_gone *gone, void *userdata)
{
	struct daemon *d = userdata;

	core_vmd_gone(d->core, gone);
}

/*
 * What refuses to start will refuse again, and what ends without a word every
 * time will never be ready. One that was killed is started again, as later on.
 */
static bool must_give_up(struct daemon *d, const char *why)
{
	if (d->phase != DAEMON_STARTING || d->vmd_greeted)
		return false;
	return why || ++d->vmd_starts == VMD_STARTS_MAX;
}

static void on_lost(const char *why, void *userdata)
{
	struct daemon *d = userdata;
	struct error err = ERROR_INIT;

	core_vmd_lost(d->core, why);
	if (must_give_up(d, why)) {
		error_set(&err, ERR_HYPERVISOR, "%s",
			  why ? why :
				"cupola-vmd ended before it was ready; what it "
				"said is above");
		lifecycle_fail(d, &err);
	} else if (!d->development && d->phase != DAEMON_STOPPING) {
		log_warning(NULL, 0, "The connection to cupola-vmd is lost");
		timer_set_after(d->reconnect, RECONNECT_AFTER);
	}
}

int hypervisor_new(struct daemon *d, struct error *err)
{
	static const struct vmd_handlers handlers = {
		.ready = on_ready,
		.changed = on_changed,
		.progress = on_progress,
		.vm_gone = on_gone,
		.lost = on_lost,
	};
	int r = vmd_client_new(d->event, &handlers, d, &d->vmd);

	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare for cupola-vmd");
	return 0;
}

static int got_socket(int fd, void *userdata)
{
	struct daemon *d = userdata;

	return vmd_client_attach(d->vmd, fd);
}

/*
 * Development mode's permission to emulate is a default of ours that cupola-vmd
 * does not know. It comes first, since the last assignment wins.
 */
static void vmd_arguments(const struct daemon *d, const char **argv)
{
	size_t n = 0, i;

	argv[n++] = "cupola-vmd";
	argv[n++] = "--socket-fd";
	argv[n++] = "3";
	argv[n++] = "--state";
	argv[n++] = d->dir;
	if (d->options.config) {
		argv[n++] = "--config";
		argv[n++] = d->options.config;
	}
	argv[n++] = "--set";
	argv[n++] = settings_bool(d->settings, "host", "allow_emulation") ?
			    "host.allow_emulation=yes" :
			    "host.allow_emulation=no";
	for (i = 0; i < d->options.set.count; i++) {
		argv[n++] = "--set";
		argv[n++] = d->options.set.items[i];
	}
	argv[n] = NULL;
}

static int start_child(struct daemon *d, struct error *err)
{
	const char *argv[ARGUMENTS_MAX];
	const struct vmd_process_config config = {
		.event = d->event,
		.clock = d->kernel_clock,
		.binary = d->vmd_binary,
		.arguments = argv,
		.connected = got_socket,
		.userdata = d,
	};

	vmd_arguments(d, argv);
	return vmd_process_new(&config, &d->vmd_process, err);
}

static int connect_service(struct daemon *d)
{
	const char *path = settings_string(d->settings, "hypervisor", "socket");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	int r;

	/* The settings' table keeps it short enough. */
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	r = vmd_client_attach(d->vmd, fd);
	if (r >= 0)
		(void)take_fd(fd);
	return r;
}

static void on_reconnect(struct timer *t, void *userdata)
{
	struct daemon *d = userdata;

	if (connect_service(d) < 0)
		timer_set_after(t, RECONNECT_AFTER);
}

static int start_service(struct daemon *d, struct error *err)
{
	int r = timer_new(d->event, d->kernel_clock, "return to cupola-vmd",
			  on_reconnect, d, &d->reconnect);

	if (r >= 0)
		r = connect_service(d);
	if (r < 0)
		return error_set_errno(
			err, r, "Cannot reach cupola-vmd at '%s'",
			settings_string(d->settings, "hypervisor", "socket"));
	return 0;
}

int hypervisor_start(struct daemon *d, struct error *err)
{
	return d->development ? start_child(d, err) : start_service(d, err);
}
