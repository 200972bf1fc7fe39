/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads of single files: parts of them, and what browsers make of them. */
#include "api_fixture.h"

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sanitizer.h"

#define IT "/v1/containers/" FAKE_CONTAINER "/files/cfile_1/content"
#define GET_IT "GET " IT " HTTP/1.1\r\n" HOST AUTH
#define HEAD_IT "HEAD " IT " HTTP/1.1\r\n" HOST AUTH
#define CD8 "cdcdcdcdcdcdcdcd"
#define TAG "\"" CD8 CD8 CD8 CD8 "\""	/* of what the fake core has */

static const struct {
	const char *field;
	int status;
	const char *body;
	const char *range;
} asks[] = {
	{ "Range: bytes=2-4", 206, "234", "bytes 2-4/10" },
	{ "Range: bytes=7-", 206, "789", "bytes 7-9/10" },
	{ "Range: bytes=-2", 206, "89", "bytes 8-9/10" },
	{ "Range: bytes=-20", 206, "0123456789", "bytes 0-9/10" },
	{ "Range: bytes=8-99", 206, "89", "bytes 8-9/10" },
	{ "Range: bytes=0-0", 206, "0", "bytes 0-0/10" },
	{ "Range: bytes=-1", 206, "9", "bytes 9-9/10" },
	{ "Range: bytes=-99999999999999999999", 206, "0123456789",
	  "bytes 0-9/10" },
	{ "Range: bytes=9-99999999999999999999", 206, "9",
	  "bytes 9-9/10" },
	{ "Range: bytes=18446744073709551615-", 416, NULL,
	  "bytes */10" },
	{ "Range: bytes=99999999999999999999-", 416, NULL,
	  "bytes */10" },
	{ "Range: bytes=99999999999999999999-5", 200, "0123456789",
	  "" },
	{ "Range: bytes=a-b", 200, "0123456789", "" },
	{ "Range: bytes=1-2x", 200, "0123456789", "" },
	{ "Range: bytes=-", 200, "0123456789", "" },
	{ "Range: bytes=+1-2", 200, "0123456789", "" },
	{ "Range: bytes=4-2", 200, "0123456789", "" },
	{ "Range: bytes=0-1,3-4", 200, "0123456789", "" },
	{ "Range: lines=0-1", 200, "0123456789", "" },
	{ "Range: bytes=2-4\r\nIf-Range: \"x\"", 200, "0123456789",
	  "" },
	{ "Range: bytes=2-4\r\nIf-Range: " TAG, 206, "234",
	  "bytes 2-4/10" },
	{ "Range: bytes=2-4\r\nIf-Range: W/" TAG, 200, "0123456789",
	  "" },
	{ "Range: bytes=2-4\r\nIf-Range: "
	  "Sun, 06 Nov 2044 08:49:37 GMT", 200, "0123456789", "" },
	{ "Range: bytes=10-", 416, NULL, "bytes */10" },
	{ "Range: bytes=-0", 416, NULL, "bytes */10" },
	{ "If-None-Match: \"x\"", 200, "0123456789", "" },
	{ "If-None-Match: *", 304, "", "" },
	{ "If-None-Match: " TAG, 304, "", "" },
	{ "If-None-Match: W/" TAG, 304, "", "" },
	{ "If-None-Match: \"x\" , W/\"y,z\",," TAG, 304, "", "" },
	{ "If-None-Match: \"x\" " TAG, 200, "0123456789", "" },
	{ "If-None-Match: x, " TAG, 200, "0123456789", "" },
	{ "If-None-Match: \"" TAG "\"", 200, "0123456789", "" },
	{ "If-None-Match: \"x", 200, "0123456789", "" },
	{ "If-None-Match: " TAG "\r\nRange: bytes=99-", 304, "",
	  "" },
};

static void ranges_and_known_files_save_bytes(void **state)
{
	struct fixture *fx = *state;
	char request[512];
	size_t i;

	fake_core_cfile(fx->core, "x", "0123456789", 10);
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		snprintf(request, sizeof(request),
			 GET_IT
			 "%s\r\n\r\n", asks[i].field);
		_answer_ struct answer a = ask(fx, request);
		assert_int_equal(a.status, asks[i].status);
		if (asks[i].body)
			assert_string_equal(a.body, asks[i].body);
		assert_string_equal(answer_header(&a, "Content-Range"),
				    asks[i].range);
	}
}

static void many_ranges_are_one_whole_file(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf b = BUF_INIT(16384);
	int i;

	fake_core_cfile(fx->core, "x", "0123456789", 10);
	buf_add_str(&b, GET_IT
			"Range: bytes=0-");
	for (i = 1; i < 1000; i++)
		buf_add_str(&b, ",0-");
	buf_add_str(&b, "\r\n\r\n");
	_answer_ struct answer a = ask_bytes(fx, b.data, b.length);
	assert_int_equal(a.status, 200);
	assert_string_equal(a.body, "0123456789");
}

/* But for the date and the request's id. */
static void check_same_head(const struct answer *a, const struct answer *b)
{
	static const char *const names[] = {
		"Content-Length", "Content-Type", "Content-Disposition",
		"Content-Security-Policy", "X-Content-Type-Options", "ETag",
		"Accept-Ranges",
	};
	char value[512];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(value, sizeof(value), "%s",
			 answer_header(a, names[i]));
		assert_string_not_equal(value, "");
		assert_string_equal(answer_header(b, names[i]), value);
	}
}

static void head_is_get_without_the_body(void **state)
{
	struct fixture *fx = *state;

	fake_core_cfile(fx->core, "x.csv", "0123456789", 10);
	_answer_ struct answer get =
		ask(fx, GET_IT
			"Connection: close\r\n\r\n");
	_answer_ struct answer head =
		ask(fx, HEAD_IT
			"Range: bytes=2-4\r\nConnection: close\r\n\r\n");
	_answer_ struct answer known =
		ask(fx, HEAD_IT
			"If-None-Match: " TAG "\r\n"
			"Connection: close\r\n\r\n");

	assert_int_equal(get.status, 200);
	assert_int_equal(head.status, 200);
	assert_int_equal(head.length, 0);
	check_same_head(&get, &head);
	assert_string_equal(answer_header(&head, "Content-Length"), "10");
	assert_string_equal(answer_header(&head, "ETag"), TAG);
	assert_int_equal(known.status, 304);
	assert_string_equal(answer_header(&known, "ETag"), TAG);
}

/* ------------------------------------------------- what others have written */

static struct answer fetch(struct fixture *fx, size_t number)
{
	char request[256];

	snprintf(request, sizeof(request),
		 "GET /v1/containers/" FAKE_CONTAINER "/files/cfile_%zu/content"
		 " HTTP/1.1\r\n" HOST AUTH "\r\n", number);
	return ask(fx, request);
}

static void types_come_from_names_and_nothing_is_run(void **state)
{
	static const struct {
		const char *name;
		const char *type;
	} files[] = {
		{ "r.html", "text/html" },
		{ "r.svg", "image/svg+xml" },
		{ "p.png", "image/png" },
		{ "d.csv", "application/csv" },
		{ "folder.html/none", "application/octet-stream" },
		{ "x.unknown", "application/octet-stream" },
	};
	const char *script = "<html><script>alert(1)</script>";
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fake_core_cfile(fx->core, files[i].name, script,
				strlen(script));
		_answer_ struct answer a = fetch(fx, i + 1);
		assert_int_equal(a.status, 200);
		assert_string_equal(a.body, script);
		assert_string_equal(answer_header(&a, "Content-Type"),
				    files[i].type);
		assert_string_equal(answer_header(&a, "X-Content-Type-Options"),
				    "nosniff");
		assert_string_equal(
			answer_header(&a, "Content-Security-Policy"),
			"sandbox");
		assert_ptr_equal(strstr(answer_header(&a,
						      "Content-Disposition"),
					"attachment; "),
				 answer_header(&a, "Content-Disposition"));
	}
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

static void no_name_becomes_a_header(void **state)
{
	static const char *const names[] = {
		"a\r\nSet-Cookie: x=y\r\n\r\nbody",
		"a\nX-Y: z",
		"a\"; filename=\"b",
		"a\\\"b\\",
		"a;filename*=UTF-8''b",
		"\x7f\x01\x1b[31m%0d%0aX-Y: z",
		"\xff\xfe.csv",
		"\xe2\x80\xaegpj.exe",
		"-rf",
	};
	struct fixture *fx = *state;
	size_t i, j;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fake_core_cfile(fx->core, names[i], "x", 1);
		_answer_ struct answer a = fetch(fx, i + 1);
		const char *field = answer_header(&a, "Content-Disposition");
		const char *raw = buf_str(&a.raw);

		assert_int_equal(a.status, 200);
		assert_string_equal(a.body, "x");
		assert_int_equal(count_of(raw, "Content-Disposition:"), 1);
		assert_null(strstr(raw, "\nSet-Cookie"));
		assert_null(strstr(raw, "\nX-Y"));
		assert_int_equal(count_of(field, "\""), 2);
		assert_int_equal(count_of(field, "filename*=UTF-8''"),
				 strstr(names[i], "filename*") ? 2 : 1);
		assert_null(strchr(field, '\\'));
		for (j = 0; field[j]; j++)
			assert_in_range((unsigned char)field[j], 0x20, 0x7e);
	}
}

/* ---------------------------------------------------- clients that give up */

static unsigned count_entries(const char *directory)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	return count;
}

static unsigned long resident_kib(void)
{
	_cleanup_(fclosep) FILE *file = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1)
			break;
	return kib;
}

/* Every third with a reset, every third before it has read anything. */
static void give_up(struct fixture *fx, int i, const char *path)
{
	const struct linger reset = { .l_onoff = 1 };
	_cleanup_(buf_done) struct buf got = BUF_INIT(1 << 20);
	_cleanup_close_ int fd = client_connect(fx);
	char text[512];

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n",
		 path);
	assert_true(client_send(fx, fd, text, strlen(text)));
	if (i % 3 > 0)
		assert_true(client_read_until(fx, fd, &got, "\r\n\r\n"));
	if (i % 3 > 1)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset,
				 sizeof(reset));
}

static void clients_that_give_up_leave_nothing(void **state)
{
	static const char *const paths[] = {
		IT,
		"/v1/containers/" FAKE_CONTAINER "/files.zip",
	};
	struct fixture *fx = *state;
	size_t size = 8 << 20;
	_cleanup_free_ char *content = malloc(size);
	unsigned long resident;
	unsigned files, threads;
	int i;

	assert_non_null(content);
	memset(content, 'x', size);
	fake_core_cfile(fx->core, "big.bin", content, size);
	for (i = 0; i < 6; i++)
		give_up(fx, i, paths[i % 2]);
	run_loop(fx);
	files = count_entries("/proc/self/fd");
	threads = count_entries("/proc/self/task");
	resident = resident_kib();
	for (i = 0; i < 300; i++)
		give_up(fx, i, paths[i % 2]);
	run_loop(fx);
	assert_int_equal(api_connections(fx->api), 0);
	assert_int_equal(count_entries("/proc/self/fd"), files);
	assert_int_equal(count_entries("/proc/self/task"), threads);
#if !WITH_ADDRESS_SANITIZER	/* which keeps what was freed */
	assert_in_range(resident_kib(), 0, resident + 4096);
#else
	(void)resident;
#endif
	_answer_ struct answer a = fetch(fx, 1);
	assert_int_equal(a.length, size);
	assert_memory_equal(a.body, content, size);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ranges_and_known_files_save_bytes),
		TEST(many_ranges_are_one_whole_file),
		TEST(head_is_get_without_the_body),
		TEST(types_come_from_names_and_nothing_is_run),
		TEST(no_name_becomes_a_header),
		TEST(clients_that_give_up_leave_nothing),
	};

	return RUN_TESTS(tests);
}
