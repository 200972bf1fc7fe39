/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"

/* Lists that are too long to be read at once. */

enum {
	FILES = 999,
	SLICE = 200,	/* what is read at once */
};

static void add_files(struct fixture *fx)
{
	unsigned i;

	for (i = 0; i < FILES; i++) {
		struct fake_file *file = &fx->core->file[i];

		snprintf(file->view.id, sizeof(file->view.id), "file-%u",
			 i + 1);
		strcpy(file->tenant, "default");
		strcpy(file->purpose, i % 2 ? "vision" : "batch");
		file->view.filename = file->name;
		file->view.purpose = file->purpose;
		file->fd = -1;
	}
	fx->core->files = FILES;
}

static void remove_file(struct fixture *fx, unsigned number)
{
	fx->core->file[number - 1].tenant[0] = '\0';
}

/* The text of an answer without the marks between its chunks. */
static void join_chunks(const struct answer *a, struct buf *text)
{
	const char *at = a->body;
	char *end;

	if (!strstr(buf_str(&a->raw), "Transfer-Encoding: chunked")) {
		assert_int_equal(buf_add(text, a->body, a->length), 0);
		return;
	}
	for (;;) {
		size_t size = strtoul(at, &end, 16);

		if (size == 0)
			return;
		assert_int_equal(buf_add(text, end + 2, size), 0);
		at = end + 2 + size + 2;
	}
}

/* Checks that it has @count files, from number @first downwards by @step. */
static void check_list(const struct answer *a, unsigned first, unsigned step,
		       unsigned count, bool more)
{
	_cleanup_(json_freep) struct json_object *json = NULL;
	_cleanup_(buf_done) struct buf text = BUF_INIT(4 << 20);
	struct json_object *data;
	char id[32];
	unsigned i;

	assert_int_equal(a->status, 200);
	assert_string_equal(answer_header(a, "Content-Type"),
			    "application/json");
	join_chunks(a, &text);
	assert_int_equal(json_parse(buf_str(&text), text.length, &json, NULL),
			 0);
	data = json_member(json, "data");
	assert_int_equal(json_array_size(data), count);
	for (i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "file-%u", first - i * step);
		assert_string_equal(json_string_of(json_member(
			json_array_at(data, i), "id")).data, id);
		if (i == 0)
			assert_string_equal(json_string_of(
				json_member(json, "first_id")).data, id);
	}
	assert_string_equal(json_string_of(json_member(json, "last_id")).data,
			    id);
	assert_non_null(strstr(buf_str(&text), more ? "\"has_more\":true}"
						    : "\"has_more\":false}"));
}

static void a_long_list_comes_in_slices_and_is_whole(void **state)
{
	struct fixture *fx = *state;

	add_files(fx);
	{
		_answer_ struct answer a = ask(fx, "GET /v1/files HTTP/1.1\r\n"
					       HOST AUTH "\r\n");
		check_list(&a, FILES, 1, FILES, false);
		assert_int_equal(fx->core->lists, (FILES + SLICE - 1) / SLICE);
	}
	{
		_answer_ struct answer a =
			ask(fx, "GET /v1/files?limit=450&after=file-900 "
				"HTTP/1.1\r\n" HOST AUTH "\r\n");
		check_list(&a, 899, 1, 450, true);
	}
	{
		_answer_ struct answer a =
			ask(fx, "GET /v1/files?purpose=batch HTTP/1.1\r\n" HOST
				AUTH "\r\n");
		check_list(&a, FILES, 2, 500, false);
	}
}

static void a_list_that_fits_into_a_slice_has_a_length(void **state)
{
	struct fixture *fx = *state;

	add_files(fx);
	_answer_ struct answer a = ask(fx, "GET /v1/files?limit=200 HTTP/1.1\r\n"
				       HOST AUTH "\r\n");
	check_list(&a, FILES, 1, SLICE, true);
	assert_true(atoi(answer_header(&a, "Content-Length")) > 0);
	assert_int_equal(fx->core->lists, 1);
}

/* None is skipped, and none comes twice. */
static void files_may_go_while_a_list_is_read(void **state)
{
	static const char *const request =
		"GET /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n";
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	unsigned last = FILES - SLICE + 1;

	add_files(fx);
	assert_true(client_send(fx, fd, request, strlen(request)));
	while (fx->core->lists < 1)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	assert_int_equal(fx->core->lists, 1);
	/* Those that the slice ended with. */
	remove_file(fx, last);
	remove_file(fx, last + 1);
	_answer_ struct answer a = client_read(fx, fd);
	check_list(&a, FILES, 1, FILES, false);
}

/* All that the next slice could go on from. */
static void a_list_that_cannot_go_on_does_not_look_whole(void **state)
{
	static const char *const request =
		"GET /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n";
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_(buf_done) struct buf got = BUF_INIT(4 << 20);
	unsigned i;

	log_set_level(LOG_CRIT);
	add_files(fx);
	assert_true(client_send(fx, fd, request, strlen(request)));
	while (fx->core->lists < 1)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	for (i = 0; i < SLICE; i++)
		remove_file(fx, FILES - i);
	assert_false(client_read_until(fx, fd, &got, "\r\n0\r\n\r\n"));
}

static void a_client_may_leave_a_list(void **state)
{
	static const char *const request =
		"GET /v1/files HTTP/1.1\r\n" HOST AUTH "\r\n";
	struct fixture *fx = *state;
	int fd = client_connect(fx);

	add_files(fx);
	assert_true(client_send(fx, fd, request, strlen(request)));
	while (fx->core->lists < 1)
		assert_true(sd_event_run(fx->event, 10000) >= 0);
	close_fd(&fd);
	run_loop(fx);
}

static void head_of_a_long_list_has_no_body(void **state)
{
	struct fixture *fx = *state;

	add_files(fx);
	_answer_ struct answer a = ask(fx, "HEAD /v1/files HTTP/1.1\r\n" HOST
				       AUTH "\r\n");
	assert_int_equal(a.status, 200);
	assert_int_equal(a.length, 0);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_long_list_comes_in_slices_and_is_whole),
		TEST(a_list_that_fits_into_a_slice_has_a_length),
		TEST(files_may_go_while_a_list_is_read),
		TEST(a_list_that_cannot_go_on_does_not_look_whole),
		TEST(a_client_may_leave_a_list),
		TEST(head_of_a_long_list_has_no_body),
	};

	return RUN_TESTS(tests);
}
