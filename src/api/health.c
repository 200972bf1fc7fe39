/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the daemon runs, whether it can work, and how much it does. */
#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "api/request.h"
#include "turn/turn.h"

enum { METRICS_MAX = 4 << 20 };

/* That there is an answer says it all: the loop runs. */
int health_live(struct request *req, struct error *err)
{
	struct json_writer *w = reply_writer(req);

	json_write_object(w, NULL);
	json_write_string(w, "status", "ok");
	json_write_close(w);
	return reply_json(req, MHD_HTTP_OK, err);
}

static void on_problem(void *userdata, const char *sentence)
{
	json_write_string(userdata, NULL, sentence);
}

int health_ready(struct request *req, struct error *err)
{
	struct json_writer *w = reply_writer(req);
	bool ready;

	json_write_object(w, NULL);
	json_write_array(w, "problems");
	ready = core_ready(req->core, on_problem, w);
	json_write_close(w);
	json_write_string(w, "status", ready ? "ready" : "not ready");
	json_write_close(w);
	return reply_json(req,
			  ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
			  err);
}

/* --------------------------------------------------------------------- metrics */

struct metrics {
	struct buf text;
	char last[128];		/* whose HELP and TYPE have been written */
	int r;
};

static void on_figure(void *userdata, const struct family *family,
		      const char *suffix, const char *labels, double value)
{
	struct metrics *m = userdata;

	if (m->r == 0 && strcmp(m->last, family->name) != 0) {
		m->r = buf_printf(&m->text, "# HELP %s %s\n# TYPE %s %s\n",
				  family->name, family->help, family->name,
				  family->type);
		(void)snprintf(m->last, sizeof(m->last), "%s", family->name);
	}
	if (m->r == 0)
		m->r = buf_printf(&m->text, "%s%s%s%s%s %.17g\n",
				  family->name, suffix, *labels ? "{" : "",
				  labels, *labels ? "}" : "", value);
}

static void on_no_problem(void *userdata, const char *sentence)
{
	(void)userdata;
	(void)sentence;
}

/* "2xx" and so on; those whose client left first have no status. */
static void emit_requests(const struct api *api, struct metrics *m)
{
	static const struct family requests = {
		"cupola_http_requests_total", "counter", "Requests answered",
	};
	char labels[32];
	size_t i;

	for (i = 0; i < API_STATUS_CLASSES; i++) {
		if (i == 0)
			(void)snprintf(labels, sizeof(labels), "code=\"none\"");
		else
			(void)snprintf(labels, sizeof(labels),
				       "code=\"%zuxx\"", i);
		on_figure(m, &requests, "", labels, (double)api->answered[i]);
	}
}

static void emit_api(struct request *req, struct metrics *m)
{
	static const struct family ready = {
		"cupola_ready", "gauge", "Whether sessions can be made",
	};
	static const struct family connections = {
		"cupola_http_connections", "gauge",
		"Clients that are connected",
	};
	static const struct family failures = {
		"cupola_auth_failures_total", "counter",
		"Requests without a key that opens",
	};

	on_figure(m, &ready, "", "",
		  core_ready(req->core, on_no_problem, NULL));
	on_figure(m, &connections, "", "", api_connections(req->api));
	on_figure(m, &failures, "", "", (double)req->api->auth_failures);
	emit_requests(req->api, m);
}

int health_metrics(struct request *req, struct error *err)
{
	struct metrics m = { .text = BUF_INIT(METRICS_MAX) };
	int r;

	emit_api(req, &m);
	core_metrics(req->core, on_figure, &m);
	turns_metrics(req->api->config.turns, on_figure, &m);
	upstream_metrics(turns_upstream(req->api->config.turns), on_figure, &m);
	r = m.r < 0 ? error_set_errno(err, m.r, "Cannot write the figures")
		    : reply_text(req, "text/plain; version=0.0.4; "
				      "charset=utf-8", &m.text, err);
	buf_done(&m.text);
	return r;
}
