/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_API_H
#define API_API_H

/*
 * The HTTP server and every dialect behind it, as the daemon sees them.
 *
 * Runs on the daemon's loop, in its one thread. It owns connections and
 * requests; what they ask for is core's. Listeners are added one by one, before
 * or after core_start(): until core is ready, /readyz says 503 and what it lacks.
 *
 * Who is asking is decided by how the connection came in:
 *
 *   TCP		an API key on every request, but for /healthz and /readyz; with
 *		TLS if the settings listen.tls_cert and listen.tls_key are there
 *   vsock		the same, from the context ids of listen.vsock_allow only;
 *			such a socket is always handed over
 *   Unix socket	the peer's credentials, as the kernel gives them: root and
 *			the daemon's own user, and members of the group
 *			"cupola-admin", may do everything and are, below /v1, the
 *			tenant "default" or the one that the header
 *			"Cupola-Tenant" names. Members of "cupola-view" may only
 *			GET below /admin/v1 and /metrics. A request that
 *			carries an API key is the key's, whoever sends it;
 *			everybody else may do nothing without one.
 *
 * The admin calls exist on Unix sockets only; elsewhere they are 404:
 *
 *   GET    /admin/v1/sessions[?all=true]	list of container objects that
 *						also carry tenant and vm
 *   GET    /admin/v1/sessions/{cntr_… or vm_…}	core_admin_inspect()
 *   DELETE /admin/v1/sessions/{cntr_… or vm_…}	core_admin_kill(); answers when
 *						the end is under way
 *   POST   /admin/v1/sessions/{cntr_… or vm_…}/nmi	core_admin_nmi()
 *   GET    /admin/v1/sessions/{cntr_… or vm_…}/console	core_admin_console()
 *   GET    /admin/v1/top			core_admin_top()
 *   GET    /admin/v1/status			core_admin_status()
 *   GET    /admin/v1/pools, images, doctor	parts of it
 *   POST   /admin/v1/pools/{name}		{"ready": none: the settings'}
 *   GET    /admin/v1/audit			core_admin_audit()
 *   POST   /admin/v1/audit			core_admin_mend()
 *   POST   /admin/v1/probe			{"accelerator","pool" or none}
 *   GET    /admin/v1/keys[?tenant=…]		core_admin_key_list()
 *   POST   /admin/v1/keys			{"tenant","name","scopes":[…],
 *						 "expires_after_s",
 *						 "max_requests",
 *						 "requests_per_minute"}
 *   DELETE /admin/v1/keys/{key_…}		core_admin_key_revoke()
 *   GET    /admin/v1/tenants			core_admin_tenant_list()
 *   POST   /admin/v1/tenants			{"id", limits as in struct
 *						 tenant_limits}
 *   GET    /admin/v1/tenants/{name}		core_admin_tenant_get()
 *   POST   /admin/v1/tenants/{name}		limits; 0 is the settings'
 *   DELETE /admin/v1/tenants/{name}		core_admin_tenant_delete()
 *   GET    /admin/v1/artifacts[?limit=…&after=…]	core_admin_artifacts()
 *   GET    /admin/v1/artifacts/{cfile_…}/content	core_admin_artifact_open()
 *   DELETE /admin/v1/artifacts/{cfile_…}	core_admin_artifact_delete()
 *   GET    /admin/v1/usage[?since=2026-11-29][&by=day|origin][&tenant=…]
 *						core_admin_usage()
 *   GET    /admin/v1/models			what is configured
 *   POST   /admin/v1/models/test		{"model"}: upstream_probe()
 *   GET    /admin/v1/drain			core_admin_drain_get()
 *   POST   /admin/v1/drain			{"deadline_s": none: no limit}
 *   DELETE /admin/v1/drain			core_admin_undrain()
 *   GET    /admin/v1/events[?after=…]		server-sent; core_events.h
 *   GET    /admin/v1/backup			a copy of the database
 *   POST   /admin/v1/clock			{"advance_s":n}
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/error.h"

struct api;
struct clock;
struct core;
struct settings;
struct turns;

struct api_config {
	sd_event *event;
	struct clock *clock;
	const struct settings *settings;
	struct core *core;
	struct turns *turns;
};

/**
 * api_check_settings() - Whether those of section "listen" make sense together
 *
 * What files they name is looked at by api_new() and api_check_files() only.
 */
int api_check_settings(const struct settings *settings, struct error *err);

/** api_check_files() - Whether certificate and key, if they are set, are good */
int api_check_files(const struct settings *settings, struct error *err);

/**
 * api_new() - A server that listens nowhere yet
 * @config:	Borrowed objects; they outlive the server
 */
int api_new(const struct api_config *config, struct api **ret,
	    struct error *err);

/**
 * api_listen_tcp() - Listen on an address
 * @address:	"HOST:PORT", numeric ("127.0.0.1:0", "[::1]:8080", ":8080" for
 *		all addresses); port 0 takes a free one, api_url() tells which
 */
int api_listen_tcp(struct api *api, const char *address, struct error *err);

/**
 * api_listen_unix() - Listen on a Unix socket
 * @path:	Made here, mode 0666 (credentials decide, not the mode), and
 *		unlinked by api_free(); a stale socket of that name is replaced,
 *		one that answers is not
 */
int api_listen_unix(struct api *api, const char *path, struct error *err);

/**
 * api_listen_fd() - Listen on a socket that was handed over, TCP or Unix
 * @fd:		Taken over if the call succeeds
 */
int api_listen_fd(struct api *api, int fd, struct error *err);

/**
 * api_reload() - Read anew what can be while it serves: certificate and key
 * @err:	For the operator
 *
 * Connections that are there go on with what they began with.
 * Return: 0, or a negative errno, upon which everything is as it was
 */
int api_reload(struct api *api, struct error *err);

/**
 * api_url() - "http://127.0.0.1:PORT" of the first TCP listener, or "https:…"
 *
 * An address that stands for all is shown as the loopback one.
 * Return: borrowed, or NULL if there is no TCP listener
 */
const char *api_url(const struct api *api);

/** api_connections() - How many clients are connected */
unsigned api_connections(const struct api *api);

/**
 * api_drain() - Take no new connections and finish the requests under way
 * @done:	Called once, when the last connection has closed; the caller
 *		keeps a deadline and may call api_free() before
 *
 * Connections without a request are closed at once, the others after their
 * answer. Unix sockets go on answering, so that an operator can watch.
 */
void api_drain(struct api *api, void (*done)(void *userdata), void *userdata);

/** api_free() - Close everything; requests under way get no answer */
void api_free(struct api *api);

#endif
