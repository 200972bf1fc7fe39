#ifndef CUPOLA_BASE_OPTION_TABLE_H
#define CUPOLA_BASE_OPTION_TABLE_H

/*
 * The command line of a daemon: long options, and nothing else.
 *
 * One table says how the options are spelled, what --help prints of them, and
 * where in the caller's struct each goes. The strings there point into argv.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/** enum option_kind - What an option fills in */
enum option_kind {
	OPTION_FLAG,   /* a bool, set to true; takes no value */
	OPTION_STRING, /* a const char *; the last one given counts */
	OPTION_INT,    /* an int from @min to @max; likewise */
	OPTION_LIST,   /* a struct option_list that gets each value, up to @max */

	OPTION_KIND_COUNT,
};

enum { OPTION_LIST_MAX = 128 };

/** struct option_list - Values of an option that may be repeated, in order */
struct option_list {
	const char *items[OPTION_LIST_MAX];
	size_t count;
};

/**
 * struct option_row - One option
 * @name:	Without dashes
 * @value:	What the help calls its value; NULL for an OPTION_FLAG
 * @help:	Half a line about it
 * @kind:	What it fills in
 * @offset:	Where, in the caller's struct
 * @min:	Of an OPTION_INT; of an OPTION_STRING: its fewest bytes
 * @max:	Of an OPTION_INT or OPTION_LIST
 */
struct option_row {
	const char *name;
	const char *value;
	const char *help;
	enum option_kind kind;
	size_t offset;
	int min;
	int max;
};

/**
 * struct option_table - A program's options
 * @program:	Its name
 * @summary:	What it does, in a sentence
 * @manual:	Where more is written, in a sentence
 * @rows:	The options
 * @count:	How many, at most OPTION_ROWS_MAX
 */
struct option_table {
	const char *program;
	const char *summary;
	const char *manual;
	const struct option_row *rows;
	size_t count;
};

enum { OPTION_ROWS_MAX = 16 };

/**
 * option_table_parse() - Read a command line
 * @table:	What may be in it
 * @object:	The caller's struct, with the defaults in it. What was read
 *		before a failure stays
 * @err:	Says what is wrong
 *
 * Return: 0 or a negative errno
 */
int option_table_parse(const struct option_table *table, int argc, char **argv,
		       void *object, struct error *err);

/** option_table_print() - What --help prints */
void option_table_print(const struct option_table *table);

#endif
