#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/settings.h"
#include "base/timer.h"
#include "core/core.h"
#include "daemon/announce.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/hypervisor.h"
#include "daemon/lifecycle.h"
#include "daemon/vmd_process.h"
#include "store/blob.h"
#include "store/store.h"
#include "turn/turn.h"
#include "vmd/vmd.h"

#define PATIENCE_FAILED (5 * USEC_PER_SEC)

static int make_loop(struct daemon *d, struct error *err)
{
	int r = clock_new(&d->clock);

	if (r >= 0)
		r = clock_new(&d->kernel_clock);
	if (r >= 0)
		r = sd_event_new(&d->event);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make the event loop");
	return lifecycle_prepare(d, err);
}

void daemon_path(const struct daemon *d, const char *name,
		 char ret_path[DAEMON_PATH_SIZE])
{
	(void)snprintf(ret_path, DAEMON_PATH_SIZE, "%s/%s", d->dir, name);
}

static int open_store(struct daemon *d, struct error *err)
{
	char blobs[DAEMON_PATH_SIZE], database[DAEMON_PATH_SIZE];
	const struct blobs_config blobs_config = {
		.event = d->event,
		.dir = blobs,
		.free_floor_bytes =
			settings_bytes(d->settings, "host", "disk_reserve"),
	};
	struct store_config store_config = {
		.event = d->event,
		.path = database,
	};
	int r;

	daemon_path(d, DAEMON_BLOBS, blobs);
	daemon_path(d, DAEMON_DATABASE, database);
	r = blobs_open(&blobs_config, &d->blobs, err);
	if (r < 0)
		return r;
	store_config.blobs = d->blobs;
	return store_open(&store_config, &d->store, err);
}

static int make_core(struct daemon *d, struct error *err)
{
	const struct core_config config = {
		.event = d->event,
		.clock = d->clock,
		.guest_clock = d->kernel_clock,
		.settings = d->settings,
		.store = d->store,
		.blobs = d->blobs,
		.vmd = d->vmd,
		.development = d->development,
	};

	return core_new(&config, &d->core, err);
}

static int make_turns(struct daemon *d, struct error *err)
{
	const struct turns_config config = {
		.event = d->event,
		.clock = d->clock,
		.settings = d->settings,
		.core = d->core,
	};

	return turns_new(&config, &d->turns, err);
}

/* Sockets that systemd made take the place of listen.http and listen.socket. */
static int listen_handed_over(struct daemon *d, int count, struct error *err)
{
	int i, r = 0;

	for (i = 0; i < count && r >= 0; i++)
		r = api_listen_fd(d->api, SD_LISTEN_FDS_START + i, err);
	return r;
}

static int listen_own(struct daemon *d, struct error *err)
{
	char path[DAEMON_PATH_SIZE];
	const char *http = settings_string(d->settings, "listen", "http");
	const char *socket = settings_string(d->settings, "listen", "socket");
	int r = 0;

	daemon_path(d, "cupola.sock", path);
	if (http[0])
		r = api_listen_tcp(d->api, http, err);
	if (r >= 0)
		r = api_listen_unix(d->api, d->development ? path : socket,
				    err);
	return r;
}

static int make_api(struct daemon *d, struct error *err)
{
	const struct api_config config = {
		.event = d->event,
		.clock = d->clock,
		.settings = d->settings,
		.core = d->core,
		.turns = d->turns,
	};
	int handed_over = sd_listen_fds(1);
	int r = api_new(&config, &d->api, err);

	if (r < 0)
		return r;
	return handed_over > 0 ? listen_handed_over(d, handed_over, err) :
				 listen_own(d, err);
}

static const struct daemon_stage stages[] = {
	{ "directory", configure_directory },
	{ "user", configure_user },
	{ "lock", configure_lock },
	{ "loop", make_loop },
	{ "store", open_store },
	{ "hypervisor client", hypervisor_new },
	{ "core", make_core },
	{ "agent loop", make_turns },
	{ "API", make_api },
	{ "hypervisor", hypervisor_start },
	{ "work", lifecycle_begin },
	{ NULL, NULL },
};

const struct daemon_stage *daemon_stages(void)
{
	return stages;
}

void daemon_init(struct daemon *d)
{
	*d = (struct daemon){
		.lock = -1,
		.dir_fd = -1,
		.vmd_binary = -1,
	};
}

static void free_objects(struct daemon *d)
{
	/* Whoever uses another one ends before it; see core_free(). */
	api_free(d->api);
	turns_free(d->turns);
	if (d->store)
		store_flush(d->store);
	vmd_client_free(d->vmd);
	core_free(d->core);
	store_free(d->store);
	blobs_free(d->blobs);
	/* What it still has to say comes before our own last word. */
	if (d->vmd_process && error_is_set(&d->failure))
		vmd_process_wait(d->vmd_process, PATIENCE_FAILED);
	vmd_process_free(d->vmd_process);
}

void daemon_done(struct daemon *d)
{
	size_t i;

	/* Calls under way are answered now, and must begin nothing new. */
	d->phase = DAEMON_STOPPING;
	announce_withdraw(d);
	free_objects(d);
	for (i = 0; i < DAEMON_SIGNAL_COUNT; i++)
		sd_event_source_disable_unref(d->signals[i]);
	sd_event_source_disable_unref(d->next_step);
	timer_free(d->patience);
	timer_free(d->reconnect);
	sd_event_unref(d->event);
	clock_free(d->clock);
	clock_free(d->kernel_clock);
	settings_free(d->settings);
	close_fd(&d->vmd_binary);
	close_fd(&d->dir_fd);
	/* The last thing: from here on another daemon may come. */
	close_fd(&d->lock);
	free(d->dir);
}
