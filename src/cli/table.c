#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "cli/table.h"
#include "cli/text.h"

struct cell {
	char *text;
	enum table_paint paint;
};

struct table {
	const struct table_column *columns;
	size_t count;
	struct cell *cells; /* row after row */
	size_t rows;
	size_t room; /* in rows */
};

#define EMPTY "-" /* what a cell has in which there is nothing */

#define PAINT_BOLD "\033[1m"
#define PAINT_END "\033[0m"

static const char *const paints[] = {
	[TABLE_PLAIN] = "",
	[TABLE_GOOD] = "\033[32m",
	[TABLE_WARN] = "\033[33m",
	[TABLE_BAD] = "\033[31m",
};
static_assert(sizeof(paints) / sizeof(paints[0]) == TABLE_PAINT_COUNT,
	      "paints[] doesn't match enum table_paint");

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *t;

	if (count == 0 || count > TABLE_COLUMNS_MAX)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->columns = columns;
	t->count = count;
	return t;
}

void table_free(struct table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->rows * t->count; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

static int table_grow(struct table *t)
{
	size_t room = t->room ? 2 * t->room : 16;
	struct cell *cells;

	if (t->rows < t->room)
		return 0;
	cells = reallocarray(t->cells, room, t->count * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	t->cells = cells;
	t->room = room;
	return 0;
}

int table_add(struct table *t, const char *const *cells)
{
	struct cell *row;
	size_t i;

	if (table_grow(t) < 0)
		return -ENOMEM;
	row = t->cells + t->rows * t->count;
	for (i = 0; i < t->count; i++) {
		const char *cell = cells[i] && cells[i][0] ? cells[i] : EMPTY;

		row[i].paint = TABLE_PLAIN;
		row[i].text = text_escape(cell);
		if (!row[i].text)
			break;
	}
	if (i < t->count) {
		while (i-- > 0)
			free(row[i].text);
		return -ENOMEM;
	}
	t->rows++;
	return 0;
}

void table_paint(struct table *t, size_t column, enum table_paint paint)
{
	struct cell *cell;

	assert(t->rows > 0 && column < t->count);
	cell = &t->cells[(t->rows - 1) * t->count + column];
	if (strcmp(cell->text, EMPTY) != 0)
		cell->paint = paint;
}

/* What the locale cannot measure counts one column a byte. */
static size_t text_width(const char *text)
{
	mbstate_t state = { 0 };
	size_t left = strlen(text), width = 0;

	while (left > 0) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, left, &state);
		int columns;

		if (n == 0 || n > left)
			return width + left;
		columns = wcwidth(c);
		width += columns < 0 ? 1 : (size_t)columns;
		text += n;
		left -= n;
	}
	return width;
}

static void print_cell(FILE *out, const char *text, size_t width,
		       const struct table_column *column, bool last,
		       const char *paint)
{
	const char *end = paint[0] ? PAINT_END : "";
	size_t own = text_width(text);
	int pad = own < width ? (int)(width - own) : 0;

	if (column->right)
		fprintf(out, "%*s%s%s%s", pad, "", paint, text, end);
	else if (last) /* no blanks at the end of a line */
		fprintf(out, "%s%s%s", paint, text, end);
	else
		fprintf(out, "%s%s%s%*s", paint, text, end, pad, "");
	fputs(last ? "\n" : "  ", out);
}

static void column_widths(const struct table *t, size_t *widths)
{
	size_t row, i, width;

	for (i = 0; i < t->count; i++)
		widths[i] = text_width(t->columns[i].title);
	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->count; i++) {
			width = text_width(t->cells[row * t->count + i].text);
			if (width > widths[i])
				widths[i] = width;
		}
	}
}

void table_print(const struct table *t, FILE *out, bool colour)
{
	size_t widths[TABLE_COLUMNS_MAX];
	size_t row, i;

	column_widths(t, widths);
	for (i = 0; i < t->count; i++)
		print_cell(out, t->columns[i].title, widths[i], &t->columns[i],
			   i + 1 == t->count, colour ? PAINT_BOLD : "");
	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->count; i++) {
			const struct cell *cell = &t->cells[row * t->count + i];

			print_cell(out, cell->text, widths[i], &t->columns[i],
				   i + 1 == t->count,
				   colour ? paints[cell->paint] : "");
		}
	}
}
