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

static void on_figure(void *userdata, const char *name, const char *type,
		      const char *help, const char *labels, double value)
{
	struct metrics *m = userdata;
	bool labelled = labels && *labels;

	if (m->r == 0 && strcmp(m->last, name) != 0) {
		m->r = buf_printf(&m->text, "# HELP %s %s\n# TYPE %s %s\n",
				  name, help, name, type);
		(void)snprintf(m->last, sizeof(m->last), "%s", name);
	}
	if (m->r == 0)
		m->r = buf_printf(&m->text, "%s%s%s%s %.17g\n", name,
				  labelled ? "{" : "", labelled ? labels : "",
				  labelled ? "}" : "", value);
}

int health_metrics(struct request *req, struct error *err)
{
	struct metrics m = { .text = BUF_INIT(METRICS_MAX) };
	int r;

	on_figure(&m, "cupola_http_connections", "gauge",
		  "Clients that are connected", "",
		  api_connections(req->api));
	on_figure(&m, "cupola_auth_failures_total", "counter",
		  "Requests without a key that opens", "",
		  (double)req->api->auth_failures);
	core_metrics(req->core, on_figure, &m);
	turns_metrics(req->api->config.turns, on_figure, &m);
	upstream_metrics(turns_upstream(req->api->config.turns), on_figure, &m);
	r = m.r < 0 ? error_set_errno(err, m.r, "Cannot write the figures")
		    : reply_text(req, "text/plain; version=0.0.4; "
				      "charset=utf-8", &m.text, err);
	buf_done(&m.text);
	return r;
}
