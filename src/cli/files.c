#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/execute.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/transfer.h"
#include "cli/views.h"

/*
 * Files of a container, when the first argument is a container's id, and
 * otherwise those that were uploaded for no container in particular.
 */

#define CONTAINER_PREFIX "cntr_"
#define FILE_PREFIX "cfile_"

struct files_options {
	const char *out;
	const char *purpose;
	bool force;
	bool all;
};

/* What a subcommand works on. */
struct files {
	struct cli *cli;
	const struct files_options *options;
	const char *container; /* or NULL */
	char *list;            /* path of the list */
};

static const struct table_column columns[] = {
	{ "FILE", false }, { "SIZE", true },  { "AGE", true },
	{ "OF", false },   { "NAME", false },
};

static int add_file(struct cli *cli, const struct json_object *object,
		    struct table *t)
{
	char size[TEXT_SHORT_MAX], age[TEXT_SHORT_MAX];
	struct view_file file;
	int r = view_file(cli, object, &file);
	const char *cells[5];

	if (r < 0)
		return r;
	cells[0] = file.id;
	cells[1] = text_bytes((uint64_t)file.bytes, size);
	cells[2] = text_since(file.created_at, age);
	cells[3] = file.source;
	cells[4] = file.name;
	if (table_add(t, cells) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	return 0;
}

static int files_ls(struct files *f, int count, char **names)
{
	_cleanup_(table_freep) struct table *t = table_new(columns, 5);

	(void)names;
	if (count > 0)
		return cli_fail(f->cli, CLI_USAGE,
				"files ls takes a container's id or nothing");
	return calls_print_list(f->cli, f->list, t, add_file);
}

static char *file_path(const struct files *f, const char *id, const char *tail)
{
	if (f->container)
		return calls_path("/v1/containers/", f->container, "/files/",
				  id, tail, NULL);
	return calls_path("/v1/files/", id, tail, NULL);
}

/* A file that was named, by its id or otherwise. */
struct search {
	const char *wanted;
	char id[80];
	char *name;
};

static int keep_found(struct cli *cli, struct search *search,
		      const struct view_file *file)
{
	snprintf(search->id, sizeof(search->id), "%s", file->id);
	search->name = strdup(file->name);
	return search->name ? 0 : cli_fail(cli, CLI_LOCAL, "Out of memory");
}

static int compare_file(struct cli *cli, const struct json_object *object,
			void *userdata)
{
	struct search *search = userdata;
	struct view_file file;
	int r = view_file(cli, object, &file);

	if (r < 0 || search->id[0])
		return r;
	if (strcmp(file.id, search->wanted) != 0 &&
	    strcmp(file.name, search->wanted) != 0)
		return 0;
	return keep_found(cli, search, &file);
}

/* The server has looked: it is the one. */
static int take_file(struct cli *cli, const struct json_object *object,
		     void *userdata)
{
	struct view_file file;
	int r = view_file(cli, object, &file);

	return r < 0 ? r : keep_found(cli, userdata, &file);
}

/* An id first: what code in the container calls its files is its own choice. */
static int find_in_container(struct files *f, struct search *search)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (strncmp(search->wanted, FILE_PREFIX, strlen(FILE_PREFIX)) == 0) {
		path = file_path(f, search->wanted, "");
		r = calls_get_json(f->cli, path, &object);
		return r < 0 ? r : take_file(f->cli, object, search);
	}
	path = calls_path("/v1/containers/", f->container, "/files?path=",
			  search->wanted, NULL);
	return calls_each(f->cli, path, take_file, search);
}

/* The list is newest first, so of several uploads of a name it is the latest. */
static int find_file(struct files *f, const char *wanted, struct search *ret)
{
	int r;

	*ret = (struct search){ .wanted = wanted };
	r = f->container ? find_in_container(f, ret) :
			   calls_each(f->cli, f->list, compare_file, ret);
	if (r < 0 || ret->id[0])
		return r;
	if (f->container)
		return cli_fail(f->cli, CLI_REFUSED,
				"Container '%s' has no file '%s'", f->container,
				wanted);
	return cli_fail(f->cli, CLI_REFUSED,
			"There is no file '%s', neither as id nor as name",
			wanted);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The person names the local file: no cleaning, but nothing is overwritten. */
static int get_as(struct files *f, const char *path, const char *file)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	_cleanup_close_ int fd = -1;
	int r;

	fd = open(file, flags | (f->options->force ? O_TRUNC : O_EXCL), 0666);
	if (fd < 0)
		return cli_fail(f->cli, CLI_LOCAL, "Cannot write '%s': %s%s",
				file, strerror(errno),
				errno == EEXIST ? " (--force replaces it)" :
						  "");
	r = transfer_copy(f->cli, path, fd, file);
	if (r < 0 && !f->options->force)
		(void)unlink(file);
	return r;
}

/* Puts what is at a path of the API where it is wanted. */
static int get_content(struct files *f, const char *path, const char *name)
{
	_cleanup_free_ char *saved = NULL;
	const char *out = f->options->out;
	int r;

	if (out && strcmp(out, "-") == 0)
		return transfer_copy(f->cli, path, STDOUT_FILENO, name);
	if (out && !is_directory(out))
		return get_as(f, path, out);
	r = transfer_save(f->cli, path, out ? out : ".", name,
			  f->options->force, &saved);
	if (r >= 0)
		cli_note("Saved %s", saved);
	return r;
}

static int get_one(struct files *f, const char *wanted)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	struct search found;
	int r = find_file(f, wanted, &found);

	name = found.name;
	if (r < 0)
		return r;
	path = file_path(f, found.id, "/content");
	return get_content(f, path, name);
}

/* As the archive that the daemon makes of them. */
static int get_all(struct files *f, int count)
{
	_cleanup_free_ char *path = NULL, *name = NULL;

	if (!f->container || count > 0)
		return cli_fail(f->cli, CLI_USAGE,
				"files get --all takes a container's id");
	path = calls_path("/v1/containers/", f->container, "/files.zip", NULL);
	if (asprintf(&name, "%s.zip", f->container) < 0)
		return cli_fail(f->cli, CLI_LOCAL, "Out of memory");
	return get_content(f, path, name);
}

/* A slash at the end leaves no doubt, also where there is nothing yet. */
static bool names_directory(const char *out)
{
	size_t length = out ? strlen(out) : 0;

	return length > 0 && out[length - 1] == '/';
}

static int files_get(struct files *f, int count, char **names)
{
	int i, r = 0;

	if (names_directory(f->options->out))
		r = execute_make_directory(f->cli, f->options->out);
	if (r < 0)
		return r;
	if (f->options->all)
		return get_all(f, count);
	if (count == 0)
		return cli_fail(f->cli, CLI_USAGE, "Which file to get?");
	if (count > 1 && f->options->out && !is_directory(f->options->out))
		return cli_fail(f->cli, CLI_USAGE,
				"--out must be a directory for several files");
	for (i = 0; i < count && r >= 0; i++)
		r = get_one(f, names[i]);
	return r;
}

static int put_one(struct files *f, const char *file)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct view_file made;
	int r;

	r = transfer_upload(f->cli, f->list, file,
			    f->container ? NULL : f->options->purpose, &answer);
	if (r >= 0)
		r = view_file(f->cli, answer, &made);
	if (r < 0)
		return r;
	if (f->cli->json)
		return calls_print_json(f->cli, answer);
	text_print(stdout, made.id);
	(void)putchar('\n');
	return 0;
}

static int files_put(struct files *f, int count, char **names)
{
	int i, r = 0;

	if (count == 0)
		return cli_fail(f->cli, CLI_USAGE, "Which file to send?");
	for (i = 0; i < count && r >= 0; i++)
		r = put_one(f, names[i]);
	return r;
}

static int rm_one(struct files *f, const char *wanted)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	struct search found;
	int r = find_file(f, wanted, &found);

	name = found.name;
	if (r < 0)
		return r;
	path = file_path(f, found.id, "");
	return calls_delete(f->cli, path, false);
}

static int files_rm(struct files *f, int count, char **names)
{
	int i, r = 0;

	if (count == 0)
		return cli_fail(f->cli, CLI_USAGE, "Which file to remove?");
	for (i = 0; i < count && r >= 0; i++)
		r = rm_one(f, names[i]);
	return r;
}

static const struct {
	const char *name;
	int (*run)(struct files *f, int count, char **names);
} verbs[] = {
	{ "ls", files_ls },
	{ "get", files_get },
	{ "put", files_put },
	{ "rm", files_rm },
};

/* The verb, then maybe a container, then files. */
static int run_verb(struct files *f, const struct args *args)
{
	_cleanup_free_ char *list = NULL;
	size_t i, verb_count = sizeof(verbs) / sizeof(verbs[0]);
	const char *verb = args->count > 0 ? args->items[0] : verbs[0].name;
	int used = args->count > 0;

	if (args->count > 1 && strncmp(args->items[1], CONTAINER_PREFIX,
				       strlen(CONTAINER_PREFIX)) == 0)
		f->container = args->items[used++];
	list = f->container ? calls_path("/v1/containers/", f->container,
					 "/files", NULL) :
			      calls_path("/v1/files", NULL);
	f->list = list;
	for (i = 0; i < verb_count; i++)
		if (strcmp(verbs[i].name, verb) == 0)
			return verbs[i].run(f, args->count - used,
					    args->items + used);
	return cli_fail(f->cli, CLI_USAGE,
			"What to do with files is ls, get, put or rm");
}

int cmd_files(struct cli *cli, int argc, char **argv)
{
	struct files_options o = { .purpose = "user_data" };
	const struct args_option options[] = {
		{ "out", 'o', "PATH",
		  "where get puts it: a directory, a new file, or - (.)",
		  .string = &o.out },
		{ "all", 'a', NULL,
		  "let get fetch all files of a container, as a zip archive",
		  .flag = &o.all },
		{ "force", 0, NULL, "let get replace a file that exists",
		  .flag = &o.force },
		{ "purpose", 'p', "PURPOSE",
		  "what put tells /v1/files (user_data)",
		  .string = &o.purpose },
		{ .name = NULL },
	};
	struct files f = { .cli = cli, .options = &o };
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, options, 0, ARGS_LIST_MAX, &args);
	if (r < 0 || args.help)
		return r;
	return run_verb(&f, &args);
}
