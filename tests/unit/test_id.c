#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/hex.h"
#include "base/id.h"

static void ids_have_their_form_and_differ(void **state)
{
	char a[ID_SIZE], b[ID_SIZE];
	int kind, other;

	(void)state;
	for (kind = 0; kind < ID_KIND_COUNT; kind++) {
		assert_int_equal(id_new((enum id_kind)kind, a), 0);
		assert_int_equal(id_new((enum id_kind)kind, b), 0);
		assert_string_not_equal(a, b);
		assert_in_range(strlen(a), 22, ID_MAX);
		assert_int_equal(strspn(a, "0123456789abcdefghijklmnopqrstuvwx"
					   "yzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"),
				 strlen(a));
		for (other = 0; other < ID_KIND_COUNT; other++)
			assert_int_equal(id_is((enum id_kind)other, a),
					 other == kind);
	}
}

static void long_ids_begin_with_their_second(void **state)
{
	char id[ID_SIZE], from[9], until[9];

	(void)state;
	(void)snprintf(from, sizeof(from), "%08x", (unsigned)time(NULL));
	assert_int_equal(id_new(ID_CONTAINER, id), 0);
	(void)snprintf(until, sizeof(until), "%08x", (unsigned)time(NULL));
	id[strlen("cntr_") + 8] = '\0';
	assert_true(strcmp(id + strlen("cntr_"), from) >= 0);
	assert_true(strcmp(id + strlen("cntr_"), until) <= 0);
}

static void what_has_not_the_form_is_no_id(void **state)
{
	static const char *const bad[] = {
		"",
		"vm_",
		"vm",
		"vm_0123456789012345678901x",
		"vm_012345678901234567890",
		"vm_012345678901234567890/",
		"vm_012345678901234567890\n",
		"Vm_0123456789012345678901",
		" vm_0123456789012345678901",
	};
	size_t i;

	(void)state;
	assert_true(id_is(ID_VM, "vm_0123456789012345678901"));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(id_is(ID_VM, bad[i]));
}

static void all_letters_come_up_about_as_often(void **state)
{
	unsigned count[256] = { 0 };
	char id[ID_SIZE];
	int i;
	size_t at;

	(void)state;
	for (i = 0; i < 10000; i++) {
		assert_int_equal(id_new(ID_FILE, id), 0);
		for (at = strlen(id_prefix(ID_FILE)); id[at]; at++)
			count[(unsigned char)id[at]]++;
	}
	/* 240,000 letters of 62 kinds: 3,871 each, give or take 62. */
	for (at = 'a'; at <= 'z'; at++)
		assert_in_range(count[at], 3300, 4400);
	for (at = '0'; at <= '9'; at++)
		assert_in_range(count[at], 3300, 4400);
}

static void hex_goes_there_and_back(void **state)
{
	const uint8_t bytes[] = { 0x00, 0x7f, 0xff, 0xa5 };
	uint8_t back[4];
	char text[9];

	(void)state;
	hex_encode(bytes, sizeof(bytes), text);
	assert_string_equal(text, "007fffa5");
	assert_int_equal(hex_decode(text, back, sizeof(back)), 0);
	assert_memory_equal(bytes, back, sizeof(back));
	assert_int_equal(hex_decode("007FFFA5", back, sizeof(back)), 0);
	assert_memory_equal(bytes, back, sizeof(back));
}

static void hex_of_another_length_or_alphabet_is_refused(void **state)
{
	uint8_t back[4];

	(void)state;
	assert_int_equal(hex_decode("", back, 4), -EINVAL);
	assert_int_equal(hex_decode("007fffa", back, 4), -EINVAL);
	assert_int_equal(hex_decode("007fffa5a", back, 4), -EINVAL);
	assert_int_equal(hex_decode("007fffg5", back, 4), -EINVAL);
	assert_int_equal(hex_decode("0x7fffa5", back, 4), -EINVAL);
	assert_int_equal(hex_decode(" 07fffa5", back, 4), -EINVAL);
}

static void secrets_are_equal_only_in_every_byte(void **state)
{
	(void)state;
	assert_true(secret_equal("abc", "abc", 3));
	assert_false(secret_equal("abc", "abd", 3));
	assert_false(secret_equal("bbc", "abc", 3));
	assert_true(secret_equal("", "", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_have_their_form_and_differ),
		cmocka_unit_test(long_ids_begin_with_their_second),
		cmocka_unit_test(what_has_not_the_form_is_no_id),
		cmocka_unit_test(all_letters_come_up_about_as_often),
		cmocka_unit_test(hex_goes_there_and_back),
		cmocka_unit_test(hex_of_another_length_or_alphabet_is_refused),
		cmocka_unit_test(secrets_are_equal_only_in_every_byte),
	};

	return RUN_TESTS(tests);
}
