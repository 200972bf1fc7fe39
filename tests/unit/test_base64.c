#include "test.h"

#include <errno.h>

#include "base/base64.h"

static const struct {
	const char *bytes;
	const char *text;
} pairs[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "\xff\xfe.csv", "//4uY3N2" },
	{ "\xfb\xef\xbe", "++++" },
};

static void both_ways_agree(void **state)
{
	char text[32], bytes[32];
	size_t i, size;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size = strlen(pairs[i].bytes);
		base64_encode(pairs[i].bytes, size, text);
		assert_string_equal(text, pairs[i].text);
		assert_int_equal(strlen(text), BASE64_SIZE(size));
		assert_int_equal(base64_decode(text, bytes, size), size);
		assert_memory_equal(bytes, pairs[i].bytes, size);
	}
}

static void what_no_encoder_writes_is_refused(void **state)
{
	static const char *const texts[] = {
		"Z", "Zg", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "====", "Z===",
		"Zm9v\n", "Zm-v", "Zm_v", " m9v", "=m9v", "Z=9v", "Zm=v",
	};
	char bytes[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(base64_decode(texts[i], bytes, sizeof(bytes)),
				 -EINVAL);
}

static void no_byte_is_written_beyond_the_room(void **state)
{
	char bytes[4] = "xxx";

	(void)state;
	assert_int_equal(base64_decode("Zm9v", bytes, 2), -E2BIG);
	assert_int_equal(base64_decode("Zm9v", bytes, 3), 3);
	assert_int_equal(base64_decode("Zg==", bytes, 0), -E2BIG);
	assert_string_equal(bytes, "foo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_agree),
		cmocka_unit_test(what_no_encoder_writes_is_refused),
		cmocka_unit_test(no_byte_is_written_beyond_the_room),
	};

	return RUN_TESTS(tests);
}
