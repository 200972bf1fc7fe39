#include "test.h"

#include "store/media_type.h"

static void the_extension_gives_the_type(void **state)
{
	(void)state;
	assert_string_equal(media_type_of_name("a.csv"), "text/csv");
	assert_string_equal(media_type_of_name("A.B.PNG"), "image/png");
	assert_string_equal(media_type_of_name("/mnt/data.d/a.json"),
			    "application/json");
	assert_null(media_type_of_name("csv"));
	assert_null(media_type_of_name(".csv"));
	assert_null(media_type_of_name("a."));
	assert_null(media_type_of_name("a.d/csv"));
	assert_null(media_type_of_name(""));
}

static void libmagic_does_not_tell_kinds_of_text_apart(void **state)
{
	(void)state;
	assert_string_equal(media_type_decide("a.csv", "text/plain"),
			    "text/csv");
	assert_string_equal(media_type_decide("a.py", "text/html"),
			    "text/x-python");
	assert_string_equal(media_type_decide("a.json", "text/plain"),
			    "application/json");
	assert_string_equal(media_type_decide("a.txt", "application/json"),
			    "text/plain");
}

static void libmagic_contradicts_the_class(void **state)
{
	(void)state;
	assert_string_equal(media_type_decide("a.png", "text/html"),
			    "text/html");
	assert_string_equal(media_type_decide("a.csv", "application/zip"),
			    "application/zip");
	assert_string_equal(media_type_decide("a.ts", "video/mp2t"),
			    "video/mp2t");
}

static void without_an_opinion_the_name_decides(void **state)
{
	(void)state;
	assert_string_equal(
		media_type_decide("a.png", "application/octet-stream"),
		"image/png");
	assert_string_equal(media_type_decide("a.csv", "inode/x-empty"),
			    "text/csv");
	assert_string_equal(media_type_decide("a.csv", NULL), "text/csv");
	assert_string_equal(media_type_decide("a", NULL),
			    "application/octet-stream");
	assert_string_equal(media_type_decide(NULL, "image/png"), "image/png");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_extension_gives_the_type),
		cmocka_unit_test(libmagic_does_not_tell_kinds_of_text_apart),
		cmocka_unit_test(libmagic_contradicts_the_class),
		cmocka_unit_test(without_an_opinion_the_name_decides),
	};

	return RUN_TESTS(tests);
}
