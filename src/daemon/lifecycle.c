#include <signal.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "api/api.h"
#include "base/event.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/timer.h"
#include "core/core.h"
#include "daemon/announce.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/lifecycle.h"
#include "daemon/vmd_process.h"
#include "store/store.h"
#include "turn/turn.h"
#include "vmd/vmd.h"

/*
 * Core's own limits lie below, once what runs is not waited for any more: ten
 * seconds for a harvest, then destroys.
 */
#define PATIENCE_END (50 * USEC_PER_SEC)
#define PATIENCE_HAND_OVER (4 * USEC_PER_SEC)
#define PATIENCE_CLIENTS (2 * USEC_PER_SEC)
#define PATIENCE_VMD (10 * USEC_PER_SEC)

static void step_on(struct daemon *d);

void lifecycle_fail(struct daemon *d, const struct error *err)
{
	if (!error_is_set(&d->failure))
		d->failure = *err;
	(void)sd_event_exit(d->event, EXIT_FAILURE);
}

static void maybe_ready(struct daemon *d)
{
	if (d->phase != DAEMON_STARTING || !d->core_ready || !d->announced)
		return;
	d->phase = DAEMON_RUNNING;
	(void)sd_notify(0, "READY=1");
	log_info(NULL, "Ready at %s",
		 api_url(d->api) ? api_url(d->api) : "its Unix socket");
}

static void on_core_ready(void *userdata)
{
	struct daemon *d = userdata;

	d->core_ready = true;
	maybe_ready(d);
}

static void on_announced(struct daemon *d, const struct error *err)
{
	if (err) {
		lifecycle_fail(d, err);
		return;
	}
	d->announced = true;
	maybe_ready(d);
}

int lifecycle_begin(struct daemon *d, struct error *err)
{
	int r = core_start(d->core, on_core_ready, d, err);

	return r < 0 ? r : announce_begin(d, on_announced, err);
}

/* --- the end: core, clients, then cupola-vmd; each step has a time limit --- */

static void on_core_at_rest(void *userdata)
{
	step_on(userdata);
}

static void on_clients_gone(void *userdata)
{
	step_on(userdata);
}

static void on_vmd_gone(void *userdata)
{
	step_on(userdata);
}

static usec_t core_patience(const struct daemon *d)
{
	if (d->hand_over)
		return PATIENCE_HAND_OVER;
	return settings_usec(d->settings, "session", "drain") + PATIENCE_END;
}

/* Of all steps, for systemd not to be less patient. */
static usec_t patience(const struct daemon *d)
{
	return core_patience(d) + PATIENCE_CLIENTS + PATIENCE_VMD;
}

static void stop_core(struct daemon *d)
{
	timer_set_after(d->patience, core_patience(d));
	core_stop(d->core, d->hand_over ? CORE_STOP_HAND_OVER : CORE_STOP_END,
		  on_core_at_rest, d);
}

static void drain_clients(struct daemon *d)
{
	timer_set_after(d->patience, d->hand_over ? PATIENCE_HAND_OVER / 4 :
						    PATIENCE_CLIENTS);
	api_drain(d->api, on_clients_gone, d);
}

/*
 * Our end of the socket closes, upon which cupola-vmd exits by itself. The
 * server uses core, so it ends first; what core has asked of vmd is answered by
 * the end of the client, so that comes before core's.
 */
static void end_vmd(struct daemon *d)
{
	api_free(d->api);
	d->api = NULL;
	turns_free(d->turns);
	d->turns = NULL;
	store_flush(d->store);
	vmd_client_free(d->vmd);
	d->vmd = NULL;
	core_free(d->core);
	d->core = NULL;
	if (!d->vmd_process || d->hand_over) {
		step_on(d);
		return;
	}
	timer_set_after(d->patience, PATIENCE_VMD);
	vmd_process_stop(d->vmd_process, on_vmd_gone, d);
}

static void end_loop(struct daemon *d)
{
	timer_clear(d->patience);
	(void)sd_event_exit(d->event, EXIT_SUCCESS);
}

static void (*const steps[])(struct daemon *d) = {
	stop_core,
	drain_clients,
	end_vmd,
	end_loop,
};

enum { STEP_COUNT = sizeof(steps) / sizeof(steps[0]) };

/* Steps are taken from the loop: no object ends within a call of its own. */
static int on_step(sd_event_source *source, void *userdata)
{
	struct daemon *d = userdata;

	(void)source;
	if (d->step < STEP_COUNT)
		steps[d->step++](d);
	return 0;
}

static void step_on(struct daemon *d)
{
	(void)sd_event_source_set_enabled(d->next_step, SD_EVENT_ONESHOT);
}

static void on_patience_ends(struct timer *t, void *userdata)
{
	struct daemon *d = userdata;

	(void)t;
	log_warning(NULL, 0, "Step %u of the end took too long, going on",
		    d->step);
	if (d->step == STEP_COUNT - 1 && d->vmd_process)
		vmd_process_kill(d->vmd_process);
	step_on(d);
}

static void lifecycle_stop(struct daemon *d, bool hand_over)
{
	if (d->phase == DAEMON_STOPPING) {
		if (d->core && !d->hand_over)
			core_stop_at_once(d->core);
		return;
	}
	d->phase = DAEMON_STOPPING;
	d->hand_over = hand_over;
	(void)sd_notifyf(0, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu",
			 (unsigned long long)patience(d));
	log_info(NULL, hand_over ? "Handing over: VMs stay" :
				   "Stopping: sessions end first, and VMs with them");
	step_on(d);
}

/* --- signals --- */

static int on_end_signal(sd_event_source *source,
			 const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	(void)info;
	lifecycle_stop(userdata, false);
	return 0;
}

static int on_hand_over_signal(sd_event_source *source,
			       const struct signalfd_siginfo *info,
			       void *userdata)
{
	(void)source;
	(void)info;
	lifecycle_stop(userdata, true);
	return 0;
}

/* Each by itself: one that fails keeps nothing else from being taken over. */
static int on_reload_signal(sd_event_source *source,
			    const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon *d = userdata;
	struct error level = ERROR_INIT, tls = ERROR_INIT, keys = ERROR_INIT;

	(void)source;
	(void)info;
	if (!d->api)
		return 0;	/* at the start or the end */
	if (d->phase == DAEMON_RUNNING)
		(void)sd_notify(0, "RELOADING=1");
	if (configure_reload(d, &level) < 0)
		log_error(NULL, 0, "%s; the log level stays", level.message);
	if (api_reload(d->api, &tls) < 0)
		log_error(NULL, 0, "%s; the old pair stays", tls.message);
	if (upstream_reload(turns_upstream(d->turns), &keys) < 0)
		log_error(NULL, 0, "%s; the old key stays", keys.message);
	log_notice(NULL, "Read the log level, the certificate and the models' "
		   "keys again; all other settings are read at the start only: "
		   "SIGUSR2 and a new start keep the VMs");
	if (d->phase == DAEMON_RUNNING)
		(void)sd_notify(0, "READY=1");
	return 0;
}

static const struct {
	int signo;
	sd_event_signal_handler_t handler;
	const char *description;
} watched[DAEMON_SIGNAL_COUNT] = {
	{ SIGTERM, on_end_signal, "SIGTERM" },
	{ SIGINT, on_end_signal, "SIGINT" },
	{ SIGUSR2, on_hand_over_signal, "SIGUSR2" },
	{ SIGHUP, on_reload_signal, "SIGHUP" },
};

int lifecycle_prepare(struct daemon *d, struct error *err)
{
	size_t i;
	int r = 0;

	(void)signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < DAEMON_SIGNAL_COUNT && r >= 0; i++)
		r = event_add_signal(d->event, watched[i].signo,
				     watched[i].handler, d,
				     watched[i].description, &d->signals[i]);
	if (r >= 0)
		r = timer_new(d->event, d->kernel_clock, "patience",
			      on_patience_ends, d, &d->patience);
	if (r >= 0)
		r = event_add_defer(d->event, on_step, d, "next step",
				    &d->next_step);
	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare the loop");
	(void)sd_event_set_watchdog(d->event, true);
	return 0;
}
