/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "api/header.h"
#include "api/multipart.h"
#include "api/uri.h"
#include "base/buf.h"

/* What a body says, as one line: "name|filename|type=content;" per part. */
struct said {
	struct buf text;
	unsigned refuse;	/* answer -EAGAIN to every n-th piece */
	unsigned pieces;
};

static int on_begin(void *userdata, const struct multipart_part *part,
		    struct error *err)
{
	struct said *said = userdata;

	(void)err;
	return buf_printf(&said->text, "%s|%s|%s=", part->name,
			  part->filename ? part->filename : "-",
			  part->type ? part->type : "-");
}

static int on_data(void *userdata, const void *data, size_t size,
		   struct error *err)
{
	struct said *said = userdata;

	(void)err;
	if (said->refuse && ++said->pieces % said->refuse == 0)
		return -EAGAIN;
	return buf_add(&said->text, data, size);
}

static int on_end(void *userdata, struct error *err)
{
	struct said *said = userdata;

	(void)err;
	return buf_add_byte(&said->text, ';');
}

static const struct multipart_sink sink = { on_begin, on_data, on_end };

/* Feeds @step bytes at a time; what was refused comes again. */
static int parse(struct said *said, const char *type, const char *body,
		 size_t size, size_t step)
{
	struct error err = ERROR_INIT;
	struct multipart *m;
	size_t at = 0, used;
	int r;

	r = multipart_new(type, &sink, said, &m, &err);
	if (r < 0)
		return r;
	while (at < size && (r == 0 || r == -EAGAIN)) {
		r = multipart_feed(m, body + at,
				   size - at < step ? size - at : step, &used,
				   &err);
		at += used;
	}
	if (r == 0)
		r = multipart_finish(m, &err);
	multipart_free(m);
	return r;
}

static void expect(const char *type, const char *body, size_t size,
		   const char *what)
{
	size_t step;
	unsigned refuse;

	for (step = 1; step <= size; step++) {
		for (refuse = 0; refuse < 4; refuse++) {
			struct said said = { .text = BUF_INIT(65536),
					     .refuse = refuse == 1 ? 0
								   : refuse };

			assert_int_equal(parse(&said, type, body, size, step),
					 0);
			assert_string_equal(buf_str(&said.text), what);
			buf_done(&said.text);
		}
	}
}

#define TYPE "multipart/form-data; boundary="
#define HEAD(b, rest) "--" b "\r\nContent-Disposition: form-data; " rest "\r\n"

static void parts_are_found_however_they_arrive(void **state)
{
	static const char body[] =
		HEAD("xy", "name=\"a\"; filename=\"f.txt\"")
		"Content-Type: text/plain\r\n\r\n1\r\n--x\r\r\n--xyz\r\n--xy-\r\n"
		HEAD("xy", "name=b") "\r\n\r\n--xy--\r\nepilogue";

	(void)state;
	expect(TYPE "xy", body, sizeof(body) - 1,
	       "a|f.txt|text/plain=1\r\n--x\r\r\n--xyz\r\n--xy-;b|-|-=;");
}

static void a_preamble_is_skipped(void **state)
{
	static const char body[] = "x\r\n--xyz\r\n"
		HEAD("xy", "name=\"a\"") "\r\nv\r\n--xy--";

	(void)state;
	expect(TYPE "xy", body, sizeof(body) - 1, "a|-|-=v;");
}

static void a_boundary_may_be_quoted(void **state)
{
	static const char body[] =
		HEAD("a b:c", "name=\"a\"") "\r\nv\r\n--a b:c--\r\n";

	(void)state;
	expect(TYPE "\"a b:c\"", body, sizeof(body) - 1, "a|-|-=v;");
	expect("Multipart/Form-Data;BOUNDARY=\"a b:c\" ; x=y", body,
	       sizeof(body) - 1, "a|-|-=v;");
}

static void names_are_decoded_as_browsers_encode_them(void **state)
{
	static const char body[] =
		HEAD("b", "name=\"f\"; filename=\"a%22b%0D%0A%5c 100%25.txt\"")
		"\r\n\r\n"
		HEAD("b", "NAME=\"g\"; filename=\"x\"; "
			  "filename*=utf-8'en'%e2%82%ac") "\r\n\r\n"
		HEAD("b", "name=\"h\"; filename=\"q\\\"q\\w\"") "\r\n\r\n"
		"--b--";

	(void)state;
	expect(TYPE "b", body, sizeof(body) - 1,
	       "f|a\"b\r\n\\ 100%25.txt|-=;g|\xe2\x82\xac|-=;h|q\"q\\w|-=;");
}

static void what_is_malformed_is_refused(void **state)
{
	static const struct {
		const char *type;
		const char *body;
	} bad[] = {
		{ "multipart/form-data", "--b--" },
		{ TYPE, "--b--" },
		{ TYPE "\"\"", "----" },
		{ TYPE "a;boundary=a", "--a--" },
		{ TYPE "\"a\r\"", "--a--" },
		{ TYPE "\"a", "--a--" },
		{ TYPE "b", "" },
		{ TYPE "b", "--b-" },
		{ TYPE "b", "--b\r\n\r\nx\r\n--b--" },
		{ TYPE "b", "--b\r\nA b: c\r\n\r\nx\r\n--b--" },
		{ TYPE "b", HEAD("b", "x=\"a\"") "\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=\"a") "\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a; name=b") "\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a; filename*=latin1''x")
		  "\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a; filename*=utf-8''%00")
		  "\r\nv\r\n--b--" },
		{ TYPE "b", "--b\r\nContent-Disposition: attachment; name=a"
		  "\r\n\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a")
		  "Content-Disposition: form-data; name=b\r\n\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a\n") "\r\nv\r\n--b--" },
		{ TYPE "b", HEAD("b", "name=a") "\r\nv\r\n--b" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct said said = { .text = BUF_INIT(65536) };

		assert_true(parse(&said, bad[i].type, bad[i].body,
				  strlen(bad[i].body), 7) < 0);
		buf_done(&said.text);
	}
}

static void heads_and_parts_have_limits(void **state)
{
	struct buf body = BUF_INIT(1 << 20);
	struct said said = { .text = BUF_INIT(1 << 20) };
	int i;

	(void)state;
	buf_add_str(&body, "--b\r\nContent-Disposition: form-data; name=a; x=");
	for (i = 0; i < MULTIPART_HEAD_MAX; i++)
		buf_add_byte(&body, 'x');
	buf_add_str(&body, "\r\n\r\nv\r\n--b--");
	assert_true(parse(&said, TYPE "b", buf_str(&body), body.length, 99) <
		    0);
	buf_clear(&body);
	for (i = 0; i <= MULTIPART_PARTS_MAX; i++)
		buf_add_str(&body, HEAD("b", "name=a") "\r\nv\r\n");
	buf_add_str(&body, "--b--");
	assert_true(parse(&said, TYPE "b", buf_str(&body), body.length, 99) <
		    0);
	buf_done(&said.text);
	buf_done(&body);
}

/* ------------------------------------------------------------------- targets */

static void a_target_comes_apart(void **state)
{
	struct uri uri;
	const char *value;

	(void)state;
	assert_int_equal(uri_parse("/a%20b/c+d%2Fe/?x=%2F+%26&include%5B%5D=1&y&&",
				   &uri, NULL), 0);
	assert_int_equal(uri.segments, 2);
	assert_string_equal(uri.segment[0], "a b");
	assert_string_equal(uri.segment[1], "c+d/e");
	assert_int_equal(uri_param(&uri, "x", &value, NULL), 0);
	assert_string_equal(value, "/ &");
	assert_int_equal(uri_param(&uri, "include[]", &value, NULL), 0);
	assert_string_equal(value, "1");
	assert_int_equal(uri_param(&uri, "y", &value, NULL), 0);
	assert_string_equal(value, "");
	assert_int_equal(uri_param(&uri, "z", &value, NULL), 0);
	assert_null(value);
	uri_done(&uri);
}

static void targets_that_mean_two_things_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "a", "http://x/", "//%00", "/%", "/%2", "/%gg",
		"/%ff", "/a?%00=1", "/a?b=%", "/a?b=%c3",
		"/a b", "/a\tb", "/\x7f",
		"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
	};
	struct uri uri;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(uri_parse(bad[i], &uri, NULL) < 0);
		uri_done(&uri);
	}
}

static void what_is_readable_of_a_bad_target_is_read(void **state)
{
	struct uri uri;

	(void)state;
	assert_true(uri_parse("/a/b/%zz/c", &uri, NULL) < 0);
	assert_int_equal(uri.segments, 2);
	assert_string_equal(uri.segment[1], "b");
	uri_done(&uri);
	assert_true(uri_parse("/a/b?%zz", &uri, NULL) < 0);
	assert_int_equal(uri.segments, 2);
	uri_done(&uri);
	assert_true(uri_parse("http://a/b", &uri, NULL) < 0);
	assert_int_equal(uri.segments, 0);
	uri_done(&uri);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_found_however_they_arrive),
		cmocka_unit_test(a_preamble_is_skipped),
		cmocka_unit_test(a_boundary_may_be_quoted),
		cmocka_unit_test(names_are_decoded_as_browsers_encode_them),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(heads_and_parts_have_limits),
		cmocka_unit_test(a_target_comes_apart),
		cmocka_unit_test(targets_that_mean_two_things_are_refused),
		cmocka_unit_test(what_is_readable_of_a_bad_target_is_read),
	};

	return RUN_TESTS(tests);
}
