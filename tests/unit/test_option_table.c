#include "test.h"

#include "base/option_table.h"

struct given {
	bool flag;
	const char *text;
	int number;
	struct option_list list;
};

#define TO(field) .offset = offsetof(struct given, field)

static const struct option_row rows[] = {
	{ "flag", NULL, "a switch", OPTION_FLAG, TO(flag) },
	{ "text", "WORD", "a word", OPTION_STRING, TO(text), .min = 1 },
	{ "number", "N", "a number", OPTION_INT, TO(number), .min = 3,
	  .max = 1023 },
	{ "item", "X", "some", OPTION_LIST, TO(list), .max = 2 },
};

static const struct option_table table = {
	.program = "prog",
	.rows = rows,
	.count = sizeof(rows) / sizeof(rows[0]),
};

/* The words of a command line, parted by single spaces. */
static int parse(const char *line, struct given *ret, struct error *err)
{
	static char words[256];
	char *argv[16] = { (char *)"prog" };
	int argc = 1;
	char *word;

	*ret = (struct given){ .text = "default" };
	*err = ERROR_INIT;
	snprintf(words, sizeof(words), "%s", line);
	for (word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return option_table_parse(&table, argc, argv, ret, err);
}

static void values_go_where_the_table_says(void **state)
{
	struct error err;
	struct given g;

	(void)state;
	assert_int_equal(parse("--item=a --flag --number 7 --item b", &g, &err),
			 0);
	assert_true(g.flag);
	assert_string_equal(g.text, "default");
	assert_int_equal(g.number, 7);
	assert_int_equal(g.list.count, 2);
	assert_string_equal(g.list.items[1], "b");
	assert_int_equal(parse("--text x --text y", &g, &err), 0);
	assert_string_equal(g.text, "y");
}

static void refuses(const char *line, const char *why)
{
	struct error err;
	struct given g;

	assert_true(parse(line, &g, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);
	assert_string_equal(err.message, why);
}

static void what_does_not_fit_is_named(void **state)
{
	static const char number[] = "--number needs a number from 3 to 1023";

	(void)state;
	refuses("--number 2", number);
	refuses("--number 1024", number);
	refuses("--number 7x", number);
	refuses("--number=", number);
	refuses("--number 99999999999999999999", number);
	refuses("--text=", "--text needs a value that is not empty");
	refuses("--item a --item b --item c",
		"--item can be given 2 times at most");
	refuses("--flag=yes", "Option '--flag=yes' is not known; see prog "
			      "--help");
	refuses("--other", "Option '--other' is not known; see prog --help");
	refuses("--text", "Option '--text' needs a value; see prog --help");
	refuses("word", "Argument 'word' is not expected; see prog --help");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_go_where_the_table_says),
		cmocka_unit_test(what_does_not_fit_is_named),
	};

	return RUN_TESTS(tests);
}
