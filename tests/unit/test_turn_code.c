/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name.h"
#include "turn/code_arguments.h"

/*
 * Decodes arguments in pieces of @step bytes, never within a character, as the
 * model's server gives them. What was decoded must only grow.
 */
static int decode_by(const char *arguments, size_t size, size_t step,
		     struct buf *code)
{
	struct code_arguments a = { 0 };
	size_t at = 0;

	while (at < size) {
		size_t before = code->length;

		at = at + step < size ? at + step : size;
		while (at < size && ((unsigned char)arguments[at] & 0xc0) == 0x80)
			at++;
		assert_int_equal(code_arguments_feed(&a, arguments, at, code),
				 0);
		assert_true(code->length >= before);
		assert_true(utf8_is_valid(buf_str(code) + before,
					  code->length - before));
	}
	return code_arguments_end(&a, arguments, size, code);
}

static void decodes_as(const char *arguments, enum code_end end,
		       const char *expected, size_t expected_size)
{
	for (size_t step = 1; step < 20; step++) {
		_cleanup_(buf_done) struct buf code = BUF_INIT(4096);
		int r = decode_by(arguments, strlen(arguments), step, &code);

		assert_int_equal(r, end);
		assert_int_equal(code.length, expected_size);
		if (expected_size)
			assert_memory_equal(code.data, expected, expected_size);
	}
}

#define DECODES(arguments, end, expected)                                      \
	decodes_as(arguments, end, expected, sizeof(expected) - 1)

static void escapes_are_undone_wherever_pieces_end(void **state)
{
	(void)state;
	DECODES("{\"code\":\"print(1)\"}", CODE_WHOLE, "print(1)");
	DECODES(" {\n \"code\" : \"a\\nb\\t\\\"c\\\"\\\\n\\/\" } ", CODE_WHOLE,
		"a\nb\t\"c\"\\n/");
	DECODES("{\"code\":\"\\u00e9\\u20ac\\ud83d\\ude42\xc3\xa9\"}",
		CODE_WHOLE, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\xc3\xa9");
	DECODES("{\"code\":\"a\\u0000b\"}", CODE_WHOLE, "a\0b");
}

static void half_a_surrogate_pair_is_replaced(void **state)
{
	(void)state;
	DECODES("{\"code\":\"\\ud83dx\"}", CODE_WHOLE, "\xef\xbf\xbdx");
	DECODES("{\"code\":\"\\ude42\"}", CODE_WHOLE, "\xef\xbf\xbd");
	DECODES("{\"code\":\"\\ud83d\\n\"}", CODE_WHOLE, "\xef\xbf\xbd\n");
	DECODES("{\"code\":\"\\ud83d\\ud83d\\ude42\"}", CODE_WHOLE,
		"\xef\xbf\xbd\xf0\x9f\x99\x82");
	DECODES("{\"code\":\"\\ud83d\"}", CODE_WHOLE, "\xef\xbf\xbd");
}

static void other_members_are_passed_over(void **state)
{
	(void)state;
	DECODES("{\"x\":{\"code\":\"no\",\"y\":[1,\"}\"]},\"n\":-1.5e3,"
		"\"t\":true,\"s\":\"a\\\"b,}\",\"code\":\"yes\",\"z\":null}",
		CODE_WHOLE, "yes");
	DECODES("{\"code\":\"one\",\"code\":\"two\"}", CODE_WHOLE, "one");
	DECODES("{\"codec\":\"no\",\"\\u0063ode\":\"no\",\"code\":\"yes\"}",
		CODE_WHOLE, "yes");
	DECODES("{\"a-very-long-name-of-a-member\":1,\"code\":\"yes\"}",
		CODE_WHOLE, "yes");
}

static void what_models_write_instead_of_json_is_taken_for_what_it_means(
	void **state)
{
	(void)state;
	/* Line breaks and escapes that JSON does not have. */
	DECODES("{\"code\":\"a\nb\"}", CODE_WHOLE, "a\nb");
	DECODES("{\"code\":\"re.sub('\\d+', '')\"}", CODE_WHOLE,
		"re.sub('\\d+', '')");
	DECODES("{\"code\":\"\\u12\"}", CODE_WHOLE, "\xef\xbf\xbd");
}

static void what_is_no_object_is_code(void **state)
{
	(void)state;
	DECODES("print('{\"code\":1}')", CODE_PLAIN, "print('{\"code\":1}')");
	DECODES("  x = 1\n  x", CODE_PLAIN, "  x = 1\n  x");
	DECODES("\"a\".upper()", CODE_PLAIN, "\"a\".upper()");
	DECODES("{1, 2}", CODE_PLAIN, "{1, 2}");
	DECODES("{\"a\": 1}[\"a\"]", CODE_PLAIN, "{\"a\": 1}[\"a\"]");
	DECODES("# \xc3\xa9", CODE_PLAIN, "# \xc3\xa9");
}

static void what_broke_off_or_has_no_code_is_known(void **state)
{
	(void)state;
	DECODES("", CODE_CUT, "");
	DECODES("  ", CODE_CUT, "");
	DECODES("{", CODE_CUT, "");
	DECODES("{}", CODE_CUT, "");
	DECODES("{\"co", CODE_CUT, "");
	DECODES("{\"code\":", CODE_CUT, "");
	DECODES("{\"code\":7}", CODE_CUT, "");
	DECODES("{\"x\":\"y\"}", CODE_CUT, "");
	DECODES("{\"code\":\"import os\\nos.", CODE_CUT, "import os\nos.");
	DECODES("{\"code\":\"x\\u00", CODE_CUT, "x");
	DECODES("{\"code\":\"x\\", CODE_CUT, "x");
	DECODES("{\"code\":\"x\"", CODE_CUT, "x");
	DECODES("{\"code\":\"x\"}}", CODE_CUT, "x");
}

static void code_that_does_not_fit_is_told(void **state)
{
	_cleanup_(buf_done) struct buf code = BUF_INIT(4);

	(void)state;
	assert_int_equal(decode_by("{\"code\":\"1234\"}", 15, 100, &code),
			 CODE_WHOLE);
	buf_clear(&code);
	{
		struct code_arguments a = { 0 };

		assert_true(code_arguments_feed(&a, "{\"code\":\"12345\"}", 16,
						&code) < 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_are_undone_wherever_pieces_end),
		cmocka_unit_test(half_a_surrogate_pair_is_replaced),
		cmocka_unit_test(other_members_are_passed_over),
		cmocka_unit_test(
			what_models_write_instead_of_json_is_taken_for_what_it_means),
		cmocka_unit_test(what_is_no_object_is_code),
		cmocka_unit_test(what_broke_off_or_has_no_code_is_known),
		cmocka_unit_test(code_that_does_not_fit_is_told),
	};

	return RUN_TESTS(tests);
}
