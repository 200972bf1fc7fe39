#include "test.h"

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/name.h"

static void values_are_nested_with_their_commas(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	json_write_object(&w, NULL);
	json_write_string(&w, "id", "x");
	json_write_array(&w, "list");
	json_write_int(&w, NULL, -1);
	json_write_uint(&w, NULL, UINT64_MAX);
	json_write_array(&w, NULL);
	json_write_close(&w);
	json_write_object(&w, NULL);
	json_write_close(&w);
	json_write_close(&w);
	json_write_bool(&w, "yes", true);
	json_write_null(&w, "nil");
	json_write_string(&w, "none", NULL);
	json_write_raw(&w, "raw", "[1]", 3);
	json_write_time(&w, "then", 7);
	json_write_time(&w, "never", 0);
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b),
			    "{\"id\":\"x\",\"list\":[-1,18446744073709551615,"
			    "[],{}],\"yes\":true,\"nil\":null,\"none\":null,"
			    "\"raw\":[1],\"then\":7,\"never\":null}");
}

static void members_of_an_object_join_those_that_are_there(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	json_write_object(&w, NULL);
	json_write_members(&w, "{}", 2);
	json_write_members(&w, "{\"a\":1}", 7);
	json_write_members(&w, "{}", 2);
	json_write_members(&w, "{\"b\":{\"c\":2}}", 13);
	json_write_int(&w, "d", 3);
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b),
			    "{\"a\":1,\"b\":{\"c\":2},\"d\":3}");
}

static void written_as(const void *data, size_t size, const char *expected)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_bytes(&w, NULL, data, size);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b), expected);
}

static void strings_are_escaped_and_always_utf8(void **state)
{
	(void)state;
	written_as("a\0b", 3, "\"a\\u0000b\"");
	written_as("\"\\\n\r\t\b\f\x1b\x7f", 9,
		   "\"\\\"\\\\\\n\\r\\t\\b\\f\\u001b\\u007f\"");
	written_as("\xc2\x9b|\xc2\xa0|\xe2\x80\xae|\xe2\x81\xa9|\xe2\x81\xaa", 17,
		   "\"\\u009b|\xc2\xa0|\\u202e|\\u2069|\xe2\x81\xaa\"");
	written_as("\xe2\x82\xac", 3, "\"\xe2\x82\xac\"");
	written_as("a\xff"
		   "b",
		   3,
		   "\"a\xef\xbf\xbd"
		   "b\"");
	written_as("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	written_as("\xed\xa0\x80", 3,
		   "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	written_as("", 0, "\"\"");
}

static void any_bytes_can_be_read_again(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(10000);
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct json_writer w = JSON_WRITER_INIT(&b);
	uint8_t bytes[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	json_write_bytes(&w, NULL, bytes, sizeof(bytes));
	assert_int_equal(json_write_end(&w), 0);
	assert_int_equal(json_parse(buf_str(&b), b.length, &o, NULL), 0);
	assert_memory_equal(json_string_of(o).data, bytes, 128);
}

static void doubles_are_short_and_exact(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	json_write_array(&w, NULL);
	json_write_double(&w, NULL, 0.1);
	json_write_double(&w, NULL, 1.0 / 3);
	json_write_double(&w, NULL, 1e300);
	json_write_double(&w, NULL, 3);
	json_write_double(&w, NULL, -0.0);
	json_write_double(&w, NULL, NAN);
	json_write_double(&w, NULL, INFINITY);
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b),
			    "[0.1,0.3333333333333333,1e+300,3.0,-0.0,"
			    "null,null]");
}

static void base64_is_padded(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	json_write_array(&w, NULL);
	json_write_base64(&w, NULL, "", 0);
	json_write_base64(&w, NULL, "f", 1);
	json_write_base64(&w, NULL, "fo", 2);
	json_write_base64(&w, NULL, "foo", 3);
	json_write_base64(&w, NULL, "foobar", 6);
	json_write_base64(&w, NULL, "\xff\xfe\xfd", 3);
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b), "[\"\",\"Zg==\",\"Zm8=\",\"Zm9v\","
					 "\"Zm9vYmFy\",\"//79\"]");
}

static void a_tree_is_written_as_it_was_read(void **state)
{
	static const char text[] = "{\"z\":[1,-2.5,\"\\u0000\",null,true],"
				   "\"a\":{\"b\":{}},\"\":\"\"}";
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), &o, NULL), 0);
	json_write_value(&w, NULL, o);
	assert_int_equal(json_write_end(&w), 0);
	assert_string_equal(buf_str(&b), text);
}

static void a_full_buffer_is_told_at_the_end(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(5);
	struct json_writer w = JSON_WRITER_INIT(&b);

	(void)state;
	json_write_array(&w, NULL);
	json_write_string(&w, NULL, "much too long");
	json_write_int(&w, NULL, 1);
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_nested_with_their_commas),
		cmocka_unit_test(
			members_of_an_object_join_those_that_are_there),
		cmocka_unit_test(strings_are_escaped_and_always_utf8),
		cmocka_unit_test(any_bytes_can_be_read_again),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(base64_is_padded),
		cmocka_unit_test(a_tree_is_written_as_it_was_read),
		cmocka_unit_test(a_full_buffer_is_told_at_the_end),
	};

	return RUN_TESTS(tests);
}
