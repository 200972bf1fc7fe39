#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "base/sse_reader.h"
#include "cli/text.h"
#include "cli/views.h"

enum { TIME_SIZE = 32, RETRY_MSEC = 1000 };

static const char *clock_text(int64_t at, char room[TIME_SIZE])
{
	time_t seconds = (time_t)at;
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    strftime(room, TIME_SIZE, "%H:%M:%S", &tm) == 0)
		room[0] = '\0';
	return room;
}

static void print_member(const struct json_object *event, const char *key)
{
	const char *text = view_string(event, key);

	if (!text[0])
		return;
	(void)fputs("  ", stdout);
	text_print(stdout, text);
}

static void print_line(const char *type, const struct json_object *event)
{
	static const char *const members[] = {
		"container", "vm", "tenant", "pool", "reason", "message",
	};
	_cleanup_free_ char *safe = text_escape(type);
	int64_t ends = view_int(event, "ends_at");
	char room[TIME_SIZE];
	size_t i;

	printf("%s  %-15s", clock_text(view_int(event, "at"), room),
	       safe ? safe : "?");
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		print_member(event, members[i]);
	if (ends)
		printf("  ends at %s", clock_text(ends, room));
	(void)putchar('\n');
}

/* For programs: a line of JSON each, with the type in it. */
static int print_json(struct cli *cli, const struct sse_event *event,
		      const struct json_object *data)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer w = JSON_WRITER_INIT(&line);

	json_write_object(&w, NULL);
	json_write_string(&w, "event", event->type);
	json_write_string(&w, "id", event->id);
	json_write_value(&w, "data", data);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	(void)fwrite(line.data, 1, line.length, stdout);
	(void)putchar('\n');
	return 0;
}

static int on_event(const struct sse_event *event, void *userdata)
{
	_cleanup_(json_freep) struct json_object *data = NULL;
	struct cli *cli = userdata;
	int r = 0;

	if (json_parse(event->data, event->length, &data, NULL) < 0)
		return cli_fail(cli, CLI_BROKEN,
				"An event of the daemon is no JSON");
	if (cli->json)
		r = print_json(cli, event, data);
	else
		print_line(event->type, data);
	/* Whoever reads it from a pipe reads it as it happens. */
	if (r >= 0 && fflush(stdout) == EOF)
		r = cli_fail(cli, CLI_LOCAL, "Cannot write the events");
	return r;
}

struct follower {
	struct cli *cli;
	struct sse_reader *sse;
};

static int on_bytes(const void *bytes, size_t length, void *userdata)
{
	struct follower *f = userdata;
	int r = sse_reader_feed(f->sse, bytes, length);

	if (r == -ENOMEM || r == -EMSGSIZE)
		return cli_fail(f->cli, CLI_BROKEN,
				"The daemon's events cannot be read: %s",
				strerror(-r));
	return r;
}

static int follow(struct follower *f, struct client *client)
{
	const char *last = sse_reader_last_id(f->sse);
	_cleanup_free_ char *path =
		calls_path(last[0] ? "/admin/v1/events?after=" :
				     "/admin/v1/events",
			   last, NULL);
	const struct client_request request = {
		.method = "GET",
		.path = path,
		.sink = on_bytes,
		.userdata = f,
	};

	if (!path)
		return cli_fail(f->cli, CLI_LOCAL, "Out of memory");
	sse_reader_restart(f->sse);
	return client_call(client, &request, NULL);
}

int cmd_events(struct cli *cli, int argc, char **argv)
{
	_cleanup_(sse_reader_freep) struct sse_reader *sse = NULL;
	struct follower f = { .cli = cli };
	bool as_ever = false;
	const struct args_option options[] = {
		{ "follow", 'f', NULL, "what it does anyway, for fingers",
		  .flag = &as_ever },
		{ .name = NULL },
	};
	struct client *client;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = cli_client(cli, &client);
	if (r < 0)
		return r;
	if (sse_reader_new(CLIENT_ANSWER_MAX, on_event, cli, &sse) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	f.sse = sse;
	r = follow(&f, client);
	/* A daemon that is started again is followed further, once it was there. */
	while ((r == 0 || r == -CLI_UNREACHABLE) && sse_reader_last_id(sse)[0]) {
		cli_forgive(cli);
		if (client_pause(client, RETRY_MSEC) < 0)
			return -CLI_INTERRUPTED;
		r = follow(&f, client);
	}
	return r == 0 ? cli_fail(cli, CLI_BROKEN, "The daemon ended the events")
		      : r;
}
