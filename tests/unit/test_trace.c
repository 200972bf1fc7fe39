#include "test.h"

#include "base/trace.h"

#define ID "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void a_trace_is_read_and_passed_on(void **state)
{
	struct trace trace;

	(void)state;
	assert_true(trace_read("00-" ID "-" PARENT "-01", &trace));
	assert_string_equal(trace_parent(&trace), "00-" ID "-" PARENT "-01");
	assert_string_equal(trace_id(&trace), ID);
}

static void what_is_not_valid_counts_as_absent(void **state)
{
	static const char *const bad[] = {
		NULL,
		"",
		"00",
		"00-" ID "-" PARENT "-1",
		"00-" ID "-" PARENT "-01-",
		"00-" ID "-" PARENT "-01-more",
		"00-" ID "-" PARENT "-0g",
		"00-" ID "-" PARENT " 01",
		"00_" ID "-" PARENT "-01",
		"ff-" ID "-" PARENT "-01",
		"0F-" ID "-" PARENT "-01",
		"01-" ID "-" PARENT "-01more",
		"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
		"00-00000000000000000000000000000000-" PARENT "-01",
		"00-" ID "-0000000000000000-01",
		"00-" ID "\n-" PARENT "-01",
		"00-" PARENT "-" ID "-01",
	};
	struct trace trace;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(trace_read(bad[i], &trace));
		assert_null(trace_parent(&trace));
		assert_null(trace_id(&trace));
	}
}

static void of_later_versions_what_is_known_goes_on(void **state)
{
	struct trace trace;

	(void)state;
	assert_true(trace_read("cc-" ID "-" PARENT "-fb-more", &trace));
	assert_string_equal(trace_parent(&trace), "00-" ID "-" PARENT "-01");
	assert_true(trace_read("01-" ID "-" PARENT "-02", &trace));
	assert_string_equal(trace_parent(&trace), "00-" ID "-" PARENT "-00");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_is_read_and_passed_on),
		cmocka_unit_test(what_is_not_valid_counts_as_absent),
		cmocka_unit_test(of_later_versions_what_is_known_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
