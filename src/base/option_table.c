#include "base/option_table.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What getopt_long() returns for the first row: not a character. */
#define FIRST_ROW 256

static int take_int(const struct option_row *row, const char *value, int *ret,
		    struct error *err)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(value, &end, 10);
	if (errno || end == value || *end || number < row->min ||
	    number > row->max)
		return error_set(err, ERR_BAD_REQUEST,
				 "--%s needs a number from %d to %d", row->name,
				 row->min, row->max);
	*ret = (int)number;
	return 0;
}

static int take_string(const struct option_row *row, const char *value,
		       const char **ret, struct error *err)
{
	if (strlen(value) < (size_t)row->min)
		return error_set(err, ERR_BAD_REQUEST,
				 "--%s needs a value that is not empty",
				 row->name);
	*ret = value;
	return 0;
}

static int take_item(const struct option_row *row, const char *value,
		     struct option_list *list, struct error *err)
{
	assert(row->max <= OPTION_LIST_MAX);
	if (list->count >= (size_t)row->max)
		return error_set(err, ERR_BAD_REQUEST,
				 "--%s can be given %d times at most",
				 row->name, row->max);
	list->items[list->count++] = value;
	return 0;
}

static int row_take(const struct option_row *row, const char *value,
		    void *object, struct error *err)
{
	void *field = (char *)object + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_STRING:
		return take_string(row, value, field, err);
	case OPTION_INT:
		return take_int(row, value, field, err);
	case OPTION_LIST:
		return take_item(row, value, field, err);
	case OPTION_KIND_COUNT:
		break;
	}
	assert(false);
	return -EINVAL;
}

static void fill_longs(const struct option_table *table,
		       struct option longs[OPTION_ROWS_MAX + 1])
{
	size_t i;

	assert(table->count <= OPTION_ROWS_MAX);
	for (i = 0; i < table->count; i++)
		longs[i] = (struct option){
			.name = table->rows[i].name,
			.has_arg = table->rows[i].value ? required_argument :
							  no_argument,
			.val = FIRST_ROW + (int)i,
		};
	longs[table->count] = (struct option){ .name = NULL };
}

int option_table_parse(const struct option_table *table, int argc, char **argv,
		       void *object, struct error *err)
{
	struct option longs[OPTION_ROWS_MAX + 1];
	int c, r;

	fill_longs(table, longs);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (c < FIRST_ROW)
			return error_set(err, ERR_BAD_REQUEST,
					 "Option '%s' %s; see %s --help",
					 argv[optind - 1],
					 c == ':' ? "needs a value" :
						    "is not known",
					 table->program);
		r = row_take(&table->rows[c - FIRST_ROW], optarg, object, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return error_set(err, ERR_BAD_REQUEST,
				 "Argument '%s' is not expected; see %s --help",
				 argv[optind], table->program);
	return 0;
}

void option_table_print(const struct option_table *table)
{
	size_t i;

	printf("Usage: %s [OPTION]...\n\n%s.\n\nOptions:\n", table->program,
	       table->summary);
	for (i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		char left[48];

		(void)snprintf(left, sizeof(left), "--%s %s", row->name,
			       row->value ? row->value : "");
		printf("  %-25s %s\n", left, row->help);
	}
	printf("\n%s.\n", table->manual);
}
