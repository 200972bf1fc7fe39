#include "test.h"

#include <locale.h>
#include <time.h>

#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/text.h"

/* What a function writes to a stream, as a string to be freed. */
static char *written(void (*write)(FILE *to, void *userdata), void *userdata)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	write(to, userdata);
	assert_int_equal(fclose(to), 0);
	return text;
}

static void controls_are_made_visible(void **state)
{
	_cleanup_free_ char *text =
		text_escape("a\x1b[31m\n\x7f\xc2\x9b\xc3\xa9");

	(void)state;
	assert_string_equal(text, "a\\x1b[31m\\x0a\\x7f\\xc2\\x9b\xc3\xa9");
}

static void what_reorders_text_is_made_visible(void **state)
{
	_cleanup_free_ char *text = text_escape(
		"\xe2\x80\xae" "fdp.exe\xe2\x81\xa6 \xe2\x82\xac\xe2\x80\x9c\xe2\x80");

	(void)state;
	assert_string_equal(text, "\\xe2\\x80\\xae" "fdp.exe\\xe2\\x81\\xa6 "
				  "\xe2\x82\xac\xe2\x80\x9c\xe2\x80");
}

static void write_to_terminal(FILE *to, void *userdata)
{
	const char *text = userdata;

	assert_int_equal(text_write_output(to, text, strlen(text), true), 0);
}

static void write_to_file(FILE *to, void *userdata)
{
	const char *text = userdata;

	assert_int_equal(text_write_output(to, text, strlen(text), false), 0);
}

static void a_terminal_gets_colours_and_nothing_worse(void **state)
{
	static char text[] = "\x1b[1;31mred\x1b[0m\r\n\tx"
			     "\x1b]0;title\x07\x1b[2J\x1b[3";
	_cleanup_free_ char *terminal = written(write_to_terminal, text);
	_cleanup_free_ char *file = written(write_to_file, text);

	(void)state;
	assert_string_equal(terminal, "\x1b[1;31mred\x1b[0m\r\n\tx"
				      "\\x1b]0;title\\x07\\x1b[2J\\x1b[3");
	assert_string_equal(file, text);
}

static void write_and_end(FILE *to, void *userdata)
{
	write_to_terminal(to, userdata);
	text_end_colours();
}

static void no_colour_outlives_the_output(void **state)
{
	_cleanup_free_ char *hidden = written(write_and_end, "a\x1b[8mb\n");
	_cleanup_free_ char *ended = written(write_and_end, "\x1b[31ma\x1b[m");

	(void)state;
	assert_string_equal(hidden, "a\x1b[8mb\n\x1b[0m");
	assert_string_equal(ended, "\x1b[31ma\x1b[m");
}

static void figures_are_short(void **state)
{
	char room[TEXT_SHORT_MAX];

	(void)state;
	assert_string_equal(text_count(0, "VM", room), "0 VMs");
	assert_string_equal(text_count(1, "session", room), "1 session");
	assert_string_equal(text_bytes(0, room), "0 B");
	assert_string_equal(text_bytes(999, room), "999 B");
	assert_string_equal(text_bytes(1023, room), "1023 B");
	assert_string_equal(text_bytes(1024, room), "1.0 KiB");
	assert_string_equal(text_bytes(104857600, room), "100 MiB");
	assert_string_equal(text_bytes(1048575, room), "1.0 MiB");
	assert_string_equal(text_bytes(UINT64_MAX, room), "16777216 TiB");
	assert_string_equal(text_seconds(119, room), "119 s");
	assert_string_equal(text_seconds(120, room), "2 min");
	assert_string_equal(text_seconds(7500, room), "2 h 05 min");
	assert_string_equal(text_seconds(200000, room), "2 d");
	assert_string_equal(text_seconds(-1, room), "-");
	assert_string_equal(text_until(0, room), "-");
	assert_string_equal(text_until(1, room), "0 s");
	assert_string_equal(text_since((int64_t)time(NULL) + 60, room), "0 s");
}

static void print_table(FILE *to, void *userdata)
{
	table_print(userdata, to, false);
}

static void columns_line_up_whatever_is_in_them(void **state)
{
	static const struct table_column columns[] = {
		{ "NAME", false },
		{ "SIZE", true },
		{ "NOTE", false },
	};
	static const char *const rows[][3] = {
		{ "\xe6\x97\xa5\xe6\x9c\xac", "1", "wide" }, /* 4 columns */
		{ "e\xcc\x81t\xc3\xa9", "1000", "" },        /* 3 columns */
		{ "a\nb", NULL, "x" },
	};
	_cleanup_(table_freep) struct table *t = table_new(columns, 3);
	_cleanup_free_ char *text = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(table_add(t, rows[i]), 0);
	text = written(print_table, t);
	assert_string_equal(text, "NAME    SIZE  NOTE\n"
				  "\xe6\x97\xa5\xe6\x9c\xac       1  wide\n"
				  "e\xcc\x81t\xc3\xa9     1000  -\n"
				  "a\\x0ab     -  x\n");
}

static void print_in_colour(FILE *to, void *userdata)
{
	table_print(userdata, to, true);
}

static void an_empty_cell_has_no_colour(void **state)
{
	static const struct table_column columns[] = { { "N", false } };
	_cleanup_(table_freep) struct table *t = table_new(columns, 1);
	_cleanup_free_ char *text = NULL;
	static const char *const cells[] = { "", "bad" };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_int_equal(table_add(t, &cells[i]), 0);
		table_paint(t, 0, TABLE_BAD);
	}
	text = written(print_in_colour, t);
	assert_non_null(strstr(text, "\n-\n"));
	assert_non_null(strstr(text, "\n\033[31mbad\033[0m\n"));
}

static void many_rows_are_kept(void **state)
{
	static const struct table_column columns[] = { { "N", true } };
	_cleanup_(table_freep) struct table *t = table_new(columns, 1);
	_cleanup_free_ char *text = NULL;
	const char *cell = "7";
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_int_equal(table_add(t, &cell), 0);
	text = written(print_table, t);
	assert_int_equal(strlen(text), 1001 * 2);
}

static void options_stand_where_they_like(void **state)
{
	char *argv[] = { (char *)"exec",
			 (char *)"cntr_1",
			 (char *)"--json",
			 (char *)"-t",
			 (char *)"2.5",
			 (char *)"--file=a",
			 (char *)"--file",
			 (char *)"b",
			 (char *)"--",
			 (char *)"-x",
			 NULL };
	struct cli cli = { .command = "exec" };
	struct args_list files = { .count = 0 };
	double seconds = 0;
	const struct args_option options[] = {
		{ "timeout", 't', "S", "", .seconds = &seconds },
		{ "file", 'f', "F", "", .list = &files },
		{ .name = NULL },
	};
	struct args args;

	(void)state;
	assert_int_equal(args_parse(&cli, 10, argv, options, 1, 2, &args), 0);
	assert_true(cli.json);
	assert_true(seconds > 2.4 && seconds < 2.6);
	assert_int_equal(files.count, 2);
	assert_string_equal(files.items[1], "b");
	assert_int_equal(args.count, 2);
	assert_string_equal(args.items[1], "-x");
}

static void bad_options_are_named(void **state)
{
	static const char *const lines[][3] = {
		{ "ps", "--bogus", "--bogus" },
		{ "ps", "--tenant", "--tenant" },
		{ "ps", "surplus", "too many" },
		{ "exec", "--timeout=-1", "--timeout" },
		{ "exec", "--timeout=1x", "1x" },
		{ "exec", "--timeout=inf", "inf" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *argv[] = { (char *)lines[i][0], (char *)lines[i][1],
				 NULL };
		struct cli cli = { .command = lines[i][0] };

		/* Found before anything is asked of a daemon. */
		assert_int_equal(
			cli_command_find(lines[i][0])->run(&cli, 2, argv),
			-CLI_USAGE);
		assert_non_null(strstr(cli.message, lines[i][2]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_are_made_visible),
		cmocka_unit_test(what_reorders_text_is_made_visible),
		cmocka_unit_test(a_terminal_gets_colours_and_nothing_worse),
		cmocka_unit_test(no_colour_outlives_the_output),
		cmocka_unit_test(figures_are_short),
		cmocka_unit_test(columns_line_up_whatever_is_in_them),
		cmocka_unit_test(an_empty_cell_has_no_colour),
		cmocka_unit_test(many_rows_are_kept),
		cmocka_unit_test(options_stand_where_they_like),
		cmocka_unit_test(bad_options_are_named),
	};

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	return RUN_TESTS(tests);
}
