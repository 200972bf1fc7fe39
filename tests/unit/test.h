#ifndef CUPOLA_TEST_H
#define CUPOLA_TEST_H

/*
 * What every unit test includes first: cmocka, with the headers that it wants
 * before it, and a few things that tests share.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* main() of a test: one group, so that its TAP has one plan. */
#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

/**
 * test_source_path() - Where a file of the source tree is
 * @relative:	As in "tests/unit/data/x.xml"
 * @ret:	Room for the path
 * @size:	Of @ret
 */
static inline void test_source_path(const char *relative, char *ret,
				    size_t size)
{
	const char *top = getenv("abs_top_srcdir");

	assert_in_range(
		snprintf(ret, size, "%s/%s", top ? top : "..", relative), 1,
		size - 1);
}

/**
 * test_make_directory() - A new directory for temporary files
 * @name:	What its name begins with
 * @ret:	Room for the path, which is short enough for sockets below it
 *		unless $TMPDIR is long
 * @size:	Of @ret
 */
static inline void test_make_directory(const char *name, char *ret, size_t size)
{
	const char *top = getenv("TMPDIR");

	assert_in_range(snprintf(ret, size, "%s/%s-XXXXXX", top ? top : "/tmp",
				 name),
			1, size - 1);
	assert_non_null(mkdtemp(ret));
}

#endif
