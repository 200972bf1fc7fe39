/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "turn/cite.h"

/* Files that there are, NULL at the end. */
static const char *const files[] = {
	"/mnt/data/table.csv",	  "/mnt/data/my file.csv",
	"/mnt/data/a (1).csv",	  "/mnt/data/sub/x.png",
	"/mnt/data/\xc3\xa9.txt", "/mnt/data/v1.2",
	"/mnt/data/v1",		  NULL,
};

struct found {
	struct buf text;
};

static const void *find(void *userdata, const char *path)
{
	(void)userdata;
	for (size_t i = 0; files[i]; i++)
		if (strcmp(files[i], path) == 0)
			return files[i];
	return NULL;
}

static int each(void *userdata, const struct cite_mention *mention)
{
	struct found *found = userdata;
	const char *path = mention->file;

	return buf_printf(&found->text, "%s %zu-%zu;",
			  path + strlen("/mnt/data/"), mention->start,
			  mention->end);
}

static void cites(const char *text, const char *expected)
{
	struct found found = { .text = BUF_INIT(4096) };

	assert_int_equal(cite_scan(text, strlen(text), find, each, &found), 0);
	assert_string_equal(buf_str(&found.text), expected);
	buf_done(&found.text);
}

static void a_link_is_cited_by_code_points(void **state)
{
	(void)state;
	cites("[table.csv](sandbox:/mnt/data/table.csv)", "table.csv 12-39;");
	cites("\xf0\x9f\x99\x82 [t](sandbox:/mnt/data/table.csv)",
	      "table.csv 6-33;");
	cites("sandbox:/mnt/data/\xc3\xa9.txt and more",
	      "\xc3\xa9.txt 0-23;");
}

static void each_mention_is_cited(void **state)
{
	(void)state;
	cites("sandbox:/mnt/data/table.csv sandbox:/mnt/data/table.csv\n"
	      "`sandbox:/mnt/data/sub/x.png`",
	      "table.csv 0-27;table.csv 28-55;sub/x.png 57-84;");
}

static void punctuation_behind_a_name_is_not_part_of_it(void **state)
{
	(void)state;
	cites("See sandbox:/mnt/data/table.csv.", "table.csv 4-31;");
	cites("**sandbox:/mnt/data/table.csv**!", "table.csv 2-29;");
	cites("sandbox:/mnt/data/v1.2.", "v1.2 0-22;");
	cites("\"sandbox:/mnt/data/v1\"", "v1 1-21;");
}

static void names_may_have_spaces_and_parentheses(void **state)
{
	(void)state;
	cites("[x](sandbox:/mnt/data/my file.csv)", "my file.csv 4-33;");
	cites("[x](sandbox:/mnt/data/my%20file.csv)", "my file.csv 4-35;");
	cites("[x](sandbox:/mnt/data/a (1).csv)", "a (1).csv 4-31;");
	cites("[x](sandbox:/mnt/data/%C3%A9.txt)", "\xc3\xa9.txt 4-32;");
}

static void what_is_no_file_is_not_cited(void **state)
{
	(void)state;
	cites("", "");
	cites("sandbox:/mnt/data/", "");
	cites("sandbox:/mnt/data/none.csv (sandbox:/mnt/data/table.csv)",
	      "table.csv 28-55;");
	cites("/mnt/data/table.csv sandbox:/mnt/other/table.csv", "");
	cites("sandbox:/mnt/data/%00table.csv", "");
	cites("sandbox:/mnt/data/table.csvx", "");
}

static void a_length_counts_code_points(void **state)
{
	(void)state;
	assert_int_equal(cite_length("", 0), 0);
	assert_int_equal(cite_length("a\xc3\xa9\xf0\x9f\x99\x82", 7), 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_cited_by_code_points),
		cmocka_unit_test(each_mention_is_cited),
		cmocka_unit_test(punctuation_behind_a_name_is_not_part_of_it),
		cmocka_unit_test(names_may_have_spaces_and_parentheses),
		cmocka_unit_test(what_is_no_file_is_not_cited),
		cmocka_unit_test(a_length_counts_code_points),
	};

	return RUN_TESTS(tests);
}
