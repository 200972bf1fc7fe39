/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "api/zip_names.h"
#include "base/cleanup.h"
#include "base/name.h"

struct naming {
	const char *path;
	const char *name;
};

/* In this order, in one archive. */
static void check(const struct naming *list, size_t count)
{
	struct zip_names *names = zip_names_new();
	size_t i;

	assert_non_null(names);
	for (i = 0; i < count; i++)
		assert_string_equal(zip_names_add(names, list[i].path),
				    list[i].name);
	zip_names_free(names);
}

#define CHECK(list) check(list, sizeof(list) / sizeof((list)[0]))

static void harmless_names_stay(void **state)
{
	static const struct naming list[] = {
		{ "data.csv", "data.csv" },
		{ "Data.csv", "Data.csv" },
		{ "plots/q 1.png", "plots/q 1.png" },
		{ "plots/q2.png", "plots/q2.png" },
		{ "\xe6\x95\xb0/\xf0\x9f\x98\x80.txt",
		  "\xe6\x95\xb0/\xf0\x9f\x98\x80.txt" },
		{ "e\xcc\x81", "e\xcc\x81" },
		{ "\xc3\xa9", "\xc3\xa9" },
		{ "...", "..." },
		{ ".hidden", ".hidden" },
		{ "-rf *", "-rf *" },
		{ "a%2e%2e", "a%2e%2e" },
	};

	(void)state;
	CHECK(list);
}

static void no_name_leads_out(void **state)
{
	static const struct naming list[] = {
		{ "/etc/passwd", "etc/passwd" },
		{ "//a///b/", "a/b" },
		{ "../../x", "__/__/x" },
		{ "./y", "_/y" },
		{ "z/..", "z/__" },
		{ "..\\..\\w", ".._.._w" },
		{ "\\\\host\\share", "__host_share" },
		{ "C:/Windows/v", "C_/Windows/v" },
		{ "C:v", "C_v" },
		{ "", "_ (2)" },
		{ "///", "_ (3)" },
	};

	(void)state;
	CHECK(list);
}

static void what_is_no_text_is_replaced(void **state)
{
	static const struct naming list[] = {
		{ "a\nb", "a_b" },
		{ "\x1b[31mred", "_[31mred" },
		{ "c\x7f", "c_" },
		{ "c1\xc2\x85", "c1_" },
		{ "l\xe2\x80\xa8", "l_" },
		{ "\xff\xfe.csv", "__.csv" },
		{ "\xc0\xae\xc0\xae/x", "____/x" },
		{ "cut\xe2\x82", "cut__" },
	};

	(void)state;
	CHECK(list);
}

static void names_are_unique(void **state)
{
	static const struct naming list[] = {
		{ "a_b.csv", "a_b.csv" },
		{ "a\\b.csv", "a_b (2).csv" },
		{ "a\nb.csv", "a_b (3).csv" },
		{ "a_b (4).csv", "a_b (4).csv" },
		{ "a\tb.csv", "a_b (4) (5).csv" },
		{ "a_b (4) (5).csv", "a_b (4) (5) (6).csv" },
		{ ".x_", ".x_" },
		{ ".x\n", ".x_ (7)" },
		/* A file where another has its folder, and the reverse. */
		{ "d", "d" },
		{ "d/e", "d (8)/e" },
		{ "f/g", "f/g" },
		{ "f", "f (9)" },
		{ "d/e/h", "d (10)/e/h" },
	};

	(void)state;
	CHECK(list);
}

static void a_number_fits_into_the_longest_name(void **state)
{
	struct zip_names *names = zip_names_new();
	char path[NAME_FILE_MAX + 1];
	const char *name;

	(void)state;
	memset(path, 'x', NAME_FILE_MAX);
	memcpy(path + NAME_FILE_MAX - 4, "\n.gz", 5);
	assert_int_equal(strlen(zip_names_add(names, path)), NAME_FILE_MAX);
	name = zip_names_add(names, path);
	assert_int_equal(strlen(name), NAME_FILE_MAX);
	assert_string_equal(name + NAME_FILE_MAX - 8, "x (2).gz");
	zip_names_free(names);
}

static void a_path_beyond_the_limit_is_refused(void **state)
{
	struct zip_names *names = zip_names_new();
	char path[NAME_PATH_MAX + 2];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[NAME_PATH_MAX + 1] = '\0';
	assert_null(zip_names_add(names, path));
	path[NAME_PATH_MAX] = '\0';
	assert_non_null(zip_names_add(names, path));
	zip_names_free(names);
}

/* All sixteen thousand become the same name, and cost no more than others. */
static void many_equal_names_take_no_time(void **state)
{
	struct zip_names *names = zip_names_new();
	char path[] = "______________";
	unsigned i, bit;

	(void)state;
	for (i = 0; i < 1u << 14; i++) {
		for (bit = 0; bit < 14; bit++)
			path[bit] = i & 1u << bit ? '\\' : '_';
		assert_non_null(zip_names_add(names, path));
	}
	zip_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harmless_names_stay),
		cmocka_unit_test(no_name_leads_out),
		cmocka_unit_test(what_is_no_text_is_replaced),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(a_number_fits_into_the_longest_name),
		cmocka_unit_test(a_path_beyond_the_limit_is_refused),
		cmocka_unit_test(many_equal_names_take_no_time),
	};

	return RUN_TESTS(tests);
}
