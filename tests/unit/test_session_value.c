/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "api/session_value.h"
#include "base/cleanup.h"

static void check(const char *text, const char *json)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4096);
	struct json_writer w = JSON_WRITER_INIT(&b);

	json_write_array(&w, NULL);
	session_value_write(&w, NULL, text, strlen(text));
	json_write_close(&w);
	assert_int_equal(json_write_end(&w), 0);
	/* Without the brackets. */
	buf_consume(&b, 1);
	assert_int_equal(b.length, strlen(json) + 1);
	assert_memory_equal(b.data, json, strlen(json));
}

static void numbers_that_stay_exact_are_numbers(void **state)
{
	(void)state;
	check("42", "42");
	check("-7", "-7");
	check("0.5", "0.5");
	check("1e+100", "1e+100");
	check("123456789012345", "123456789012345");
}

static void what_json_would_spoil_is_text(void **state)
{
	(void)state;
	check("1234567890123456", "\"1234567890123456\"");
	check("inf", "\"inf\"");
	check("nan", "\"nan\"");
	check("1.", "\"1.\"");
	check("007", "\"007\"");
	check("-", "\"-\"");
	check("", "\"\"");
	check("1e", "\"1e\"");
	check("True", "\"True\"");
	check("[1, 2]", "\"[1, 2]\"");
}

static void strings_are_what_they_stand_for(void **state)
{
	(void)state;
	check("'value'", "\"value\"");
	check("\"it's\"", "\"it's\"");
	check("'a\\nb\\t\\\\'", "\"a\\nb\\t\\\\\"");
	check("'\\x1b[0m'", "\"\\u001b[0m\"");
	check("'\\u20ac\\U0001f600'", "\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
	check("'\\ud800'", "\"\xef\xbf\xbd\"");
	check("''", "\"\"");
}

static void what_only_looks_like_a_string_is_text(void **state)
{
	(void)state;
	check("'a', 'b'", "\"'a', 'b'\"");
	check("'", "\"'\"");
	check("'open", "\"'open\"");
	check("'bad\\q'", "\"'bad\\\\q'\"");
	check("'\\x1'", "\"'\\\\x1'\"");
	check("'\\U00110000'", "\"'\\\\U00110000'\"");
	check("'\\'", "\"'\\\\'\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_that_stay_exact_are_numbers),
		cmocka_unit_test(what_json_would_spoil_is_text),
		cmocka_unit_test(strings_are_what_they_stand_for),
		cmocka_unit_test(what_only_looks_like_a_string_is_text),
	};

	return RUN_TESTS(tests);
}
