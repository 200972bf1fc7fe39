#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/host.h"
#include "cli/table.h"
#include "cli/text.h"

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

int cmd_images(struct cli *cli, int argc, char **argv)
{
	_cleanup_free_ char *state = NULL;
	struct args args;
	int r;

	r = args_parse(cli, argc, argv, NULL, 0, 0, &args);
	if (r < 0 || args.help)
		return r;
	r = cli_state(cli, &state);
	return r < 0 ? r : print_images(cli, state);
}
