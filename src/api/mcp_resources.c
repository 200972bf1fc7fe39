/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/inline_file.h"
#include "api/mcp.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/media_type.h"
#include "base/name.h"

/*
 * Files of containers as resources, whose URI is where they can be fetched.
 *
 * In a session they are those of its container. Without one, those of all
 * containers that live and were made by this key here.
 */

enum {
	RESOURCES_PAGE = 100,
	CONTAINERS_MAX = 256,	/* of one list; who has more names them */
};

static const char *type_of(const char *path)
{
	const char *type = media_type_of_name(path);

	return type ? type : "application/octet-stream";
}

/* ------------------------------------------------------------------------ list */

/**
 * struct resource_list - A page being written
 * @id:		The containers, in the order of their ids
 * @from:	Where the cursor leads: "cntr_…/cfile_…"
 * @last:	The file written last
 */
struct resource_list {
	struct mcp_call *call;
	struct json_writer *w;
	char id[CONTAINERS_MAX][ID_SIZE];
	size_t count;
	const char *from;
	unsigned written;
	char last[ID_SIZE];
};

static void on_container(void *userdata, const struct container_view *container)
{
	struct resource_list *list = userdata;

	if (list->count < CONTAINERS_MAX)
		strcpy(list->id[list->count++], container->id);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void find_containers(struct resource_list *list)
{
	struct mcp_call *call = list->call;
	struct request *req = call->req;

	if (call->session) {
		if (call->session->container[0][0])
			strcpy(list->id[list->count++],
			       call->session->container[0]);
		return;
	}
	core_container_named_list(req->core, &req->who, DIALECT_MCP,
				  CORE_POOL_DEFAULT, on_container, list);
	qsort(list->id, list->count, sizeof(list->id[0]), compare_ids);
}

static void on_each(void *userdata, const struct cfile_view *file)
{
	struct resource_list *list = userdata;
	const char *name = strrchr(file->path, '/') + 1;
	_cleanup_(buf_done) struct buf url = BUF_INIT(8192);
	struct json_writer *w = list->w;

	(void)mcp_file_url(list->call, file, &url);
	json_write_object(w, NULL);
	json_write_string(w, "uri", buf_str(&url));
	json_write_string(w, "name", name);
	json_write_string(w, "description", file->path);
	json_write_string(w, "mimeType", type_of(name));
	json_write_uint(w, "size", file->bytes);
	json_write_close(w);
	strcpy(list->last, file->id);
	list->written++;
}

/* Where in a container the page begins; NULL: it is before the page. */
static const char *begin_in(const struct resource_list *list, const char *id)
{
	const char *slash = list->from ? strchr(list->from, '/') : NULL;
	size_t size;
	int order;

	if (!list->from)
		return "";
	size = slash ? (size_t)(slash - list->from) : strlen(list->from);
	order = strncmp(id, list->from, size);
	if (order < 0)
		return NULL;
	return order == 0 && slash ? slash + 1 : "";
}

/* Return: 1 if there is more of it than the page has room for */
static int write_container(struct resource_list *list, const char *id,
			   struct error *err)
{
	struct request *req = list->call->req;
	struct core_page page = {
		.limit = RESOURCES_PAGE - list->written,
		.ascending = true,
	};
	const char *after = begin_in(list, id);
	bool more = false;
	int r;

	if (!after)
		return 0;
	if (strlen(after) > ID_MAX)
		return error_set(err, ERR_BAD_REQUEST, "'cursor' is not valid");
	strcpy(page.after, after);
	r = core_cfile_list(req->core, &req->who, id, &page, on_each, list,
			    &more, err);
	return r < 0 ? r : more;
}

static int write_page(struct resource_list *list, struct error *err)
{
	char cursor[2 * ID_SIZE + 1];
	size_t i;
	int r = 0;

	json_write_array(list->w, "resources");
	for (i = 0; r == 0 && i < list->count &&
		    list->written < RESOURCES_PAGE; i++)
		r = write_container(list, list->id[i], err);
	json_write_close(list->w);
	if (r < 0 || (r == 0 && i == list->count))
		return r;
	/* The page is full; the last container has more, or others follow. */
	(void)snprintf(cursor, sizeof(cursor), "%s/%s", list->id[i - 1],
		       list->last);
	json_write_string(list->w, "nextCursor", cursor);
	return 0;
}

static int bad_request(struct mcp_call *call, struct error *err)
{
	int r;

	if (err->code == ERR_INTERNAL)
		return -EIO;
	r = mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS, "%s",
		      err->message);
	error_clear(err);
	return r;
}

int mcp_resources_list(struct mcp_call *call, struct error *err)
{
	struct json_object *cursor = json_member(call->message.params,
						 "cursor");
	_cleanup_free_ struct resource_list *list = calloc(1, sizeof(*list));
	int r;

	if (!list)
		return error_set_errno(err, -ENOMEM, "Cannot list files");
	list->call = call;
	list->from = mcp_message_text(&call->message, "cursor");
	if (cursor && !list->from)
		return mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS,
				 "'cursor' must be a string");
	find_containers(list);
	list->w = mcp_result(call);
	mcp_result_cacheable(call, list->w, false);
	r = write_page(list, err);
	return r < 0 ? bad_request(call, err) : mcp_reply(call, err);
}

/* ------------------------------------------------------------------------ read */

/* One segment of a path, up to @end. */
static const char *take_segment(const char *at, const char *end,
				char ret[ID_SIZE])
{
	const char *stop = at ? strstr(at, end) : NULL;

	if (!stop || stop - at > ID_MAX)
		return NULL;
	(void)snprintf(ret, ID_SIZE, "%.*s", (int)(stop - at), at);
	return stop + strlen(end);
}

/* Under which name we were reached when the link was made does not matter. */
static bool read_uri(const char *uri, char container[ID_SIZE],
		     char file[ID_SIZE])
{
	static const char begin[] = "/v1/containers/";
	const char *at = strstr(uri, begin);

	if (!at)
		return false;
	at = take_segment(at + strlen(begin), "/files/", container);
	at = take_segment(at, "/content", file);
	return at && !*at && !strchr(container, '/') && !strchr(file, '/');
}

static int not_there(struct mcp_call *call, const char *why)
{
	return mcp_fault(call, MHD_HTTP_OK,
			 call->modern ? RPC_INVALID_PARAMS
				      : RPC_RESOURCE_NOT_FOUND,
			 "Resource not found: %s", why);
}

static void write_contents(struct json_writer *w, const char *uri,
			   const struct cfile_view *file,
			   const struct buf *bytes)
{
	json_write_array(w, "contents");
	json_write_object(w, NULL);
	json_write_string(w, "uri", uri);
	json_write_string(w, "mimeType", type_of(file->path));
	if (utf8_is_valid(bytes->data, bytes->length))
		json_write_bytes(w, "text", bytes->data, bytes->length);
	else
		json_write_base64(w, "blob", bytes->data, bytes->length);
	json_write_close(w);
	json_write_close(w);
}

int mcp_resources_read(struct mcp_call *call, struct error *err)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(INLINE_FILE_MAX);
	const char *uri = mcp_message_text(&call->message, "uri");
	char container[ID_SIZE], id[ID_SIZE];
	struct request *req = call->req;
	struct cfile_view file;
	struct json_writer *w;
	int r;

	if (!uri)
		return mcp_fault(call, MHD_HTTP_OK, RPC_INVALID_PARAMS,
				 "'uri' must be the URI of a resource");
	if (!read_uri(uri, container, id))
		return not_there(call, "the URI is of no file");
	r = mcp_container_may_use(req, container, err);
	if (r >= 0)
		r = inline_file_read(req, container, id, &file, &bytes, err);
	if (r == -ENOENT) {
		r = not_there(call, err->message);
		error_clear(err);
		return r;
	}
	if (r < 0)
		return bad_request(call, err);
	w = mcp_result(call);
	mcp_result_cacheable(call, w, false);
	write_contents(w, uri, &file, &bytes);
	return mcp_reply(call, err);
}
