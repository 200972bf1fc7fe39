#ifndef CUPOLA_CLI_TABLE_H
#define CUPOLA_CLI_TABLE_H

/*
 * Tables for people: columns as wide as their widest cell, measured in
 * columns of the terminal and not in bytes.
 *
 * Cells hold names that other people chose. Control characters in them are
 * shown as \xNN, so that a container's name cannot move the cursor of the
 * operator who lists it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"

/**
 * struct table_column - How one column looks
 * @title:	Its heading
 * @right:	Figures stand right-aligned
 */
struct table_column {
	const char *title;
	bool right;
};

struct table;

/**
 * table_new() - Begin an empty table
 * @columns:	One per column; must outlive the table
 * @count:	Number of columns, at most TABLE_COLUMNS_MAX
 *
 * Return: the table, to be ended with table_free(), or NULL without memory
 */
struct table *table_new(const struct table_column *columns, size_t count);

#define TABLE_COLUMNS_MAX 16

/**
 * table_add() - Add one row
 * @t:		The table
 * @cells:	As many strings as there are columns, copied; NULL and "" are
 *		shown as "-"
 *
 * Return: 0, or -ENOMEM
 */
int table_add(struct table *t, const char *const *cells);

/** enum table_paint - Whether a cell is to be worried about */
enum table_paint {
	TABLE_PLAIN,
	TABLE_GOOD,
	TABLE_WARN,
	TABLE_BAD,

	TABLE_PAINT_COUNT,
};

/** table_paint() - Give a cell of the row that was added last a colour, if there
 * is anything in it */
void table_paint(struct table *t, size_t column, enum table_paint paint);

/**
 * table_print() - Write headings and rows
 * @t:		The table
 * @out:	Where to
 * @colour:	Let cells have their colours, and headings the terminal's bold
 */
void table_print(const struct table *t, FILE *out, bool colour);

void table_free(struct table *t);
DEFINE_FREEP(struct table, table_free);

#endif
