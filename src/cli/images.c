#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/host.h"
#include "cli/table.h"
#include "cli/text.h"

/* Debian's package cupola-images puts them there, whatever the prefix. */
#define PACKAGED_IMAGES "/usr/share/cupola/images"

static const struct table_column columns[] = {
	{ "IMAGE", false }, { "DIGEST", false }, { "SIZE", true },
	{ "BUILT", false }, { "WHERE", false },
};

struct listing {
	struct table *table;
	struct json_writer *writer;
	bool failed;
};

static void add_image(const struct host_image *image, void *userdata)
{
	struct listing *l = userdata;
	char size[TEXT_SHORT_MAX];
	const char *const cells[] = {
		image->name,
		image->digest,
		text_bytes((uint64_t)image->size, size),
		image->built_at,
		image->directory,
	};

	if (table_add(l->table, cells) < 0)
		l->failed = true;
	json_write_object(l->writer, NULL);
	json_write_string(l->writer, "name", image->name);
	json_write_string(l->writer, "digest", image->digest);
	json_write_int(l->writer, "size", image->size);
	json_write_string(l->writer, "built_at", image->built_at);
	json_write_string(l->writer, "directory", image->directory);
	json_write_close(l->writer);
}

static int print_images(struct cli *cli, const char *state)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	_cleanup_(table_freep) struct table *t = table_new(columns, 5);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct listing l = { .table = t, .writer = &w, .failed = !t };
	size_t count = 0;

	json_write_object(&w, NULL);
	json_write_string(&w, "object", "list");
	json_write_array(&w, "data");
	if (t)
		count = host_images(state, add_image, &l);
	json_write_close(&w);
	json_write_close(&w);
	if (json_write_end(&w) < 0 || l.failed)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	if (cli->json)
		puts(buf_str(&text));
	else
		table_print(t, stdout, cli->colour);
	if (count == 0)
		cli_note("No image found: images/build python makes one");
	return 0;
}

/* Where the programs are that make images and look after them: in the source
 * tree that this program was built in, or where Debian's package has them. */
static int find_program(struct cli *cli, const char *name,
			char ret_path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - 64);
	char *slash;

	ret_path[n > 0 ? n : 0] = '\0';
	slash = strrchr(ret_path, '/');
	if (slash) {
		(void)snprintf(slash, 64, "/../images/%s", name);
		if (access(ret_path, X_OK) == 0)
			return 0;
	}
	(void)snprintf(ret_path, PATH_MAX, PACKAGED_IMAGES "/%s", name);
	if (access(ret_path, X_OK) == 0)
		return 0;
	return cli_fail(cli, CLI_LOCAL,
			"There is no program for images here: it is "
			PACKAGED_IMAGES "/%s, of the package cupola-images",
			name);
}

/* Files of this machine, no daemon's: those programs need none to run. Returns
 * only if there is no such program. */
static int run_program(struct cli *cli, const char *name, char **argv)
{
	char path[PATH_MAX];
	int r = find_program(cli, name, path);

	if (r < 0)
		return r;
	argv[0] = path;
	/* They ask a daemon, if there is one, what sessions are called. */
	(void)setenv("CUPOLA_SOCKET", cli->socket, 1);
	execv(path, argv);
	return cli_fail(cli, CLI_LOCAL, "Cannot start '%s': %m", path);
}

static const struct {
	const char *name;
	const char *program;
} actions[] = {
	{ "build", "build" },	   { "verify", "manage.py" },
	{ "export", "manage.py" }, { "import", "manage.py" },
	{ "rm", "manage.py" },	   { "prune", "manage.py" },
	{ "diff", "manage.py" },
};

int cmd_images(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *state = NULL;
	bool dry = false;
	/* Those of the programs, for the help and for shells; only they read them. */
	const struct args_option options[] = {
		{ "dry-run", 0, NULL, "of prune: only say which would go",
		  .flag = &dry },
		{ .name = NULL },
	};
	struct args args;
	size_t i;
	int r;

	for (i = 0; argc > 1 && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(argv[1], actions[i].name) == 0)
			return run_program(cli, actions[i].program,
					   i == 0 ? argv + 1 : argv);

	r = args_parse(cli, argc, argv, options, 0, ARGS_LIST_MAX, &args);
	if (r < 0 || args.help)
		return r;
	if (args.count > 0)
		return cli_fail(cli, CLI_USAGE,
				"What to do with images is build, verify, "
				"export, import, rm, prune or diff, and not "
				"'%s'",
				args.items[0]);
	if (dry)
		return cli_fail(cli, CLI_USAGE, "--dry-run is for prune");
	r = cli_state(cli, &state);
	return r < 0 ? r : print_images(cli, state);
}
