#include "test.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/name.h"

static bool file_is_allowed(const char *name)
{
	struct error err = ERROR_INIT;
	int r = name_check_file(name, strlen(name), &err);

	assert_int_equal(r < 0, error_is_set(&err));
	return r == 0;
}

static bool path_is_allowed(const char *path)
{
	return name_check_path(path, strlen(path), NULL) == 0;
}

static void ordinary_file_names_are_allowed(void **state)
{
	(void)state;
	assert_true(file_is_allowed("a"));
	assert_true(file_is_allowed("Quarterly results (2).csv"));
	assert_true(file_is_allowed(".hidden"));
	assert_true(file_is_allowed("..."));
	assert_true(file_is_allowed("-rf"));
	assert_true(file_is_allowed("\xe6\x97\xa5\xe6\x9c\xac.txt"));
	assert_true(file_is_allowed("back\\slash\"quote"));
}

static void dangerous_file_names_are_refused(void **state)
{
	(void)state;
	assert_false(file_is_allowed(""));
	assert_false(file_is_allowed("."));
	assert_false(file_is_allowed(".."));
	assert_false(file_is_allowed("a/b"));
	assert_false(file_is_allowed("/"));
	assert_false(file_is_allowed("a\nb"));
	assert_false(file_is_allowed("\x1b[31m"));
	assert_false(file_is_allowed("a\x7f"));
	assert_false(file_is_allowed("a\xc2\x85"));     /* C1 */
	assert_false(file_is_allowed("a\xe2\x80\xa8")); /* U+2028 */
	assert_false(file_is_allowed("a\xff"));
	assert_false(file_is_allowed("\xc0\xae\xc0\xae")); /* overlong .. */
	assert_int_equal(name_check_file("a\0b", 3, NULL), -EINVAL);
}

static void a_file_name_has_at_most_255_bytes(void **state)
{
	struct error err = ERROR_INIT;
	char name[NAME_FILE_MAX + 1];

	(void)state;
	memset(name, 'a', sizeof(name));
	assert_int_equal(name_check_file(name, NAME_FILE_MAX, NULL), 0);
	assert_int_equal(name_check_file(name, sizeof(name), &err), -EINVAL);
	assert_string_equal(err.reason, "string_above_max_length");
}

static void paths_stay_below(void **state)
{
	char path[NAME_PATH_MAX + 2];

	(void)state;
	assert_true(path_is_allowed("a"));
	assert_true(path_is_allowed("plots/q1.png"));
	assert_true(path_is_allowed("a/.b/..c"));
	assert_false(path_is_allowed(""));
	assert_false(path_is_allowed("/etc/passwd"));
	assert_false(path_is_allowed("a/"));
	assert_false(path_is_allowed("a//b"));
	assert_false(path_is_allowed("../x"));
	assert_false(path_is_allowed("a/../b"));
	assert_false(path_is_allowed("a/."));
	memset(path, 'a', sizeof(path));
	for (size_t i = 100; i < sizeof(path); i += 100)
		path[i] = '/';
	assert_int_equal(name_check_path(path, NAME_PATH_MAX, NULL), 0);
	assert_int_equal(name_check_path(path, NAME_PATH_MAX + 1, NULL),
			 -EINVAL);
}

static void only_the_base_of_a_clients_path_is_kept(void **state)
{
	size_t size;

	(void)state;
	assert_string_equal(name_base("a/b.txt", 7, &size), "b.txt");
	assert_int_equal(size, 5);
	assert_string_equal(name_base("C:\\x\\y.csv", 10, &size), "y.csv");
	assert_string_equal(name_base("plain", 5, &size), "plain");
	(void)name_base("dir/", 4, &size);
	assert_int_equal(size, 0);
	(void)name_base("", 0, &size);
	assert_int_equal(size, 0);
}

static void a_title_is_text_of_limited_length(void **state)
{
	(void)state;
	assert_int_equal(name_check_text("My / container", 14, 256, NULL), 0);
	assert_int_equal(name_check_text("", 0, 256, NULL), -EINVAL);
	assert_int_equal(name_check_text("abc", 3, 2, NULL), -EINVAL);
	assert_int_equal(name_check_text("a\tb", 3, 256, NULL), -EINVAL);
}

static void labels_are_plain(void **state)
{
	char name[NAME_LABEL_MAX + 2];

	(void)state;
	assert_true(name_is_label("default"));
	assert_true(name_is_label("python-minimal"));
	assert_true(name_is_label("gpt-4.1_x"));
	assert_false(name_is_label(""));
	assert_false(name_is_label("-a"));
	assert_false(name_is_label(".."));
	assert_false(name_is_label("a/b"));
	assert_false(name_is_label("a b"));
	assert_false(name_is_label("\xc3\xa9"));
	memset(name, 'a', sizeof(name));
	name[NAME_LABEL_MAX + 1] = '\0';
	assert_false(name_is_label(name));
	name[NAME_LABEL_MAX] = '\0';
	assert_true(name_is_label(name));
}

static void a_plain_name_has_letters_digits_and_some_signs(void **state)
{
	static const char signs[] = " -_.";
	static const char *const good[] = {
		"a b-c_d.e9", "\xc3\xa4", "a\xcc\x88", /* one, or two characters */
		"\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\x82", /* with vowel signs */
		"\xe8\xa1\xa8", "\xd9\xa3", /* a digit, too */
	};
	static const char *const bad[] = {
		"a+b", "a/b", "a'b", "\xf0\x9f\x98\x80", "\xe2\x80\xae" "a",
		"a\xc2\xa0" "b", "\xff",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(name_check_plain(good[i], strlen(good[i]),
						  signs, NULL), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(name_check_plain(bad[i], strlen(bad[i]),
						  signs, NULL), -EINVAL);
	/* A NUL is not the end of the signs. */
	assert_int_equal(name_check_plain("a\0", 2, signs, NULL), -EINVAL);
}

static void text_is_cut_between_characters(void **state)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t cuts[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		assert_int_equal(utf8_cut(text, sizeof(text) - 1, i), cuts[i]);
	/* What is no UTF-8 is cut where it comes, so that nobody waits. */
	assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

static void fixed(const char *data, size_t size, const char *expected)
{
	struct buf b = BUF_INIT(100);

	assert_int_equal(utf8_add_fixed(&b, data, size), 0);
	assert_string_equal(buf_str(&b), expected);
	assert_true(utf8_is_valid(b.data, b.length));
	buf_done(&b);
}

static void what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	fixed("", 0, "");
	fixed("plain", 5, "plain");
	fixed("a\xff\xfe"
	      "b",
	      4,
	      "a\xef\xbf\xbd\xef\xbf\xbd"
	      "b");
	fixed("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");
	fixed("\xff\xe2\x82\xac", 4, "\xef\xbf\xbd\xe2\x82\xac");
}

static void normal_form(const char *text, const char *expected)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(64);

	assert_int_equal(name_add_normal(&b, text, strlen(text)), 0);
	assert_string_equal(buf_str(&b), expected);
}

static void names_that_look_the_same_have_one_normal_form(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(3);

	(void)state;
	normal_form("", "");
	normal_form("plain.txt", "plain.txt");
	normal_form("e\xcc\x81", "\xc3\xa9");
	normal_form("\xc3\xa9", "\xc3\xa9");
	normal_form("\xe2\x84\xab", "\xc3\x85"); /* angstrom sign */
	assert_int_equal(name_add_normal(&b, "a\xff", 2), -EILSEQ);
	assert_int_equal(name_add_normal(&b, "abcd", 4), -EMSGSIZE);
	assert_int_equal(b.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_file_names_are_allowed),
		cmocka_unit_test(dangerous_file_names_are_refused),
		cmocka_unit_test(a_file_name_has_at_most_255_bytes),
		cmocka_unit_test(paths_stay_below),
		cmocka_unit_test(only_the_base_of_a_clients_path_is_kept),
		cmocka_unit_test(a_title_is_text_of_limited_length),
		cmocka_unit_test(labels_are_plain),
		cmocka_unit_test(a_plain_name_has_letters_digits_and_some_signs),
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(what_is_not_utf8_is_replaced),
		cmocka_unit_test(names_that_look_the_same_have_one_normal_form),
	};

	return RUN_TESTS(tests);
}
