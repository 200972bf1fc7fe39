#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/progress.h"
#include "base/sse_reader.h"
#include "cli/stream.h"
#include "cli/text.h"
#include "cli/views.h"

/* A daemon that restarts is back in seconds; then give up. */
#define RETRIES 60
#define RETRY_MSEC 500

struct stream {
	struct cli *cli;
	const char *container;
	struct sse_reader *sse;
	char *id;
	struct json_object *done;
	bool out_terminal;
	bool err_terminal;
	bool line_open;		/* what went to stdout ended in no newline */
};

static int got_started(struct stream *s, const struct json_object *event)
{
	snprintf(s->id, STREAM_ID_SIZE, "%s", view_string(event, "id"));
	return 0;
}

static int write_out(struct stream *s, FILE *to, const char *data,
		     size_t length, bool terminal)
{
	int r;

	progress_wipe();
	r = text_write_output(to, data, length, terminal);
	if (r < 0)
		return cli_fail(s->cli, CLI_LOCAL,
				"Cannot write the code's output: %s",
				strerror(-r));
	if (to == stdout && length > 0)
		s->line_open = data[length - 1] != '\n';
	return 0;
}

static int end_line(struct stream *s)
{
	return s->line_open ? write_out(s, stdout, "\n", 1, false) : 0;
}

static int got_output(struct stream *s, const struct json_object *event)
{
	struct json_string data = json_string_of(json_member(event, "data"));
	bool is_err = strcmp(view_string(event, "stream"), "stderr") == 0;

	if (!data.data)
		return 0;
	return write_out(s, is_err ? stderr : stdout, data.data, data.length,
			 is_err ? s->err_terminal : s->out_terminal);
}

/* The value of the last expression. A figure's text is not worth a line. */
static int got_result(struct stream *s, const struct json_object *event)
{
	struct json_string text =
		json_string_of(json_member(event, "text/plain"));
	int r;

	if (!text.data || json_member(event, "image/png"))
		return 0;
	r = end_line(s);
	if (r >= 0)
		r = write_out(s, stdout, text.data, text.length,
			      s->out_terminal);
	return r < 0 ? r : end_line(s);
}

static int got_error(struct stream *s, const struct json_object *event)
{
	const char *message =
		view_string(json_member(event, "error"), "message");

	return cli_fail(s->cli, CLI_BROKEN, "%s",
			message[0] ? message : "The daemon gave up");
}

/* What the daemon may say; what a newer one adds is passed over. */
static const struct {
	const char *type;
	int (*handle)(struct stream *s, const struct json_object *event);
} events[] = {
	{ "execution.started", got_started },
	{ "execution.output", got_output },
	{ "execution.result", got_result },
	{ "error", got_error },
};

static int on_event(const struct sse_event *event, void *userdata)
{
	struct stream *s = userdata;
	_cleanup_(json_freep) struct json_object *data = NULL;
	size_t i;

	progress_end();
	if (json_parse(event->data, event->length, &data, NULL) < 0)
		return cli_fail(s->cli, CLI_BROKEN,
				"An event of the daemon is no JSON");
	if (strcmp(event->type, "execution.done") == 0 && !s->done)
		s->done = take_ptr(data);
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].type, event->type) == 0)
			return events[i].handle(s, data);
	return 0;
}

static int on_bytes(const void *data, size_t length, void *userdata)
{
	struct stream *s = userdata;
	int r = sse_reader_feed(s->sse, data, length);

	if (r == -ENOMEM)
		return cli_fail(s->cli, CLI_LOCAL, "Out of memory");
	if (r == -EMSGSIZE)
		return cli_fail(s->cli, CLI_BROKEN,
				"An event of the daemon is too large");
	return r;
}

static int stream_begin(struct stream *s, struct client *client,
			const char *body)
{
	_cleanup_free_ char *path =
		calls_path("/v1/containers/", s->container, "/exec", NULL);
	const struct client_request request = {
		.method = "POST",
		.path = path,
		.json = body,
		.sink = on_bytes,
		.userdata = s,
		.progress = "Waiting for the VM",
	};

	if (!path)
		return cli_fail(s->cli, CLI_USAGE, "The id is too long");
	return client_call(client, &request, NULL);
}

static int stream_resume(struct stream *s, struct client *client)
{
	const char *last = sse_reader_last_id(s->sse);
	_cleanup_free_ char *path = calls_path(
		"/v1/containers/", s->container, "/executions/", s->id,
		last[0] ? "/events?after=" : "/events", last, NULL);
	const struct client_request request = {
		.method = "GET",
		.path = path,
		.sink = on_bytes,
		.userdata = s,
		.progress = "Waiting for the daemon",
	};

	if (!path)
		return cli_fail(s->cli, CLI_LOCAL, "Out of memory");
	sse_reader_restart(s->sse);
	return client_call(client, &request, NULL);
}

/* Whether asking again may help: nobody there, or not ready yet. */
static bool worth_another_try(const struct stream *s, int r)
{
	return !s->done && s->id[0] &&
	       (r == 0 || r == -CLI_UNREACHABLE || r == -CLI_BUSY);
}

static int stream_follow(struct stream *s, const char *body)
{
	struct client *client;
	unsigned tries;
	int r = cli_client(s->cli, &client);

	if (r < 0)
		return r;
	r = stream_begin(s, client, body);
	for (tries = 0; worth_another_try(s, r) && tries < RETRIES; tries++) {
		if (client_pause(client, RETRY_MSEC) < 0)
			return -CLI_INTERRUPTED;
		cli_forgive(s->cli);
		r = stream_resume(s, client);
	}
	if (r >= 0 && !s->done)
		r = cli_fail(s->cli, CLI_BROKEN,
			     "The daemon's answer ended before the code did");
	return r;
}

int stream_run(struct cli *cli, const char *container, const char *body,
	       char *ret_id, struct json_object **ret_done)
{
	_cleanup_(sse_reader_freep) struct sse_reader *sse = NULL;
	struct stream s = {
		.cli = cli,
		.container = container,
		.id = ret_id,
		.out_terminal = isatty(STDOUT_FILENO),
		.err_terminal = isatty(STDERR_FILENO),
	};
	int r;

	if (sse_reader_new(CLIENT_ANSWER_MAX, on_event, &s, &sse) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	s.sse = sse;
	r = stream_follow(&s, body);
	progress_end();
	/* What a person is told next shall not run into it; programs get the
	 * code's bytes and no more. */
	if (s.out_terminal)
		(void)end_line(&s);
	text_end_colours();
	if (r < 0)
		json_free(s.done);
	else
		*ret_done = s.done;
	return r;
}
