/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp_client.h"

#include <unistd.h>

#include "base/json_write.h"

void said_done(struct said *said)
{
	json_free(said->json);
	answer_done(&said->answer);
}

void mcp_write(struct buf *b, const char *path, const char *fields,
	       const char *message)
{
	buf_printf(b,
		   "POST %s HTTP/1.1\r\n" HOST "%s%s"
		   "Content-Type: application/json\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   path, strstr(fields, "Authorization") ? "" : AUTH, fields,
		   strlen(message), message);
}

static struct said read_said(struct answer answer)
{
	struct said said = { .answer = answer };

	(void)json_parse(answer.body, answer.length, &said.json, NULL);
	return said;
}

struct said mcp_post(struct fixture *fx, const char *path, const char *fields,
		     const char *message)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(64 << 20);

	mcp_write(&b, path, fields, message);
	return read_said(ask_bytes(fx, b.data, b.length));
}

struct said mcp_say(struct fixture *fx, const char *fields, const char *message)
{
	return mcp_post(fx, "/mcp", fields, message);
}

int mcp_start(struct fixture *fx, const char *path, const char *fields,
	      const char *message)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	unsigned before = fx->core->execs;
	int fd = client_connect(fx), rounds;

	mcp_write(&b, path, fields, message);
	assert_true(client_send(fx, fd, b.data, b.length));
	for (rounds = 0; fx->core->execs == before && rounds < 1000; rounds++)
		run_loop(fx);
	assert_int_equal(fx->core->execs, before + 1);
	return fd;
}

struct said mcp_finish(struct fixture *fx, int fd)
{
	struct said said = read_said(client_read(fx, fd));

	close(fd);
	return said;
}

struct said mcp_run(struct fixture *fx, const char *path, const char *fields,
		    const char *message, const char *out,
		    enum exec_status status)
{
	int fd = mcp_start(fx, path, fields, message);

	fake_core_output(fx->core, false, out, strlen(out));
	fake_core_done(fx->core, status);
	return mcp_finish(fx, fd);
}

void mcp_begin(struct fixture *fx, const char *path, char ret[160])
{
	_said_ struct said said = mcp_post(
		fx, path, "",
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":\"2025-11-25\","
		"\"capabilities\":{},\"clientInfo\":{\"name\":\"c\","
		"\"version\":\"1\"}}}");

	assert_int_equal(said.answer.status, 200);
	snprintf(ret, 160, "Mcp-Session-Id: %s\r\n",
		 answer_header(&said.answer, "Mcp-Session-Id"));
	assert_true(strlen(ret) > 40);
}

static int64_t number_of(const struct json_object *value)
{
	char text[32] = "";
	struct buf b = BUF_INIT(sizeof(text));
	struct json_writer w = JSON_WRITER_INIT(&b);
	int64_t n;

	json_write_value(&w, NULL, value);
	assert_int_equal(json_write_end(&w), 0);
	n = strtoll(buf_str(&b), NULL, 10);
	buf_done(&b);
	return n;
}

int64_t mcp_code(const struct said *said)
{
	struct json_object *error = json_member(said->json, "error");

	if (!error)
		return 0;
	assert_non_null(json_string_of(json_member(error, "message")).data);
	return number_of(json_member(error, "code"));
}

struct json_object *mcp_member(const struct said *said, const char *name)
{
	return json_member(json_member(said->json, "result"), name);
}

const char *mcp_text(const struct said *said)
{
	struct json_object *content = mcp_member(said, "content");

	assert_true(json_array_size(content) > 0);
	return json_string_of(json_member(json_array_at(content, 0), "text"))
		.data;
}

void mcp_fails(struct fixture *fx, const char *fields, const char *message,
	       int status, int64_t code)
{
	_said_ struct said said = mcp_say(fx, fields, message);

	if (said.answer.status != status || mcp_code(&said) != code)
		fail_msg("%s\n%s", message, buf_str(&said.answer.raw));
	assert_string_equal(answer_header(&said.answer, "Content-Type"),
			    "application/json");
	assert_string_equal(
		json_string_of(json_member(said.json, "jsonrpc")).data, "2.0");
}
