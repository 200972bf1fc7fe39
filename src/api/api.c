/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/admit.h"
#include "api/api_private.h"
#include "api/cors.h"
#include "api/http_listen.h"
#include "api/http_server.h"
#include "api/http_tls.h"
#include "api/request.h"
#include "api/vsock_peers.h"
#include "base/cleanup.h"
#include "base/settings.h"
#include "core/core.h"

static void api_freep(struct api **api)
{
	api_free(*api);
}

static void on_revoked(void *userdata, const char *tenant, const char *key_id)
{
	admit_cut(userdata, tenant, key_id);
}

int api_check_settings(const struct settings *settings, struct error *err)
{
	const char *cert = settings_string(settings, "listen", "tls_cert");
	const char *key = settings_string(settings, "listen", "tls_key");
	struct vsock_peers peers;
	int r;

	if (!cert[0] != !key[0])
		return error_set(err, ERR_BAD_REQUEST,
				 "Setting %s needs %s as well",
				 cert[0] ? "listen.tls_cert" : "listen.tls_key",
				 cert[0] ? "listen.tls_key" : "listen.tls_cert");
	r = cors_check(settings, err);
	return r < 0 ? r : vsock_peers_read(settings, &peers, err);
}

int api_check_files(const struct settings *settings, struct error *err)
{
	const char *cert = settings_string(settings, "listen", "tls_cert");
	const char *key = settings_string(settings, "listen", "tls_key");

	return cert[0] ? http_tls_check(cert, key, err) : 0;
}

static int prepare_tls(struct api *api, struct error *err)
{
	const struct settings *settings = api->config.settings;
	const char *cert = settings_string(settings, "listen", "tls_cert");
	const char *key = settings_string(settings, "listen", "tls_key");

	if (!cert[0])
		return 0;
	return http_tls_new(api->config.event, cert, key, &api->tls, err);
}

int api_reload(struct api *api, struct error *err)
{
	return api->tls ? http_tls_reload(api->tls, err) : 0;
}

int api_new(const struct api_config *config, struct api **ret,
	    struct error *err)
{
	_cleanup_(api_freep) struct api *api = NULL;
	int r;

	api = calloc(1, sizeof(*api));
	if (!api)
		return error_set_errno(err, -ENOMEM, "Cannot start serving");
	api->config = *config;
	api->json_large = settings_bytes(config->settings, "listen",
					 "max_json");
	LIST_INIT(&api->zips);
	mcp_sessions_init(&api->mcp);
	TAILQ_INIT(&api->admitted);
	r = api_check_settings(config->settings, err);
	if (r >= 0)
		r = vsock_peers_read(config->settings, &api->vsock_peers, err);
	if (r >= 0)
		r = prepare_tls(api, err);
	if (r < 0)
		return r;
	r = http_server_new(config->event, api, api->tls, &api->server, err);
	if (r < 0)
		return r;
	core_on_revoked(config->core, on_revoked, api);
	*ret = take_ptr(api);
	return 0;
}

void api_free(struct api *api)
{
	struct request *req;

	if (!api)
		return;
	core_on_revoked(api->config.core, NULL, NULL);
	http_server_free(api->server);
	http_tls_free(api->tls);
	/* Core may still call back for these, when we are no more. */
	while ((req = TAILQ_FIRST(&api->admitted)))
		admit_end(req);
	mcp_sessions_done(&api->mcp);
	if (api->unix_path)
		(void)unlink(api->unix_path);
	free(api->unix_path);
	free(api->url);
	free(api);
}

int api_listen_fd(struct api *api, int fd, struct error *err)
{
	_cleanup_free_ char *url = NULL;
	int r;

	r = http_listen_url(fd, api->tls ? "https" : "http", &url);
	if (r < 0)
		return error_set_errno(err, r, "Cannot listen");
	r = http_server_listen(api->server, fd, err);
	if (r < 0)
		return r;
	if (!api->url)
		api->url = take_ptr(url);
	return 0;
}

int api_listen_tcp(struct api *api, const char *address, struct error *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	fd = http_listen_tcp(address, err);
	if (fd < 0)
		return fd;
	r = api_listen_fd(api, fd, err);
	if (r < 0)
		return r;
	(void)take_fd(fd);
	return 0;
}

int api_listen_unix(struct api *api, const char *path, struct error *err)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int fd = -1;
	int r;

	if (!copy)
		return error_set_errno(err, -ENOMEM, "Cannot listen");
	fd = http_listen_unix(path, err);
	if (fd < 0)
		return fd;
	r = api_listen_fd(api, fd, err);
	if (r < 0) {
		(void)unlink(path);
		return r;
	}
	(void)take_fd(fd);
	free(api->unix_path);
	api->unix_path = take_ptr(copy);
	return 0;
}

const char *api_url(const struct api *api)
{
	return api->url;
}

unsigned api_connections(const struct api *api)
{
	return http_server_connections(api->server);
}

void api_drain(struct api *api, void (*done)(void *userdata), void *userdata)
{
	http_server_drain(api->server, done, userdata);
}
