#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmd/server_private.h"

/*
 * RELOAD, and what else decides all accelerators for a new pool table, which
 * takes the place of the old one when that is done. Creates go on with the old
 * one meanwhile.
 */

static void answer_change(struct server *server)
{
	uint64_t serial = server->change_serial;

	server->change_serial = 0;
	if (serial != 0)
		server_answer(server, serial, 0, NULL);
}

static void on_changed(const struct accelerator_summary *summary,
		       void *userdata)
{
	struct server *server = userdata;

	pools_free(server->host->pools);
	server->host->pools = take_ptr(server->changing);
	strcpy(server->hello.reason, summary->reason);
	server->hello.probe_usec = summary->probe_usec;
	server_send_hello(server);
	answer_change(server);
}

/* One change at a time: the table of the first would be lost. */
static int begin_change(struct server *server, uint64_t serial,
			const struct settings *settings, struct error *err)
{
	_cleanup_(pools_freep) struct pools *pools = NULL;
	struct host *host = server->host;
	int r;

	r = pools_load(settings, host->state, &pools, err);
	if (r < 0)
		return r;
	r = accelerator_decide(host, pools, on_changed, server);
	if (r < 0)
		return error_set_errno(err, r, "Cannot choose accelerators");
	server->changing = take_ptr(pools);
	server->change_serial = serial;
	return 0;
}

static int is_changing(struct server *server, struct error *err)
{
	if (server->changing)
		return error_set(err, ERR_CONFLICT,
				 "images are being tried already");
	return 0;
}

int server_got_reload(struct server *server, uint64_t serial, const void *body)
{
	_cleanup_(settings_freep) struct settings *settings = NULL;
	struct host *host = server->host;
	struct error err = ERROR_INIT;
	int r;

	(void)body;
	r = is_changing(server, &err);
	if (r >= 0)
		r = server->reload(&settings, &err, server->reload_userdata);
	if (r >= 0)
		r = begin_change(server, serial, settings, &err);
	if (r < 0) {
		server_answer(server, serial, r, &err);
		return 0;
	}
	settings_free(host->settings);
	host->settings = take_ptr(settings);
	return 0;
}

static bool is_lacking(const struct pools *pools)
{
	uint32_t i;

	for (i = 0; i < pools->count; i++)
		if (pools->pool[i].problem[0])
			return true;
	return false;
}

static int look_again(struct server *server)
{
	struct error err = ERROR_INIT;
	int r = begin_change(server, 0, server->host->settings, &err);

	if (r < 0)
		(void)log_warning(NULL, 0, "%s: pools stay as they are",
				  err.message);
	return r;
}

void server_greet(struct server *server)
{
	/* A change that is under way ends with a HELLO. */
	if (server->changing)
		return;
	if (!is_lacking(server->host->pools) || look_again(server) < 0)
		server_send_hello(server);
}
