/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <unistd.h>

#include "base/cleanup.h"

#define FORM "multipart/form-data; boundary=b"
#define PART "--b\r\nContent-Disposition: form-data; name="
#define FILE_PART(name, text)                                                  \
	PART "\"file\"; filename=\"" name "\"\r\n\r\n" text "\r\n"
#define FIELD(name, value) PART "\"" name "\"\r\n\r\n" value "\r\n"
#define END "--b--\r\n"

static struct answer post(struct fixture *fx, const char *path,
			  const char *type, const char *body)
{
	_cleanup_(buf_done) struct buf request = BUF_INIT(1 << 20);

	buf_printf(&request,
		   "POST %s HTTP/1.1\r\n" HOST AUTH "Content-Type: %s\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   path, type, strlen(body), body);
	return ask_bytes(fx, request.data, request.length);
}

static struct answer upload(struct fixture *fx, const char *body)
{
	return post(fx, "/v1/files", FORM, body);
}

/* The fake has one digest for all: 32 bytes of these. */
#define BYTES_8 "abababababababab"

static void a_file_comes_and_goes(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer made =
		upload(fx, FILE_PART("data.csv", "a,b\r\n1,2\r\n--bx")
			   FIELD("purpose", "assistants") END);
	_answer_ struct answer got =
		ask(fx, "GET /v1/files/file-1 HTTP/1.1\r\n" HOST AUTH "\r\n");
	_answer_ struct answer content =
		ask(fx, "GET /v1/files/file-1/content HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	_answer_ struct answer gone =
		ask(fx, "DELETE /v1/files/file-1 HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	_answer_ struct answer again =
		ask(fx, "DELETE /v1/files/file-1 HTTP/1.1\r\n" HOST AUTH
			"\r\n");

	assert_int_equal(made.status, 200);
	assert_string_equal(made.body,
			    "{\"id\":\"file-1\",\"object\":\"file\",\"bytes\":14,"
			    "\"created_at\":1790000000,\"filename\":\"data.csv\","
			    "\"purpose\":\"assistants\",\"status\":\"processed\","
			    "\"status_details\":null,\"sha256\":\""
			    BYTES_8 BYTES_8 BYTES_8 BYTES_8 "\"}");
	assert_string_equal(got.body, made.body);
	assert_string_equal(content.body, "a,b\r\n1,2\r\n--bx");
	assert_string_equal(answer_header(&content, "Content-Disposition"),
			    "attachment; filename=\"data.csv\"; "
			    "filename*=UTF-8''data.csv");
	assert_string_equal(gone.body, "{\"id\":\"file-1\",\"object\":\"file\","
				       "\"deleted\":true}");
	assert_int_equal(again.status, 404);
}

static void parts_come_in_any_order(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		upload(fx, FIELD("expires_after[seconds]", "3600")
			   FIELD("purpose", "user_data")
			   FILE_PART("x", "")
			   FIELD("expires_after[anchor]", "created_at") END);

	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "\"expires_at\":1790003600"));
	assert_non_null(strstr(a.body, "\"bytes\":0"));
}

static void what_is_missing_or_wrong_is_named(void **state)
{
	static const struct {
		const char *body;
		const char *param;
	} forms[] = {
		{ FILE_PART("x", "x") END, "purpose" },
		{ FIELD("purpose", "evals") END, "file" },
		{ FIELD("file", "x") FIELD("purpose", "evals") END, "file" },
		{ FILE_PART("x", "x") FIELD("purpose", "no") END, "purpose" },
		{ FILE_PART("..", "x") FIELD("purpose", "evals") END, "file" },
		{ FILE_PART("", "x") FIELD("purpose", "evals") END, "file" },
		{ FILE_PART("a%0Ab", "x") FIELD("purpose", "evals") END,
		  "file" },
		{ FILE_PART("a/", "x") FIELD("purpose", "evals") END, "file" },
		{ FILE_PART("x", "x") FILE_PART("y", "y")
		  FIELD("purpose", "evals") END, "file" },
		{ FILE_PART("x", "x") FIELD("purpose", "evals")
		  FIELD("expires_after[seconds]", "3600") END,
		  "expires_after.anchor" },
		{ FILE_PART("x", "x") FIELD("purpose", "evals")
		  FIELD("expires_after[anchor]", "created_at")
		  FIELD("expires_after[seconds]", "10") END,
		  "expires_after.seconds" },
		{ FILE_PART("x", "x") FIELD("purpose", "evals")
		  FIELD("expires_after[anchor]", "created_at")
		  FIELD("expires_after[seconds]", "3600x") END,
		  "expires_after.seconds" },
	};
	struct fixture *fx = *state;
	char param[64];
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		_answer_ struct answer a = upload(fx, forms[i].body);

		snprintf(param, sizeof(param), "\"param\":\"%s\"",
			 forms[i].param);
		assert_int_equal(a.status, 400);
		assert_non_null(strstr(a.body, param));
	}
	assert_int_equal(fx->core->files, 0);
	assert_int_equal(fx->core->uploads, 0);
}

static void broken_forms_are_refused(void **state)
{
	static const struct {
		const char *type;
		const char *body;
		int status;
	} forms[] = {
		{ FORM, FILE_PART("x", "x") FIELD("purpose", "evals"), 400 },
		{ FORM, "", 400 },
		{ FORM, "no boundary at all", 400 },
		{ FORM, "--bx\r\n" END, 400 },
		{ FORM, "--b\r\nX: y\r\n\r\nx\r\n" END, 400 },
		{ FORM, "--b\r\nno colon\r\n\r\nx\r\n" END, 400 },
		{ FORM "\r\nContent-Encoding: gzip", FILE_PART("x", "x") END, 415 },
		{ "multipart/form-data", FILE_PART("x", "x") END, 400 },
		{ "multipart/form-data; boundary=\"\"", END, 400 },
		{ "application/json", "{}", 415 },
		{ "text/plain", "x", 415 },
	};
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		_answer_ struct answer a = post(fx, "/v1/files", forms[i].type,
						forms[i].body);

		assert_int_equal(a.status, forms[i].status);
	}
	assert_int_equal(fx->core->files, 0);
}

static void names_in_any_script_come_back(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer a =
		upload(fx, FILE_PART("r\xc3\xa9sum\xc3\xa9 \xe6\x95\xb0 1.txt",
				     "hi")
			   FIELD("purpose", "evals") END);
	_answer_ struct answer b =
		upload(fx, PART "\"file\"; filename=\"x\"; "
			   "filename*=UTF-8''%e2%82%ac.txt\r\n\r\nhi\r\n"
			   FIELD("purpose", "evals") END);
	_answer_ struct answer c =
		upload(fx, FILE_PART("..\\..\\a%22b\\\".txt", "hi")
			   FIELD("purpose", "evals") END);
	_answer_ struct answer content =
		ask(fx, "GET /v1/files/file-2/content HTTP/1.1\r\n" HOST AUTH
			"\r\n");

	assert_non_null(strstr(a.body, "\"filename\":\"r\xc3\xa9sum\xc3\xa9 "
				       "\xe6\x95\xb0 1.txt\""));
	assert_non_null(strstr(b.body, "\"filename\":\"\xe2\x82\xac.txt\""));
	assert_non_null(strstr(c.body, "\"filename\":\"a\\\"b\\\".txt\""));
	assert_string_equal(answer_header(&content, "Content-Disposition"),
			    "attachment; filename=\"___.txt\"; "
			    "filename*=UTF-8''%E2%82%AC.txt");
}

static void another_tenants_file_is_like_none(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer made =
		upload(fx, FILE_PART("x", "x") FIELD("purpose", "evals") END);
	_answer_ struct answer a =
		ask(fx, "GET /v1/files/file-1 HTTP/1.1\r\n" HOST
			"api-key: " FAKE_OTHER_KEY "\r\n\r\n");
	_answer_ struct answer list =
		ask(fx, "GET /v1/files HTTP/1.1\r\n" HOST
			"api-key: " FAKE_OTHER_KEY "\r\n\r\n");

	assert_int_equal(made.status, 200);
	assert_int_equal(a.status, 404);
	assert_string_equal(list.body,
			    "{\"object\":\"list\",\"data\":[],\"first_id\":null,"
			    "\"last_id\":null,\"has_more\":false}");
}

static void pages_are_asked_for_by_number_and_id(void **state)
{
	static const struct {
		const char *query;
		int status;
		const char *param;
	} queries[] = {
		{ "limit=1", 200, NULL }, { "limit=10000", 200, NULL },
		{ "limit=0", 400, "limit" }, { "limit=-1", 400, "limit" },
		{ "limit=10001", 400, "limit" }, { "limit=1e9", 400, "limit" },
		{ "limit=", 400, "limit" }, { "limit=%2B1", 400, "limit" },
		{ "limit=99999999999999999999", 400, "limit" },
		{ "limit=1&limit=2", 400, "limit" },
		{ "order=up", 400, "order" }, { "order=asc", 200, NULL },
		{ "after=file-none", 400, "after" },
	};
	struct fixture *fx = *state;
	char text[256];
	size_t i;

	for (i = 0; i < 3; i++) {
		_answer_ struct answer a =
			upload(fx, FILE_PART("x", "x")
				   FIELD("purpose", "evals") END);
		assert_int_equal(a.status, 200);
	}
	for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		snprintf(text, sizeof(text),
			 "GET /v1/files?%s HTTP/1.1\r\n" HOST AUTH "\r\n",
			 queries[i].query);
		_answer_ struct answer a = ask(fx, text);
		assert_int_equal(a.status, queries[i].status);
		snprintf(text, sizeof(text), "\"param\":\"%s\"",
			 queries[i].param ? queries[i].param : "");
		if (queries[i].param)
			assert_non_null(strstr(a.body, text));
	}
	_answer_ struct answer a =
		ask(fx, "GET /v1/files?limit=2 HTTP/1.1\r\n" HOST AUTH "\r\n");
	assert_non_null(strstr(a.body, "\"first_id\":\"file-3\","
				       "\"last_id\":\"file-2\","
				       "\"has_more\":true"));
}

/* The server keeps nothing of what it cannot pass on. */
static void an_upload_waits_for_the_disk(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_free_ char *block = calloc(1, 1 << 20);
	char head[512];
	size_t total = 4 << 20;
	int i;

	assert_non_null(block);
	snprintf(head, sizeof(head),
		 "POST /v1/files HTTP/1.1\r\n" HOST AUTH
		 "Content-Type: " FORM "\r\nContent-Length: %zu\r\n\r\n"
		 FIELD("purpose", "evals")
		 PART "\"file\"; filename=\"x\"\r\n\r\n",
		 total + strlen(FIELD("purpose", "evals")
				PART "\"file\"; filename=\"x\"\r\n\r\n")
			 + strlen("\r\n" END));
	assert_true(client_send(fx, fd, head, strlen(head)));
	run_loop(fx);
	fx->core->stall = true;
	assert_true(client_send(fx, fd, block, 1024));
	run_loop(fx);
	assert_int_equal(fx->core->uploaded, 0);
	assert_non_null(fx->core->stalled);
	fake_core_room(fx->core);
	assert_true(client_send(fx, fd, block, (1 << 20) - 1024));
	for (i = 1; i < 4; i++)
		assert_true(client_send(fx, fd, block, 1 << 20));
	assert_true(client_send(fx, fd, "\r\n" END, strlen("\r\n" END)));
	_answer_ struct answer a = client_read(fx, fd);
	assert_int_equal(a.status, 200);
	assert_int_equal(fx->core->uploaded, total);
}

static void a_client_that_leaves_takes_its_upload_along(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	const char *head = "POST /v1/files HTTP/1.1\r\n" HOST AUTH
			   "Content-Type: " FORM "\r\nContent-Length: 9999\r\n"
			   "\r\n" PART "\"file\"; filename=\"x\"\r\n\r\nabc";

	fx->core->stall = true;
	assert_true(client_send(fx, fd, head, strlen(head)));
	run_loop(fx);
	assert_int_equal(fx->core->uploads, 1);
	/* Suspended, and noticed nevertheless. */
	close_fd(&fd);
	run_loop(fx);
	assert_int_equal(fx->core->uploads, 0);
	assert_int_equal(api_connections(fx->api), 0);
}

static void too_large_is_said_before_or_while_it_comes(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	_cleanup_free_ char *block = calloc(1, 1 << 20);
	_cleanup_(buf_done) struct buf got = BUF_INIT(65536);
	const char *head = "POST /v1/files HTTP/1.1\r\n" HOST AUTH
			   "Content-Type: " FORM "\r\n"
			   "Transfer-Encoding: chunked\r\n\r\n"
			   "100041\r\n" PART "\"file\"; filename=\"x\"\r\n\r\n";

	assert_non_null(block);
	fx->core->upload_max = 100000;
	{
		_answer_ struct answer a =
			ask(fx, "POST /v1/files HTTP/1.1\r\n" HOST AUTH
				"Content-Type: " FORM "\r\n"
				"Content-Length: 9000000\r\n\r\n");
		assert_int_equal(a.status, 413);
	}
	assert_true(client_send(fx, fd, head, strlen(head)));
	(void)client_send(fx, fd, block, 1 << 20);
	assert_true(client_read_until(fx, fd, &got, "HTTP/1.1 413 "));
	assert_int_equal(fx->core->uploads, 0);
}

static void a_missing_container_is_told_before_the_body(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = client_connect(fx);
	const char *head = "POST /v1/containers/cntr_no/files HTTP/1.1\r\n" HOST
			   AUTH "Content-Type: " FORM "\r\n"
			   "Content-Length: 900000\r\n\r\n";

	assert_true(client_send(fx, fd, head, strlen(head)));
	_answer_ struct answer a = client_read(fx, fd);
	assert_int_equal(a.status, 404);
}

static void a_container_takes_a_form_or_json(void **state)
{
	struct fixture *fx = *state;
	const char *path = "/v1/containers/cntr_1/files";
	_answer_ struct answer form =
		post(fx, path, FORM, FILE_PART("in.csv", "1,2") END);
	_answer_ struct answer json =
		post(fx, path, "application/json; charset=utf-8",
		     "{\"file_id\":\"file-no\",\"unknown\":1}");
	_answer_ struct answer neither =
		post(fx, path, "application/json", "{}");
	_answer_ struct answer empty = post(fx, path, "text/plain", "");

	assert_int_equal(form.status, 200);
	assert_non_null(strstr(form.body,
			       "\"path\":\"/mnt/data/in.csv\",\"source\":"
			       "\"user\""));
	assert_int_equal(json.status, 404);
	assert_int_equal(neither.status, 400);
	assert_int_equal(empty.status, 400);
}

static void a_file_is_found_by_its_path(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer found =
		ask(fx, "GET /v1/containers/cntr_1/files"
			"?path=sub%2Fa%CC%81%20b HTTP/1.1\r\n" HOST AUTH "\r\n");
	_answer_ struct answer absolute =
		ask(fx, "GET /v1/containers/cntr_1/files"
			"?path=/mnt/data/sub/a%CC%81%20b HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	_answer_ struct answer none =
		ask(fx, "GET /v1/containers/cntr_1/files?path=sub HTTP/1.1\r\n"
			HOST AUTH "\r\n");
	_answer_ struct answer gone =
		ask(fx, "GET /v1/containers/cntr_no/files?path=a HTTP/1.1\r\n"
			HOST AUTH "\r\n");

	assert_int_equal(found.status, 200);
	assert_string_equal(
		found.body,
		"{\"object\":\"list\",\"data\":[{\"id\":\"cfile_1\","
		"\"object\":\"container.file\","
		"\"container_id\":\"cntr_1\",\"created_at\":1790000000,"
		"\"bytes\":3,\"path\":\"/mnt/data/sub/\xef\xbf\xbd b\","
		"\"path_b64\":\"c3ViL/8gYg==\",\"source\":\"assistant\","
		"\"sha256\":\"" BYTES_8 BYTES_8 BYTES_8 BYTES_8 "\","
		"\"changed_during_read\":true}],"
		"\"first_id\":\"cfile_1\",\"last_id\":\"cfile_1\","
		"\"has_more\":false}");
	assert_string_equal(absolute.body, found.body);
	assert_int_equal(none.status, 200);
	assert_non_null(strstr(none.body, "\"data\":[]"));
	assert_int_equal(gone.status, 404);
}

static void check_upload(struct fixture *fx, const char *path,
			 const char *json, int status, const char *holds)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(65536);

	buf_printf(&b,
		   "POST %s HTTP/1.1\r\n" HOST AUTH
		   "Content-Type: application/json\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   path, strlen(json), json);
	_answer_ struct answer a = ask_bytes(fx, b.data, b.length);

	assert_int_equal(a.status, status);
	if (!strstr(a.body, holds))
		fail_msg("%s", a.body);
}

static void an_upload_in_parts_is_an_object_of_its_own(void **state)
{
	struct fixture *fx = *state;
	static const char upload[] =
		"{\"id\":\"upload_1\",\"object\":\"upload\",\"bytes\":3,"
		"\"created_at\":1790000000,\"expires_at\":1790003600,"
		"\"filename\":\"a.csv\",\"purpose\":\"assistants\","
		"\"status\":\"pending\",\"file\":null}";

	check_upload(fx, "/v1/uploads",
		     "{\"filename\":\"a.csv\",\"purpose\":\"assistants\","
		     "\"bytes\":3,\"mime_type\":\"text/csv\"}",
		     200, upload);
	check_upload(fx, "/v1/uploads/upload_1/complete",
		     "{\"part_ids\":[\"part_1\"],"
		     "\"md5\":\"AB0150983cd24fb0d6963f7d28e17f72\"}",
		     200, "\"status\":\"completed\"");
	check_upload(fx, "/v1/uploads/upload_1/cancel", "", 200,
		     "\"status\":\"cancelled\"");
	check_upload(fx, "/v1/uploads/upload_2/cancel", "", 404, "upload_2");
}

static void a_wrong_upload_in_parts_is_refused(void **state)
{
	struct fixture *fx = *state;

	check_upload(fx, "/v1/uploads", "{}", 400, "filename");
	check_upload(fx, "/v1/uploads",
		     "{\"filename\":\"a\",\"purpose\":\"x\",\"bytes\":3,"
		     "\"mime_type\":\"text/csv\"}",
		     400, "\"param\":\"purpose\"");
	check_upload(fx, "/v1/uploads",
		     "{\"filename\":\"a\",\"purpose\":\"assistants\","
		     "\"bytes\":-1,\"mime_type\":\"text/csv\"}",
		     400, "\"param\":\"bytes\"");
	check_upload(fx, "/v1/uploads/upload_1/complete",
		     "{\"part_ids\":[],\"md5\":\"xyz\"}", 400,
		     "\"param\":\"md5\"");
	check_upload(fx, "/v1/uploads/upload_1/complete", "{}", 400,
		     "\"param\":\"part_ids\"");
	check_upload(fx, "/v1/uploads/upload_1/parts", "{}", 415,
		     "multipart/form-data");
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_comes_and_goes),
		TEST(parts_come_in_any_order),
		TEST(what_is_missing_or_wrong_is_named),
		TEST(broken_forms_are_refused),
		TEST(names_in_any_script_come_back),
		TEST(another_tenants_file_is_like_none),
		TEST(pages_are_asked_for_by_number_and_id),
		TEST(an_upload_waits_for_the_disk),
		TEST(a_client_that_leaves_takes_its_upload_along),
		TEST(a_file_is_found_by_its_path),
		TEST(too_large_is_said_before_or_while_it_comes),
		TEST(a_missing_container_is_told_before_the_body),
		TEST(a_container_takes_a_form_or_json),
		TEST(an_upload_in_parts_is_an_object_of_its_own),
		TEST(a_wrong_upload_in_parts_is_refused),
	};

	return RUN_TESTS(tests);
}
