#include "test.h"

#include <errno.h>

#include "base/error.h"
#include "base/name.h"

static void the_first_error_wins(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_false(error_is_set(&err));
	assert_int_equal(error_set(&err, ERR_NOT_FOUND, "No '%s'", "a"),
			 -ENOENT);
	assert_int_equal(error_set(&err, ERR_LIMIT, "Too many"), -EUSERS);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.message, "No 'a'");

	error_set_param(&err, "a.b");
	error_set_param(&err, "c");
	error_set_reason(&err, "invalid_value");
	error_set_reason(&err, "other");
	assert_string_equal(err.param, "a.b");
	assert_string_equal(err.reason, "invalid_value");
	error_move_param(&err, "d[%d]", 1);
	assert_string_equal(err.param, "d[1]");

	error_clear(&err);
	assert_false(error_is_set(&err));
	assert_string_equal(err.param, "");
}

static void a_purpose_goes_in_front_of_the_cause(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(error_wrap(&err, -EIO, "Cannot x"), -EIO);
	assert_string_equal(err.message, "");
	(void)error_set(&err, ERR_CAPACITY, "all %d VMs are in use", 8);
	assert_int_equal(error_wrap(&err, -EDQUOT, "Cannot start '%s'", "a1"),
			 -EDQUOT);
	assert_string_equal(err.message,
			    "Cannot start 'a1': all 8 VMs are in use");
}

static void nobody_need_listen(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, ERR_CONFLICT, "x"), -EBUSY);
	assert_int_equal(error_set_errno(NULL, -ENOSPC, "x"), -ENOSPC);
	assert_int_equal(error_wrap(NULL, -EIO, "x"), -EIO);
	error_set_param(NULL, "x");
	error_move_param(NULL, "x");
	error_set_reason(NULL, "x");
	error_clear(NULL);
}

static void a_full_disk_is_told_from_other_failures(void **state)
{
	struct error full = ERROR_INIT, other = ERROR_INIT;

	(void)state;
	assert_int_equal(error_set_errno(&full, -ENOSPC, "Cannot write"),
			 -ENOSPC);
	assert_int_equal(full.code, ERR_STORAGE_FULL);
	assert_string_equal(full.message,
			    "Cannot write: No space left on device");
	assert_int_equal(error_set_errno(&other, -EACCES, "Cannot read"),
			 -EACCES);
	assert_int_equal(other.code, ERR_INTERNAL);
}

/* Fills a message with @first bytes and then umlauts of two bytes each. */
static void cut_with_offset(size_t first)
{
	struct error err = ERROR_INIT;
	char text[2 * ERROR_MESSAGE_MAX];
	size_t i;

	memset(text, 'x', first);
	for (i = first; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xbc", 2);
	text[i] = '\0';
	(void)error_set(&err, ERR_INTERNAL, "%s", text);
	assert_true(utf8_is_valid(err.message, strlen(err.message)));
	assert_in_range(strlen(err.message), ERROR_MESSAGE_MAX - 2,
			ERROR_MESSAGE_MAX - 1);
	(void)error_wrap(&err, 0, "Cannot");
	assert_true(utf8_is_valid(err.message, strlen(err.message)));
}

static void a_long_message_is_cut_between_characters(void **state)
{
	(void)state;
	cut_with_offset(0);
	cut_with_offset(1);
}

static void every_code_has_a_name_and_an_errno_of_its_own(void **state)
{
	int a, b;

	(void)state;
	for (a = ERR_NONE + 1; a < ERR_CODE_COUNT; a++) {
		assert_non_null(error_code_name((enum error_code)a));
		assert_true(error_errno((enum error_code)a) < 0);
		for (b = ERR_NONE + 1; b < a; b++)
			assert_int_not_equal(error_errno((enum error_code)a),
					     error_errno((enum error_code)b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_wins),
		cmocka_unit_test(a_purpose_goes_in_front_of_the_cause),
		cmocka_unit_test(nobody_need_listen),
		cmocka_unit_test(a_full_disk_is_told_from_other_failures),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(every_code_has_a_name_and_an_errno_of_its_own),
	};

	return RUN_TESTS(tests);
}
