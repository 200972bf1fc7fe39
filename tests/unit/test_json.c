#include "test.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

static struct json_object *parse(const char *text)
{
	struct json_object *value = NULL;
	struct error err = ERROR_INIT;

	if (json_parse(text, strlen(text), &value, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return value;
}

/* Checks that a text of @size bytes is refused at @offset. */
static void refused_bytes(const char *text, size_t size, size_t offset)
{
	struct json_object *value = (void *)1;
	struct error err = ERROR_INIT;
	char place[32];

	assert_int_equal(json_parse(text, size, &value, &err), -EINVAL);
	assert_ptr_equal(value, (void *)1);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	(void)snprintf(place, sizeof(place), " at byte %zu: ", offset);
	if (!strstr(err.message, place))
		fail_msg("%s: %s, not%s", text, err.message, place);
}

static void refused(const char *text, size_t offset)
{
	refused_bytes(text, strlen(text), offset);
}

static void every_kind_of_value_is_read(void **state)
{
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct json_object *list;

	(void)state;
	o = parse(" {\"n\" : null,\"b\":true,\t\"i\":-12,\r\n\"d\":1.5e3,"
		  "\"s\":\"x\",\"a\":[1,[],{}] , \"o\":{}} ");
	assert_int_equal(json_kind_of(o), JSON_OBJECT);
	assert_null(json_member(o, "n"));
	assert_null(json_member(o, "missing"));
	assert_int_equal(json_kind_of(json_member(o, "b")), JSON_BOOL);
	assert_int_equal(json_kind_of(json_member(o, "i")), JSON_INT);
	assert_int_equal(json_kind_of(json_member(o, "d")), JSON_NUMBER);
	assert_int_equal(json_kind_of(json_member(o, "s")), JSON_STRING);
	assert_int_equal(json_kind_of(json_member(o, "o")), JSON_OBJECT);
	list = json_member(o, "a");
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_kind_of(json_array_at(list, 1)), JSON_ARRAY);
	assert_int_equal(json_array_size(o), 0);
}

static void null_alone_is_a_value(void **state)
{
	struct json_object *value = (void *)1;

	(void)state;
	assert_int_equal(json_parse("null", 4, &value, NULL), 0);
	assert_null(value);
	assert_int_equal(json_kind_of(value), JSON_NULL);
}

static void strings_keep_their_escapes_and_nuls(void **state)
{
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct json_string s;

	(void)state;
	o = parse("\"a\\u0000b\\n\\\"\\\\\\/\\b\\f\\r\\t\\u00e9\\ud83d\\ude00"
		  "\xe2\x82\xac\"");
	s = json_string_of(o);
	assert_int_equal(s.length, 20);
	assert_memory_equal(s.data,
			    "a\0b\n\"\\/\b\f\r\t\xc3\xa9\xf0\x9f\x98\x80"
			    "\xe2\x82\xac",
			    s.length + 1);
	assert_null(json_string_of(NULL).data);
}

static void what_is_not_utf8_is_refused(void **state)
{
	(void)state;
	refused("\"\xff\"", 1);
	refused("\"ab\xc3\"", 3);
	refused("\"\xc0\x80\"", 1);         /* overlong NUL */
	refused("\"\xe0\x80\xaf\"", 1);     /* overlong slash */
	refused("\"\xed\xa0\x80\"", 1);     /* surrogate */
	refused("\"\xf4\x90\x80\x80\"", 1); /* above U+10FFFF */
	refused("\xef\xbb\xbf{}", 0);       /* BOM */
}

static void half_a_surrogate_pair_is_refused(void **state)
{
	(void)state;
	refused("\"x\\ud800\"", 2);
	refused("\"\\udc00\"", 1);
	refused("\"\\ud800\\n\"", 1);
	refused("\"\\ud800\\ud800\"", 1);
	refused("\"\\ud83dx\\ude00\"", 1);
}

static void the_same_key_twice_is_refused(void **state)
{
	(void)state;
	refused("{\"a\":1,\"a\":1}", 7);
	refused("{\"a\":null,\"b\":2,\"\\u0061\":1}", 16);
	refused("{\"x\":{\"\":1,\"\":2}}", 11);
	json_free(parse("{\"a\":{\"a\":1},\"A\":[{\"a\":2},{\"a\":3}]}"));
}

static void a_nul_in_a_key_is_refused(void **state)
{
	(void)state;
	refused("{\"a\\u0000b\":1}", 1);
	refused_bytes("{\"a\0b\":1}", 9, 3);
}

static void numbers_out_of_range_are_refused(void **state)
{
	_cleanup_(json_freep) struct json_object *o = NULL;

	(void)state;
	o = parse("[9223372036854775807,-9223372036854775808,1e308,1e-400,-0]");
	assert_int_equal(json_array_size(o), 5);
	refused("[9223372036854775808]", 1);
	refused("-9223372036854775809", 0);
	refused("1e309", 0);
	refused("[-1e999]", 1);
	refused("NaN", 0);
	refused("Infinity", 0);
	refused("-Infinity", 1);
	refused("-", 1);
	refused("01", 0);
	refused("1.", 2);
	refused(".5", 0);
	refused("+1", 0);
	refused("1e", 2);
	refused("1e+", 3);
	refused("0x10", 1);
}

static void what_json_does_not_have_is_refused(void **state)
{
	(void)state;
	refused("", 0);
	refused("   ", 3);
	refused("{", 1);
	refused("[1,]", 3);
	refused("{\"a\":1,}", 7);
	refused("{a:1}", 1);
	refused("{'a':1}", 1);
	refused("{\"a\" 1}", 5);
	refused("[1 2]", 3);
	refused("[1}", 2);
	refused("tru", 0);
	refused("True", 0);
	refused("\"abc", 0);
	refused("\"a\nb\"", 2);
	refused("\"\\x41\"", 2);
	refused("\"\\u12g4\"", 5);
	refused("[1] // no", 4);
	refused("{} {}", 3);
	refused_bytes("[]\0", 3, 2);
	refused_bytes("\"a\0b\"", 5, 2);
}

static void depth_has_a_limit(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	_cleanup_(json_freep) struct json_object *o = NULL;
	int i;

	(void)state;
	for (i = 0; i < JSON_DEPTH_MAX; i++)
		assert_int_equal(buf_add_byte(&b, '['), 0);
	for (i = 0; i < JSON_DEPTH_MAX; i++)
		assert_int_equal(buf_add_byte(&b, ']'), 0);
	o = parse(buf_str(&b));
	buf_clear(&b);
	for (i = 0; i <= JSON_DEPTH_MAX; i++)
		assert_int_equal(buf_add_byte(&b, '['), 0);
	refused(buf_str(&b), JSON_DEPTH_MAX);
}

static void the_number_of_values_has_a_limit(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1 << 20);
	int i;

	(void)state;
	assert_int_equal(buf_add_str(&b, "[0"), 0);
	for (i = 2; i < JSON_VALUES_MAX; i++)
		assert_int_equal(buf_add_str(&b, ",0"), 0);
	assert_int_equal(buf_add_byte(&b, ']'), 0);
	json_free(parse(buf_str(&b)));
	buf_truncate(&b, b.length - 1);
	assert_int_equal(buf_add_str(&b, ",0]"), 0);
	refused(buf_str(&b), 2 * JSON_VALUES_MAX - 1);
}

static int note_member(const char *key, struct json_object *value,
		       void *userdata)
{
	(void)value;
	if (strcmp(key, "stop") == 0)
		return -ECANCELED;
	return buf_add_str(userdata, key);
}

static void members_are_walked_in_order(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	_cleanup_(json_freep) struct json_object *o = NULL;

	(void)state;
	o = parse("{\"z\":1,\"a\":null,\"m\":2,\"stop\":0,\"x\":1}");
	assert_int_equal(json_each_member(o, note_member, &b), -ECANCELED);
	assert_string_equal(buf_str(&b), "zam");
	assert_int_equal(json_each_member(NULL, note_member, &b), 0);
}

static void a_mistake_names_the_value_it_is_in(void **state)
{
	static const struct {
		const char *text, *param, *reason;
	} cases[] = {
		{ "", "", "invalid_json" },
		{ "{\"a\":1}x", "", "invalid_json" },
		{ "{\"a\" 1}", "", "invalid_json" },
		{ "{\"code\":", "code", "invalid_json" },
		{ "{\"code\":\"\\ud800\"}", "code", "invalid_json" },
		{ "{\"a\":{\"b\":1e999}}", "a.b", "invalid_json" },
		{ "{\"a\":[0,{\"b\":[nan]}]}", "a[1].b[0]",
		  "invalid_json" },
		{ "[[1,2,03]]", "[0][2]", "invalid_json" },
		{ "{\"a\":1,\"a\":2}", "a", "duplicate_key" },
		{ "{\"a\":[{\"b\":1,\"\\u0062\":2}]}", "a[0].b",
		  "duplicate_key" },
	};
	struct json_object *value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;

		assert_int_equal(json_parse(cases[i].text,
					    strlen(cases[i].text), &value,
					    &err), -EINVAL);
		assert_string_equal(err.param, cases[i].param);
		assert_string_equal(err.reason, cases[i].reason);
	}
}

static void a_long_place_is_cut(void **state)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(65536);
	struct json_object *value;
	struct error err = ERROR_INIT;
	int i;

	(void)state;
	for (i = 0; i < 60; i++)
		(void)buf_add_str(&text, "{\"ä long key\":[");
	assert_int_equal(json_parse(buf_str(&text), text.length, &value, &err),
			 -EINVAL);
	assert_memory_equal(err.param, "ä long key[0].ä long key[0]", 28);
	assert_true(strlen(err.param) < ERROR_PARAM_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(null_alone_is_a_value),
		cmocka_unit_test(strings_keep_their_escapes_and_nuls),
		cmocka_unit_test(what_is_not_utf8_is_refused),
		cmocka_unit_test(half_a_surrogate_pair_is_refused),
		cmocka_unit_test(the_same_key_twice_is_refused),
		cmocka_unit_test(a_nul_in_a_key_is_refused),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(what_json_does_not_have_is_refused),
		cmocka_unit_test(a_mistake_names_the_value_it_is_in),
		cmocka_unit_test(a_long_place_is_cut),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(the_number_of_values_has_a_limit),
		cmocka_unit_test(members_are_walked_in_order),
	};

	return RUN_TESTS(tests);
}
