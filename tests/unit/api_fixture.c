/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"

enum {
	ANSWER_MAX = 128 << 20,
	ROUNDS_MAX = 20000,	/* of 1 ms: then a test has failed */
};

int fixture_setup(void **state)
{
	return fixture_setup_with(state, NULL);
}

int fixture_setup_with(void **state, const char *setting)
{
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct error err = ERROR_INIT;

	log_set_level(LOG_ERR);
	assert_non_null(fx);
	assert_true(sd_event_new(&fx->event) >= 0);
	assert_int_equal(clock_new(&fx->clock), 0);
	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &fx->settings), 0);
	if (setting)
		assert_int_equal(settings_set(fx->settings, setting, &err), 0);
	fx->core = fake_core_new(fx->event);
	fx->turns = fake_turns_new(fx->event, fx->clock, fx->settings);
	assert_int_equal(api_new(&(struct api_config){ .event = fx->event,
						       .clock = fx->clock,
						       .settings = fx->settings,
						       .core = fx->core,
						       .turns = fx->turns },
				 &fx->api, &err), 0);
	assert_int_equal(api_listen_tcp(fx->api, "127.0.0.1:0", &err), 0);
	test_make_directory("api", fx->dir, sizeof(fx->dir));
	snprintf(fx->socket, sizeof(fx->socket), "%s/s", fx->dir);
	assert_int_equal(api_listen_unix(fx->api, fx->socket, &err), 0);
	*state = fx;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fx = *state;

	api_free(fx->api);
	/* Core still calls back for requests that nobody waits for. */
	while (sd_event_run(fx->event, 0) > 0)
		;
	assert_int_equal(fx->core->uploads, 0);
	assert_int_equal(fx->core->watches, 0);
	assert_int_not_equal(access(fx->socket, F_OK), 0);
	assert_int_equal(rmdir(fx->dir), 0);
	fake_turns_free(fx->turns);
	fake_core_free(fx->core);
	settings_free(fx->settings);
	clock_free(fx->clock);
	sd_event_unref(fx->event);
	free(fx);
	return 0;
}

void answer_done(struct answer *a)
{
	buf_done(&a->raw);
}

void run_loop(struct fixture *fx)
{
	int i;

	for (i = 0; i < 50; i++)
		assert_true(sd_event_run(fx->event, 100) >= 0);
}

static int made_socket(int fd, const void *address, socklen_t size)
{
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, address, size), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

int client_connect(struct fixture *fx)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	const char *port = strrchr(api_url(fx->api), ':') + 1;

	in.sin_port = htons((uint16_t)atoi(port));
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return made_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), &in,
			   sizeof(in));
}

int client_connect_unix(struct fixture *fx)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	strcpy(un.sun_path, fx->socket);
	return made_socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &un,
			   sizeof(un));
}

bool client_send(struct fixture *fx, int fd, const void *data, size_t size)
{
	size_t sent = 0;
	int rounds;

	for (rounds = 0; sent < size && rounds < ROUNDS_MAX; rounds++) {
		ssize_t r = send(fd, (const char *)data + sent, size - sent,
				 MSG_NOSIGNAL);

		if (r > 0)
			sent += (size_t)r;
		else if (r < 0 && errno != EAGAIN)
			return false;
		assert_true(sd_event_run(fx->event, r > 0 ? 0 : 1000) >= 0);
	}
	return sent == size;
}

/* ---------------------------------------------------------------- what comes back */

static const char *find_field(const char *head, const char *name)
{
	size_t length = strlen(name);
	const char *line;

	for (line = strstr(head, "\r\n"); line && strncmp(line, "\r\n\r\n", 4);
	     line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, length) == 0 &&
		    line[length] == ':')
			return line + length + 1 + strspn(line + length + 1,
							  " ");
	}
	return NULL;
}

const char *answer_header(const struct answer *a, const char *name)
{
	static char value[512];
	const char *found = find_field(buf_str(&a->raw), name);

	value[0] = '\0';
	if (found)
		snprintf(value, sizeof(value), "%.*s",
			 (int)strcspn(found, "\r"), found);
	return value;
}

/* Fills in what can be told from the bytes; true when it is complete. */
static bool answer_parse(struct answer *a)
{
	const char *text = buf_str(&a->raw), *end, *length;

	if (strncmp(text, "HTTP/1.1 100", 12) == 0) {
		end = strstr(text, "\r\n\r\n");
		if (end)
			buf_consume(&a->raw, (size_t)(end + 4 - text));
		text = buf_str(&a->raw);
	}
	end = strstr(text, "\r\n\r\n");
	if (!end)
		return false;
	a->status = atoi(text + strlen("HTTP/1.1 "));
	a->body = end + 4;
	a->length = a->raw.length - (size_t)(a->body - text);
	if (find_field(text, "Transfer-Encoding"))
		return strstr(a->body, "\r\n0\r\n\r\n") ||
		       strncmp(a->body, "0\r\n\r\n", 5) == 0;
	if (a->status == 204 || a->status == 304)
		return true;
	length = find_field(text, "Content-Length");
	return length && a->length >= strtoull(length, NULL, 10);
}

struct answer client_read(struct fixture *fx, int fd)
{
	struct answer a = { .raw = BUF_INIT(ANSWER_MAX) };
	int rounds;

	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		ssize_t r = buf_read(&a.raw, fd, 65536);

		if (r == 0 || (r < 0 && r != -EAGAIN)) {
			a.closed = true;
			answer_parse(&a);
			return a;
		}
		if (r > 0 && answer_parse(&a))
			return a;
		assert_true(sd_event_run(fx->event, r > 0 ? 0 : 1000) >= 0);
	}
	fail_msg("no answer");
	return a;
}

bool client_read_until(struct fixture *fx, int fd, struct buf *got,
		       const char *text)
{
	int rounds;

	for (rounds = 0; rounds < ROUNDS_MAX; rounds++) {
		ssize_t r = buf_read(got, fd, 65536);

		if (strstr(buf_str(got), text))
			return true;
		if (r == 0 || (r < 0 && r != -EAGAIN))
			return false;
		assert_true(sd_event_run(fx->event, r > 0 ? 0 : 1000) >= 0);
	}
	fail_msg("'%s' did not come", text);
	return false;
}

struct answer ask_bytes(struct fixture *fx, const void *data, size_t size)
{
	_cleanup_close_ int fd = client_connect(fx);

	(void)client_send(fx, fd, data, size);
	return client_read(fx, fd);
}

struct answer ask(struct fixture *fx, const char *request)
{
	return ask_bytes(fx, request, strlen(request));
}

void check_error(const struct answer *a, int status, const char *code)
{
	_cleanup_(json_freep) struct json_object *json = NULL;
	struct json_object *error;

	assert_int_equal(a->status, status);
	assert_string_equal(answer_header(a, "Content-Type"),
			    "application/json");
	assert_int_equal(json_parse(a->body, a->length, &json, NULL), 0);
	error = json_member(json, "error");
	assert_non_null(json_string_of(json_member(error, "message")).data);
	assert_non_null(json_string_of(json_member(error, "type")).data);
	if (code)
		assert_string_equal(
			json_string_of(json_member(error, "code")).data, code);
}

void expect_error(struct fixture *fx, const char *request, int status,
			 const char *code)
{
	_answer_ struct answer a = ask(fx, request);

	check_error(&a, status, code);
}
