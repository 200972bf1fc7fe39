#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/calls.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/table.h"
#include "cli/views.h"

enum { PATH_LENGTH_MAX = 4096 };

static int add_encoded(struct buf *path, const char *segment)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-";
	int r = 0;

	for (; *segment && r >= 0; segment++) {
		if (strchr(plain, *segment))
			r = buf_add_byte(path, (uint8_t)*segment);
		else
			r = buf_printf(path, "%%%02X", (uint8_t)*segment);
	}
	return r;
}

char *calls_path(const char *literal, ...)
{
	_cleanup_(buf_done) struct buf path = BUF_INIT(PATH_LENGTH_MAX);
	bool encode = true;
	const char *part;
	int r = buf_add_str(&path, literal);
	va_list ap;

	va_start(ap, literal);
	while (r >= 0 && (part = va_arg(ap, const char *))) {
		r = encode ? add_encoded(&path, part) :
			     buf_add_str(&path, part);
		encode = !encode;
	}
	va_end(ap);
	return r < 0 ? NULL : buf_take(&path, NULL);
}

static int call(struct cli *cli, const struct client_request *request,
		struct json_object **ret_answer)
{
	struct client *client;
	int r;

	if (!request->path)
		return cli_fail(cli, CLI_USAGE, "The id is too long");
	r = cli_client(cli, &client);
	if (r < 0)
		return r;
	return client_call_json(client, request, ret_answer);
}

int calls_get_json(struct cli *cli, const char *path,
		   struct json_object **ret_answer)
{
	const struct client_request request = { .method = "GET", .path = path };

	return call(cli, &request, ret_answer);
}

int calls_post_json(struct cli *cli, const char *path, const char *body,
		    struct json_object **ret_answer)
{
	const struct client_request request = { .method = "POST",
						.path = path,
						.json = body };

	return call(cli, &request, ret_answer);
}

int calls_delete(struct cli *cli, const char *path, bool quiet)
{
	const struct client_request request = { .method = "DELETE",
						.path = path,
						.unbroken = quiet };
	char message[CLI_MESSAGE_MAX];
	int r;

	memcpy(message, cli->message, sizeof(message));
	r = call(cli, &request, NULL);
	if (quiet)
		memcpy(cli->message, message, sizeof(message));
	return r;
}

/* The path of the page behind @after, or the first. */
static int page_path(struct buf *path, const char *list, const char *after)
{
	int r;

	buf_clear(path);
	r = buf_printf(path, "%s%climit=100", list,
		       strchr(list, '?') ? '&' : '?');
	if (r >= 0 && after[0])
		r = buf_add_str(path, "&after=");
	return r < 0 || !after[0] ? r : add_encoded(path, after);
}

/* One page; the id to go on from is kept in @after, "" at the end. */
static int each_of_page(struct cli *cli, const char *path, struct buf *after,
			int (*each)(struct cli *cli,
				    const struct json_object *object,
				    void *userdata),
			void *userdata)
{
	_cleanup_(json_freep) struct json_object *page = NULL;
	const struct json_object *data;
	size_t i, count;
	int r;

	r = calls_get_json(cli, path, &page);
	if (r < 0)
		return r;
	data = json_member(page, "data");
	count = json_array_size(data);
	for (i = 0; i < count; i++) {
		r = each(cli, json_array_at(data, i), userdata);
		if (r < 0)
			return r;
	}
	buf_clear(after);
	if (count == 0 || !view_bool(page, "has_more"))
		return 0;
	return buf_add_str(after, view_string(page, "last_id"));
}

int calls_each(struct cli *cli, const char *path,
	       int (*each)(struct cli *cli, const struct json_object *object,
			   void *userdata),
	       void *userdata)
{
	_cleanup_(buf_done) struct buf url = BUF_INIT(PATH_LENGTH_MAX);
	_cleanup_(buf_done) struct buf after = BUF_INIT(PATH_LENGTH_MAX);
	int r;

	if (!path)
		return cli_fail(cli, CLI_USAGE, "The id is too long");
	do {
		if (page_path(&url, path, buf_str(&after)) < 0)
			return cli_fail(cli, CLI_USAGE, "The id is too long");
		r = each_of_page(cli, buf_str(&url), &after, each, userdata);
	} while (r >= 0 && after.length > 0);
	return r;
}

/* Where calls_print_list() puts what comes: one of the two. */
struct list_sink {
	struct table *table;
	int (*add)(struct cli *cli, const struct json_object *object,
		   struct table *t);
	struct json_writer *writer;
};

static int take_object(struct cli *cli, const struct json_object *object,
		       void *userdata)
{
	struct list_sink *sink = userdata;

	if (!cli->json)
		return sink->add(cli, object, sink->table);
	json_write_value(sink->writer, NULL, object);
	return 0;
}

static int print_text(struct cli *cli, struct json_writer *w, struct buf *text)
{
	if (json_write_end(w) < 0)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	(void)fwrite(text->data, 1, text->length, stdout);
	(void)putchar('\n'); /* main() asks ferror() */
	return 0;
}

int calls_print_list(struct cli *cli, const char *path, struct table *t,
		     int (*add)(struct cli *cli,
				const struct json_object *object,
				struct table *t))
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer writer = JSON_WRITER_INIT(&text);
	struct list_sink sink = { t, add, &writer };
	int r;

	if (!t)
		return cli_fail(cli, CLI_LOCAL, "Out of memory");
	json_write_object(&writer, NULL);
	json_write_string(&writer, "object", "list");
	json_write_array(&writer, "data");
	r = calls_each(cli, path, take_object, &sink);
	if (r < 0)
		return r;
	if (!cli->json) {
		table_print(t, stdout, cli->colour);
		return 0;
	}
	json_write_close(&writer);
	json_write_close(&writer);
	return print_text(cli, &writer, &text);
}

int calls_print_json(struct cli *cli, const struct json_object *value)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(CLIENT_ANSWER_MAX);
	struct json_writer writer = JSON_WRITER_INIT(&text);

	json_write_value(&writer, NULL, value);
	return print_text(cli, &writer, &text);
}
