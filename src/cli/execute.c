#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/execute.h"
#include "cli/stream.h"
#include "cli/text.h"
#include "cli/transfer.h"

/* JSON needs up to six bytes for one of source. */
enum { BODY_MAX = 6 * EXECUTE_CODE_MAX + 4096 };

/* Notes about files, kept or not; there may be a hundred thousand. */
enum { FILES_SHOWN = 10 };

int execute_read_code(struct cli *cli, const char *file, struct buf *ret)
{
	int r = transfer_read_local(cli, file, ret);

	if (r >= 0 && ret->length == 0)
		return cli_fail(cli, CLI_LOCAL, "%s is empty",
				strcmp(file, "-") == 0 ? "Standard input" :
							 file);
	return r;
}

int execute_make_directory(struct cli *cli, const char *out)
{
	struct stat st;
	int r = fs_mkdir_p(out, 0777);

	if (r >= 0 && stat(out, &st) == 0 && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0)
		return cli_fail(cli, CLI_LOCAL,
				"Cannot make the directory '%s': %s", out,
				strerror(-r));
	return 0;
}

static int make_body(const struct execute_options *o, bool streamed,
		     struct buf *body)
{
	struct json_writer w = JSON_WRITER_INIT(body);

	json_write_object(&w, NULL);
	json_write_bytes(&w, "code", o->code->data, o->code->length);
	if (o->timeout_s > 0)
		json_write_double(&w, "timeout_s", o->timeout_s);
	json_write_bool(&w, "stream", streamed);
	json_write_close(&w);
	return json_write_end(&w);
}

static int run_quietly(struct cli *cli, const struct execute_options *o,
		       const char *body, struct json_object **ret_done)
{
	_cleanup_free_ char *path =
		calls_path("/v1/containers/", o->container, "/exec", NULL);

	return calls_post_json(cli, path, body, ret_done);
}

/* The code runs on in a container that stays, unless it is told to stop. */
static void interrupt(struct cli *cli, const char *container, const char *id)
{
	_cleanup_free_ char *path = calls_path("/v1/containers/", container,
					       "/executions/", id, "/interrupt",
					       NULL);
	const struct client_request request = {
		.method = "POST",
		.path = path,
		.json = "",
		.unbroken = true,
	};
	struct client *client;

	if (path && cli_client(cli, &client) >= 0 &&
	    client_call(client, &request, NULL) >= 0)
		return;
	cli_note("The code may still run in %s", container);
}

static int run_code(struct cli *cli, const struct execute_options *o,
		    struct json_object **ret_done)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(BODY_MAX);
	char id[STREAM_ID_SIZE] = "";
	int r;

	if (make_body(o, !cli->json, &body) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (cli->json)
		return run_quietly(cli, o, buf_str(&body), ret_done);
	r = stream_run(cli, o->container, buf_str(&body), id, ret_done);
	if (r == -CLI_INTERRUPTED && o->interrupt && id[0])
		interrupt(cli, o->container, id);
	return r;
}

static int save_one(struct cli *cli, const struct execute_options *o,
		    const struct json_object *artifact, struct json_writer *w)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	struct view_file file;
	int r = view_file(cli, artifact, &file);

	if (r < 0)
		return r;
	path = calls_path("/v1/containers/", o->container, "/files/", file.id,
			  "/content", NULL);
	r = transfer_save(cli, path, o->out, file.name, o->force, &name);
	if (r < 0)
		return r;
	if (!cli->json)
		cli_note("Saved %s/%s", o->out, name);
	json_write_object(w, NULL);
	json_write_string(w, "file_id", file.id);
	json_write_string(w, "directory", o->out);
	json_write_string(w, "name", name);
	json_write_close(w);
	return 0;
}

/* One that cannot be saved must not keep the others from it. */
static int save_all(struct cli *cli, const struct execute_options *o,
		    const struct json_object *artifacts, struct json_writer *w)
{
	size_t i, count = o->out ? json_array_size(artifacts) : 0;
	int r, first = 0;

	json_write_array(w, "saved");
	for (i = 0; i < count; i++) {
		r = save_one(cli, o, json_array_at(artifacts, i), w);
		if (r < 0 && first == 0)
			first = r;
		if (r == -CLI_INTERRUPTED)
			break;
		if (r < 0) {
			cli_note("%s", cli->message);
			cli_forgive(cli);
		}
	}
	json_write_close(w);
	if (first < 0)
		return cli_fail(cli, (enum cli_exit) - first,
				"Not every file could be saved");
	return 0;
}

static void note_skipped(const struct json_object *skipped)
{
	size_t i, count = json_array_size(skipped);
	struct view_skipped s;
	int64_t more = 0;

	for (i = 0; i < count; i++) {
		view_skipped(json_array_at(skipped, i), &s);
		if (s.count > 0 || i >= FILES_SHOWN)
			more += s.count > 0 ? s.count : 1;
		else
			cli_note("Not kept: %s (%s)", s.path, s.reason);
	}
	if (more > 0)
		cli_note("Not kept: %" PRId64 " more", more);
}

/* What stays in the container: nothing else tells a person that it is there. */
static void note_kept(const struct json_object *artifacts)
{
	size_t i, count = json_array_size(artifacts);
	const struct json_object *file;
	char size[TEXT_SHORT_MAX];

	for (i = 0; i < count && i < FILES_SHOWN; i++) {
		file = json_array_at(artifacts, i);
		cli_note("Kept: %s (%s)", view_string(file, "path"),
			 text_bytes((uint64_t)view_int(file, "bytes"), size));
	}
	if (count > i)
		cli_note("Kept: %zu more", count - i);
}

/* How code may end but for "ok" and "error", in words. */
static const struct {
	const char *status;
	const char *words;
} endings[] = {
	{ "timeout", "The code ran into its time limit" },
	{ "interrupted", "The code was interrupted" },
	{ "output_limit", "The code printed too much and was ended" },
	{ "oom", "The code used up the container's memory" },
	{ "kernel_died", "The Python process died" },
	{ "session_lost", "The session ended before the code did" },
};

static void note_ending(const struct view_execution *e)
{
	size_t i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (strcmp(endings[i].status, e->status) != 0)
			continue;
		if (e->error_name[0])
			cli_note("%s: %s%s%s", endings[i].words, e->error_name,
				 e->error_value[0] ? " " : "", e->error_value);
		else
			cli_note("%s", endings[i].words);
	}
	if (e->state_lost)
		cli_note("Its variables are lost");
}

static void tell_end(const struct view_execution *e, bool saved)
{
	char omitted[TEXT_SHORT_MAX], total[TEXT_SHORT_MAX];
	size_t length = strlen(e->traceback);

	if (length > 0) {
		(void)text_write_output(stderr, e->traceback, length,
					isatty(STDERR_FILENO));
		if (e->traceback[length - 1] != '\n')
			fputc('\n', stderr);
		text_end_colours();
	}
	note_ending(e);
	if (e->omitted_bytes > 0)
		cli_note("Of %s of output, %s were left out",
			 text_bytes((uint64_t)e->total_bytes, total),
			 text_bytes((uint64_t)e->omitted_bytes, omitted));
	if (!saved)
		note_kept(e->artifacts);
	note_skipped(e->skipped);
}

static int exit_of(const struct view_execution *e)
{
	if (strcmp(e->status, "ok") == 0)
		return CLI_OK;
	if (strcmp(e->status, "session_lost") == 0)
		return CLI_LOST;
	return CLI_NEGATIVE;
}

static int copy_member(const char *key, struct json_object *value,
		       void *userdata)
{
	json_write_value(userdata, key, value);
	return 0;
}

/* With --json: the execution, and what became of its files here. */
static int finish(struct cli *cli, const struct execute_options *o,
		  const struct json_object *done,
		  const struct view_execution *e)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer w = JSON_WRITER_INIT(&text);
	int r;

	json_write_object(&w, NULL);
	(void)json_each_member(done, copy_member, &w);
	r = save_all(cli, o, e->artifacts, &w);
	json_write_close(&w);
	if (json_write_end(&w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (cli->json)
		printf("%s\n", buf_str(&text));
	return r;
}

int execute_run(struct cli *cli, const struct execute_options *o)
{
	_cleanup_(json_freep) struct json_object *done = NULL;
	struct view_execution e;
	int r;

	r = run_code(cli, o, &done);
	if (r >= 0)
		r = view_execution(cli, done, &e);
	if (r < 0)
		return r;
	if (!cli->json)
		tell_end(&e, o->out != NULL);
	r = finish(cli, o, done, &e);
	return r < 0 ? r : exit_of(&e);
}
