#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/views.h"

#define DRAIN_PATH "/admin/v1/drain"

enum { BODY_MAX = 64, POLL_MSEC = 1000, WORDS_MAX = 128 };

/** struct drain_options - @deadline: in seconds, 0 if not given */
struct drain_options {
	bool now;
	bool undo;
	bool status;
	bool wait;
	double deadline;
};

static int drain_begin(struct cli *cli, const struct drain_options *o,
		       struct json_object **ret_answer)
{
	char body[BODY_MAX] = "{}";

	if (o->now || o->deadline > 0)
		(void)snprintf(body, sizeof(body), "{\"deadline_s\":%.3f}",
			       o->now ? 0 : o->deadline);
	return calls_post_json(cli, DRAIN_PATH, body, ret_answer);
}

static int drain_call(struct cli *cli, const struct drain_options *o,
		      struct json_object **ret_answer)
{
	static const struct client_request undo = {
		.method = "DELETE",
		.path = DRAIN_PATH,
	};
	struct client *client;
	int r;

	if (o->status)
		return calls_get_json(cli, DRAIN_PATH, ret_answer);
	if (!o->undo)
		return drain_begin(cli, o, ret_answer);
	r = cli_client(cli, &client);
	return r < 0 ? r : client_call_json(client, &undo, ret_answer);
}

/* The state, as a person calls it: there, "off" is the drain and not the host. */
static const char *state_words(const struct json_object *answer)
{
	const char *state = view_string(answer, "state");

	return strcmp(state, "off") == 0 ? "not drained" : state;
}

static void drain_words(const struct json_object *answer, char room[WORDS_MAX])
{
	int64_t sessions = view_int(answer, "sessions");
	int64_t deadline = view_int(answer, "deadline_at");
	char count[TEXT_SHORT_MAX], left[TEXT_SHORT_MAX];
	bool ends = deadline && sessions > 0;

	(void)snprintf(room, WORDS_MAX, "%.32s, %s%s%s%s", state_words(answer),
		       text_count(sessions, "live session", count),
		       ends ? ", ended in " : "",
		       ends ? text_until(deadline, left) : "",
		       ends ? " at the latest" : "");
}

/* One look later. It says what it waits for, and that this is not the drain. */
static int drain_look_again(struct cli *cli, struct client *client,
			    struct json_object **answer)
{
	int r;

	r = client_pause(client, POLL_MSEC);
	if (r < 0) {
		cli_forgive(cli);
		return cli_fail(cli, CLI_INTERRUPTED,
				"Interrupted; the drain goes on until "
				"\"cupolactl undrain\"");
	}
	progress_update(0, 0);
	json_free(take_ptr(*answer));
	return calls_get_json(cli, DRAIN_PATH, answer);
}

/* Until nothing lives, or somebody undoes it. */
static int drain_wait(struct cli *cli, struct json_object **answer)
{
	char words[WORDS_MAX];
	struct client *client;
	int r = cli_client(cli, &client);

	progress_begin(words);
	while (r >= 0 && strcmp(view_string(*answer, "state"), "draining") == 0) {
		drain_words(*answer, words);
		r = drain_look_again(cli, client, answer);
	}
	progress_end();
	return r;
}

static int drain_print(struct cli *cli, const struct json_object *answer)
{
	char words[WORDS_MAX];

	if (cli->json)
		return calls_print_json(cli, answer);
	drain_words(answer, words);
	text_print(stdout, words);
	(void)putchar('\n');
	return 0;
}

static int check_options(struct cli *cli, const struct drain_options *o)
{
	if (o->now + o->undo + o->status + (o->deadline > 0) > 1)
		return cli_fail(cli, CLI_USAGE,
				"--now, --deadline, --undo and --status "
				"exclude each other");
	if (o->undo && o->wait)
		return cli_fail(cli, CLI_USAGE,
				"There is nothing to wait for with --undo");
	return 0;
}

int cmd_drain(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct drain_options o = { .now = false };
	const struct args_option options[] = {
		{ "now", 'n', NULL, "end the sessions that live at once",
		  .flag = &o.now },
		{ "deadline", 'd', "SECONDS", "end them after so long",
		  .seconds = &o.deadline },
		{ "wait", 'w', NULL, "return when no session is left",
		  .flag = &o.wait },
		{ "undo", 'u', NULL, "take new sessions again",
		  .flag = &o.undo },
		{ "status", 's', NULL, "only say how far it is",
		  .flag = &o.status },
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = check_options(cli, &o);
	if (r >= 0)
		r = drain_call(cli, &o, &answer);
	if (r >= 0 && o.wait)
		r = drain_wait(cli, &answer);
	return r < 0 ? r : drain_print(cli, answer);
}

int cmd_undrain(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const struct drain_options undo = { .undo = true };
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = drain_call(cli, &undo, &answer);
	return r < 0 ? r : drain_print(cli, answer);
}

int drain_remind(struct cli *cli, FILE *to)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	int r = calls_get_json(cli, DRAIN_PATH, &answer);

	if (r >= 0 && strcmp(view_string(answer, "state"), "off") != 0)
		(void)fprintf(to,
			      "cupolactl: no new sessions are taken until "
			      "\"cupolactl undrain\"\n");
	return r;
}
