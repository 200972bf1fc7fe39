#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/execute.h"
#include "cli/transfer.h"
#include "cli/views.h"

/*
 * Upload, create, execute, save, delete. Whatever happens in between, Ctrl-C
 * and a full disk included, what was made in the daemon is removed at the end;
 * only a run that is killed leaves it to the daemon's idle limit.
 */

enum { BODY_MAX = 64 * 1024 };

struct run {
	struct cli *cli;
	struct execute_options execute;
	struct args_list files;
	const char *memory;
	bool keep;
	struct json_object *uploaded[ARGS_LIST_MAX];
	size_t uploaded_count;
	struct json_object *container;
};

/* Both would be the same file in the container. */
static int check_names(struct cli *cli, const struct args_list *files)
{
	size_t i, k;

	for (i = 0; i < files->count; i++) {
		const char *name = transfer_base_name(files->items[i]);

		if (access(files->items[i], R_OK) < 0)
			return cli_fail(cli, CLI_LOCAL, "Cannot read '%s': %m",
					files->items[i]);
		for (k = 0; k < i; k++)
			if (strcmp(transfer_base_name(files->items[k]), name) ==
			    0)
				return cli_fail(cli, CLI_USAGE,
						"Two files are called '%s'",
						name);
	}
	return 0;
}

static int upload_all(struct run *run)
{
	size_t i;
	int r = 0;

	for (i = 0; i < run->files.count && r >= 0; i++) {
		r = transfer_upload(run->cli, "/v1/files", run->files.items[i],
				    "user_data", &run->uploaded[i]);
		if (r >= 0)
			run->uploaded_count++;
	}
	return r;
}

static int container_body(const struct run *run, const char *name,
			  struct buf *body)
{
	struct json_writer w = JSON_WRITER_INIT(body);
	size_t i;

	json_write_object(&w, NULL);
	json_write_string(&w, "name", name);
	if (run->memory)
		json_write_string(&w, "memory_limit", run->memory);
	json_write_array(&w, "file_ids");
	for (i = 0; i < run->uploaded_count; i++)
		json_write_string(&w, NULL,
				  view_string(run->uploaded[i], "id"));
	json_write_close(&w);
	json_write_close(&w);
	return json_write_end(&w);
}

/*
 * Not broken by a signal: a container whose id never arrived could not be
 * deleted. The daemon answers as soon as it has written it down.
 */
static int create(struct run *run, const char *name)
{
	_cleanup_(buf_done) struct buf body = BUF_INIT(BODY_MAX);
	struct client_request request = {
		.method = "POST",
		.path = "/v1/containers",
		.unbroken = true,
	};
	struct client *client;
	int r;

	if (container_body(run, name, &body) < 0)
		return cli_fail(run->cli, CLI_LOCAL, "Out of memory");
	request.json = buf_str(&body);
	r = cli_client(run->cli, &client);
	if (r >= 0)
		r = client_call_json(client, &request, &run->container);
	if (r < 0)
		return r;
	run->execute.container = view_string(run->container, "id");
	return 0;
}

static void remove_container(struct run *run)
{
	_cleanup_free_ char *path = NULL;
	const char *id = run->execute.container;

	if (!run->container)
		return;
	if (run->keep) {
		cli_note("Container %s is kept", id);
		return;
	}
	path = calls_path("/v1/containers/", id, NULL);
	if (calls_delete(run->cli, path, true) == -CLI_UNREACHABLE)
		cli_note("Container %s may be left; it ends at its idle limit",
			 id);
}

static void tidy_up(struct run *run)
{
	size_t i;

	remove_container(run);
	for (i = 0; i < run->uploaded_count; i++) {
		_cleanup_free_ char *path =
			calls_path("/v1/files/",
				   view_string(run->uploaded[i], "id"), NULL);

		/* The container has copies of its own, if it is kept. */
		(void)calls_delete(run->cli, path, true);
		json_free(run->uploaded[i]);
	}
	json_free(run->container);
}

static int run_script(struct run *run, const char *script)
{
	_cleanup_(buf_done) struct buf code = BUF_INIT(EXECUTE_CODE_MAX);
	int r;

	run->execute.code = &code;
	r = check_names(run->cli, &run->files);
	if (r >= 0)
		r = execute_read_code(run->cli, script, &code);
	if (r >= 0)
		r = execute_make_directory(run->cli, run->execute.out);
	if (r >= 0)
		r = upload_all(run);
	if (r >= 0)
		r = create(run, transfer_base_name(script));
	if (r >= 0)
		r = execute_run(run->cli, &run->execute);
	tidy_up(run);
	return r;
}

int cmd_run(struct cli *cli, int argc, char **argv)
{
	struct run run = { .cli = cli, .execute.out = "." };
	const struct args_option options[] = {
		{ "file", 'f', "FILE", "copy FILE in first; repeat for more",
		  .list = &run.files },
		{ "out", 'o', "DIR", "where its files go (.)",
		  .string = &run.execute.out },
		{ "force", 0, NULL, "replace files that exist there",
		  .flag = &run.execute.force },
		{ "timeout", 't', "SECONDS", "end it after so long (120)",
		  .seconds = &run.execute.timeout_s },
		{ "memory", 'm', "SIZE", "memory: 1g, 4g, 16g or 64g (1g)",
		  .string = &run.memory, .words = "1g 4g 16g 64g" },
		{ "keep", 'k', NULL, "leave the container running",
		  .flag = &run.keep },
		{ .name = NULL },
	};
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 1, 1, &args);
	if (r < 0 || args.help)
		return r;
	return run_script(&run, args.items[0]);
}
