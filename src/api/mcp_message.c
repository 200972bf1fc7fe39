/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mcp_message.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_write.h"

/* An id comes back in every answer, and is compared. */
enum { ID_TEXT_MAX = 4096 };

struct members {
	bool id;
	bool method;
	bool outcome;	/* result or error */
	struct json_object *id_value;
};

/* That a member is null does not mean that it is not there. */
static int on_member(const char *key, struct json_object *value,
		     void *userdata)
{
	struct members *members = userdata;

	if (strcmp(key, "id") == 0) {
		members->id = true;
		members->id_value = value;
	}
	members->method |= strcmp(key, "method") == 0;
	members->outcome |= strcmp(key, "result") == 0 ||
			    strcmp(key, "error") == 0;
	return 0;
}

static bool id_is_valid(const struct json_object *id)
{
	enum json_kind kind = json_kind_of(id);

	return kind == JSON_INT ||
	       (kind == JSON_STRING && json_string_of(id).length < ID_TEXT_MAX);
}

/* A string without a NUL inside, which none of our words has; or NULL. */
static const char *word_of(const struct json_object *value)
{
	struct json_string s = json_string_of(value);

	return s.data && strlen(s.data) == s.length ? s.data : NULL;
}

static const char *read_params(const struct json_object *json,
			       struct mcp_message *ret)
{
	struct json_object *meta;

	ret->params = json_member(json, "params");
	if (ret->params && json_kind_of(ret->params) != JSON_OBJECT)
		return "'params' must be an object";
	meta = json_member(ret->params, "_meta");
	if (meta && json_kind_of(meta) != JSON_OBJECT)
		return "'params._meta' must be an object";
	ret->meta = meta;
	return NULL;
}

const char *mcp_message_read(struct json_object *json, struct mcp_message *ret)
{
	struct members members = { .id = false };
	const char *version;

	*ret = (struct mcp_message){ .method = "" };
	if (json_kind_of(json) == JSON_ARRAY)
		return "Batches are not taken: send one message at a time";
	if (json_kind_of(json) != JSON_OBJECT)
		return "A message is a JSON object";
	(void)json_each_member(json, on_member, &members);
	if (members.id && id_is_valid(members.id_value))
		ret->id = members.id_value;
	version = word_of(json_member(json, "jsonrpc"));
	if (!version || strcmp(version, "2.0") != 0)
		return "'jsonrpc' must be \"2.0\"";
	if (!members.method) {
		ret->kind = MCP_RESPONSE;
		return members.outcome ? NULL : "There is no 'method'";
	}
	if (members.id && !ret->id)
		return "'id' must be a string or an integer";
	ret->kind = members.id ? MCP_REQUEST : MCP_NOTIFICATION;
	ret->method = word_of(json_member(json, "method"));
	if (!ret->method) {
		ret->method = "";
		return "'method' must be the name of a method";
	}
	return read_params(json, ret);
}

const char *mcp_message_text(const struct mcp_message *message,
			     const char *name)
{
	return word_of(json_member(message->params, name));
}

bool mcp_id_equal(const struct json_object *a, const struct json_object *b)
{
	_cleanup_(buf_done) struct buf left = BUF_INIT(8 * ID_TEXT_MAX);
	_cleanup_(buf_done) struct buf right = BUF_INIT(8 * ID_TEXT_MAX);
	struct json_writer w = JSON_WRITER_INIT(&left);

	if (!id_is_valid(a) || !id_is_valid(b))
		return false;
	json_write_value(&w, NULL, a);
	if (json_write_end(&w) < 0)
		return false;
	w = JSON_WRITER_INIT(&right);
	json_write_value(&w, NULL, b);
	return json_write_end(&w) >= 0 &&
	       strcmp(buf_str(&left), buf_str(&right)) == 0;
}
