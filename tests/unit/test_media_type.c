#include "test.h"

#include "base/cleanup.h"
#include "base/media_type.h"

static void the_extension_gives_the_type(void **state)
{
	(void)state;
	assert_string_equal(media_type_of_name("a.csv"), "application/csv");
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
			    "application/csv");
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
			    "application/csv");
	assert_string_equal(media_type_decide("a.csv", NULL), "application/csv");
	assert_string_equal(media_type_decide("a", NULL),
			    "application/octet-stream");
	assert_string_equal(media_type_decide(NULL, "image/png"), "image/png");
}

static void documents_are_zip_archives_and_not_each_other(void **state)
{
	static const char document[] =
		"application/vnd.openxmlformats-officedocument."
		"wordprocessingml.document";

	(void)state;
	assert_string_equal(media_type_decide("a.docx", "application/zip"),
			    document);
	assert_string_equal(media_type_decide("a.zip", document),
			    "application/zip");
	assert_string_equal(media_type_decide("a.pdf", "application/zip"),
			    "application/zip");
	assert_string_equal(media_type_decide("a.zip", "application/x-tar"),
			    "application/x-tar");
	assert_string_equal(media_type_decide("a.tar", "application/pdf"),
			    "application/pdf");
}

static void the_hosted_service_takes_twenty_six(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(256);
	unsigned count = 1;
	const char *s;

	(void)state;
	assert_int_equal(media_type_inputs(&b), 0);
	for (s = buf_str(&b); *s; s++)
		count += *s == ' ';
	assert_int_equal(count, 26);
	assert_true(media_type_is_input("a.CSV"));
	assert_true(media_type_is_input("/mnt/data/a.tar"));
	assert_false(media_type_is_input("a.exe"));
	assert_false(media_type_is_input("a.svg"));
	assert_false(media_type_is_input("csv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_extension_gives_the_type),
		cmocka_unit_test(libmagic_does_not_tell_kinds_of_text_apart),
		cmocka_unit_test(libmagic_contradicts_the_class),
		cmocka_unit_test(without_an_opinion_the_name_decides),
		cmocka_unit_test(documents_are_zip_archives_and_not_each_other),
		cmocka_unit_test(the_hosted_service_takes_twenty_six),
	};

	return RUN_TESTS(tests);
}
