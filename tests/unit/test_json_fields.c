#include "test.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

struct create {
	struct json_string name;
	struct json_string size;
	struct json_string note;
	struct json_object *file_ids;
	struct json_object *expires_after;
	int64_t minutes;
	double timeout;
	bool stream;
};

static const char *const sizes[] = { "1g", "4g", NULL };

static const struct json_field fields[] = {
	JSON_STRING_FIELD("name", struct create, name, .required = true,
			  .min = 1, .max = 8),
	JSON_STRING_FIELD("size", struct create, size, .choices = sizes),
	JSON_ARRAY_FIELD("file_ids", struct create, file_ids, .max = 2),
	JSON_OBJECT_FIELD("expires_after", struct create, expires_after),
	JSON_INT_FIELD("minutes", struct create, minutes, .min = 1, .max = 20),
	JSON_NUMBER_FIELD("timeout", struct create, timeout, .above_min = true,
			  .max = 300),
	JSON_BOOL_FIELD("stream", struct create, stream),
	JSON_STRING_FIELD("note", struct create, note, .text = true),
};

static int read_with(const char *text, enum json_unknown unknown,
		     struct create *ret, struct error *err)
{
	_cleanup_(json_freep) struct json_object *o = NULL;

	*err = ERROR_INIT;
	assert_int_equal(json_parse(text, strlen(text), &o, err), 0);
	return json_read_fields(o, NULL, fields,
				sizeof(fields) / sizeof(fields[0]), unknown,
				ret, err);
}

static void refused(const char *text, const char *param, const char *reason)
{
	struct create create = { .minutes = 0 };
	struct error err;

	assert_int_equal(read_with(text, JSON_UNKNOWN_REFUSED, &create, &err),
			 -EINVAL);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_string_equal(err.param, param);
	assert_string_equal(err.reason, reason);
	assert_string_not_equal(err.message, "");
}

static void what_is_given_is_taken_and_the_rest_stays(void **state)
{
	static const char text[] = "{\"name\":\"a\",\"timeout\":3,"
				   "\"note\":\"a\\u0000b\","
				   "\"file_ids\":[\"x\",\"y\"],\"stream\":true,"
				   "\"size\":null}";
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct create create = { .minutes = 20 };

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), &o, NULL), 0);
	assert_int_equal(json_read_fields(o, NULL, fields,
					  sizeof(fields) / sizeof(fields[0]),
					  JSON_UNKNOWN_REFUSED, &create, NULL),
			 0);
	assert_int_equal(create.note.length, 3);
	assert_memory_equal(create.note.data, "a\0b", 4);
	assert_int_equal(create.minutes, 20);
	assert_true(create.timeout == 3.0);
	assert_true(create.stream);
	assert_null(create.size.data);
	assert_null(create.expires_after);
	assert_int_equal(json_array_size(create.file_ids), 2);
}

static void each_mistake_has_its_name_and_place(void **state)
{
	(void)state;
	refused("{}", "name", "missing_required_parameter");
	refused("null", "name", "missing_required_parameter");
	refused("{\"name\":null}", "name", "missing_required_parameter");
	refused("[]", "body", "invalid_type");
	refused("{\"name\":1}", "name", "invalid_type");
	refused("{\"name\":\"\"}", "name", "string_below_min_length");
	refused("{\"name\":\"123456789\"}", "name", "string_above_max_length");
	refused("{\"name\":\"a\\u0000b\"}", "name", "invalid_value");
	refused("{\"name\":\"a\\u0000\"}", "name", "invalid_value");
	refused("{\"name\":\"a\",\"minutes\":0}", "minutes",
		"integer_below_min_value");
	refused("{\"name\":\"a\",\"minutes\":21}", "minutes",
		"integer_above_max_value");
	refused("{\"name\":\"a\",\"minutes\":20.0}", "minutes", "invalid_type");
	refused("{\"name\":\"a\",\"minutes\":\"5\"}", "minutes",
		"invalid_type");
	refused("{\"name\":\"a\",\"minutes\":true}", "minutes", "invalid_type");
	refused("{\"name\":\"a\",\"timeout\":0}", "timeout",
		"decimal_below_min_value");
	refused("{\"name\":\"a\",\"timeout\":300.5}", "timeout",
		"decimal_above_max_value");
	refused("{\"name\":\"a\",\"stream\":0}", "stream", "invalid_type");
	refused("{\"name\":\"a\",\"size\":\"2g\"}", "size", "invalid_value");
	refused("{\"name\":\"a\",\"size\":\"1g\\u0000\"}", "size",
		"invalid_value");
	refused("{\"name\":\"a\",\"file_ids\":[1,2,3]}", "file_ids",
		"array_above_max_length");
	refused("{\"name\":\"a\",\"file_ids\":{}}", "file_ids", "invalid_type");
	refused("{\"name\":\"a\",\"nome\":1}", "nome", "unknown_parameter");
}

static void all_unknown_fields_are_named(void **state)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(65536);
	struct error err = ERROR_INIT;
	struct create v = { .minutes = 0 };
	int i;

	(void)state;
	assert_int_equal(read_with("{\"name\":\"a\",\"x\":1,\"y\":2}",
				   JSON_UNKNOWN_REFUSED, &v, &err), -EINVAL);
	assert_string_equal(err.param, "x");
	assert_string_equal(err.message, "Unknown parameters: 'x', 'y'");

	/* As many as a message has room for. */
	error_clear(&err);
	(void)buf_add_str(&text, "{\"name\":\"a\"");
	for (i = 0; i < 500; i++)
		(void)buf_printf(&text, ",\"ä%d\":1", i);
	(void)buf_add_str(&text, "}");
	assert_int_equal(read_with(buf_str(&text), JSON_UNKNOWN_REFUSED, &v,
				   &err), -EINVAL);
	assert_true(strlen(err.message) >= ERROR_MESSAGE_MAX - 4);
}

static void unknown_fields_may_be_ignored(void **state)
{
	struct create create = { .minutes = 0 };
	struct error err;

	(void)state;
	assert_int_equal(read_with("{\"name\":\"a\",\"nome\":1}",
				   JSON_UNKNOWN_IGNORED, &create, &err),
			 0);
}

static void paths_lead_into_nested_objects(void **state)
{
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct create create = { .minutes = 0 };
	struct error err = ERROR_INIT;
	static const char text[] = "{\"minutes\":99}";

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), &o, NULL), 0);
	assert_int_equal(json_read_fields(o, "expires_after", &fields[4], 1,
					  JSON_UNKNOWN_REFUSED, &create, &err),
			 -EINVAL);
	assert_string_equal(err.param, "expires_after.minutes");
	assert_string_equal(err.message, "Invalid 'expires_after.minutes': "
					 "integer is above the maximum of 20");
}

static void items_are_named_by_their_index(void **state)
{
	_cleanup_(json_freep) struct json_object *o = NULL;
	struct error err = ERROR_INIT;
	struct json_string s;
	static const char text[] = "[\"a\",7,\"b\\u0000\"]";

	(void)state;
	assert_int_equal(json_parse(text, strlen(text), &o, NULL), 0);
	assert_int_equal(json_read_string_item(o, "file_ids", 0, &s, &err), 0);
	assert_string_equal(s.data, "a");
	assert_int_equal(json_read_string_item(o, "file_ids", 1, &s, &err),
			 -EINVAL);
	assert_string_equal(err.param, "file_ids[1]");
	assert_string_equal(err.reason, "invalid_type");
	err = ERROR_INIT;
	assert_int_equal(json_read_string_item(o, "file_ids", 2, &s, &err),
			 -EINVAL);
	assert_string_equal(err.param, "file_ids[2]");
	assert_string_equal(err.reason, "invalid_value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_given_is_taken_and_the_rest_stays),
		cmocka_unit_test(each_mistake_has_its_name_and_place),
		cmocka_unit_test(all_unknown_fields_are_named),
		cmocka_unit_test(unknown_fields_may_be_ignored),
		cmocka_unit_test(paths_lead_into_nested_objects),
		cmocka_unit_test(items_are_named_by_their_index),
	};

	return RUN_TESTS(tests);
}
