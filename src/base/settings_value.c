#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/settings_value.h"

/** struct unit - What may stand behind a number, and what it multiplies by */
struct unit {
	const char *name;
	uint64_t factor;
};

/* Values of time are kept in microseconds; their limits are milliseconds. */
static const struct unit time_units[] = {
	{ "", USEC_PER_SEC },
	{ "ms", USEC_PER_MSEC },
	{ "s", USEC_PER_SEC },
	{ "m", USEC_PER_MINUTE },
	{ "h", USEC_PER_HOUR },
	{ "d", USEC_PER_DAY },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "K", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 },
	{ NULL, 0 },
};

static const struct unit no_units[] = {
	{ "", 1 },
	{ NULL, 0 },
};

static int bad(struct error *err, const char *text, const char *what)
{
	return error_set(err, ERR_BAD_REQUEST, "'%s' is not %s", text, what);
}

static int parse_string(const struct setting *row, const char *text,
			struct setting_value *ret, struct error *err)
{
	const size_t length = strlen(text);

	(void)ret;
	if (length > 0 && name_check_text(text, length, length, NULL) < 0)
		return error_set(
			err, ERR_BAD_REQUEST,
			"the value must be UTF-8 without control characters");
	if (length < row->min)
		return error_set(err, ERR_BAD_REQUEST,
				 "the value must have at least %" PRIu64
				 " bytes",
				 row->min);
	if (row->max > 0 && length > row->max)
		return error_set(err, ERR_BAD_REQUEST,
				 "the value must have at most %" PRIu64
				 " bytes",
				 row->max);
	return 0;
}

static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);
	const char *at = words;

	while (length > 0 && (at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') &&
		    (at[length] == ' ' || at[length] == '\0'))
			return true;
		at += length;
	}
	return false;
}

static int parse_choice(const struct setting *row, const char *text,
			struct setting_value *ret, struct error *err)
{
	(void)ret;
	if (strchr(text, ' ') || !has_word(row->choices, text))
		return error_set(err, ERR_BAD_REQUEST, "'%s' is not one of: %s",
				 text, row->choices);
	return 0;
}

static int parse_bool(const struct setting *row, const char *text,
		      struct setting_value *ret, struct error *err)
{
	(void)row;
	if (has_word("yes true on 1", text) && !strchr(text, ' '))
		ret->number = 1;
	else if (has_word("no false off 0", text) && !strchr(text, ' '))
		ret->number = 0;
	else
		return bad(err, text, "yes or no");
	return 0;
}

/* Reads digits and a unit; what overflows is no number. */
static int parse_scaled(const char *text, const struct unit *units,
			uint64_t *ret)
{
	uint64_t value;
	char *end;
	size_t i;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0)
		return -EINVAL;
	for (i = 0; units[i].name; i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		if (value > UINT64_MAX / units[i].factor)
			return -EINVAL;
		*ret = value * units[i].factor;
		return 0;
	}
	return -EINVAL;
}

/* Limits as people would write them. */
static int fail_range(const struct setting *row, const char *text,
		      struct error *err)
{
	if (row->type == SETTING_SECONDS || row->type == SETTING_NUMBER)
		return error_set(
			err, ERR_BAD_REQUEST, "'%s' is not between %g and %g%s",
			text, (double)row->min / 1000, (double)row->max / 1000,
			row->type == SETTING_SECONDS ? " seconds" : "");
	return error_set(err, ERR_BAD_REQUEST,
			 "'%s' is not between %" PRIu64 " and %" PRIu64 "%s",
			 text, row->min, row->max,
			 row->type == SETTING_SIZE ? " bytes" : "");
}

/* @limit_unit: how many units of the value one unit of the limits is */
static int check_range(const struct setting *row, const char *text,
		       uint64_t value, uint64_t limit_unit, struct error *err)
{
	if (value < row->min * limit_unit ||
	    (row->max > 0 && value > row->max * limit_unit))
		return fail_range(row, text, err);
	return 0;
}

static int parse_uint(const struct setting *row, const char *text,
		      struct setting_value *ret, struct error *err)
{
	if (parse_scaled(text, no_units, &ret->number) < 0)
		return bad(err, text, "a whole number");
	return check_range(row, text, ret->number, 1, err);
}

static int parse_seconds(const struct setting *row, const char *text,
			 struct setting_value *ret, struct error *err)
{
	if (parse_scaled(text, time_units, &ret->number) < 0)
		return bad(err, text,
			   "a number of seconds, or of ms, s, m, h or d");
	return check_range(row, text, ret->number, USEC_PER_MSEC, err);
}

static int parse_size(const struct setting *row, const char *text,
		      struct setting_value *ret, struct error *err)
{
	if (parse_scaled(text, size_units, &ret->number) < 0)
		return bad(err, text, "a number of bytes, or of K, M, G or T");
	return check_range(row, text, ret->number, 1, err);
}

static int parse_fraction(const struct setting *row, const char *text,
			  struct setting_value *ret, struct error *err)
{
	char *end;

	/* strtod() would also take " 1", "0x1p3", "inf" and "nan". */
	if (text[0] == '\0' || strspn(text, "0123456789.") != strlen(text))
		return bad(err, text, "a decimal number");
	ret->fraction = strtod(text, &end);
	if (*end != '\0' || end == text)
		return bad(err, text, "a decimal number");
	if (ret->fraction < (double)row->min / 1000 ||
	    (row->max > 0 && ret->fraction > (double)row->max / 1000))
		return fail_range(row, text, err);
	return 0;
}

static int (*const parsers[])(const struct setting *row, const char *text,
			      struct setting_value *ret, struct error *err) = {
	[SETTING_STRING] = parse_string,   [SETTING_CHOICE] = parse_choice,
	[SETTING_BOOL] = parse_bool,       [SETTING_UINT] = parse_uint,
	[SETTING_SECONDS] = parse_seconds, [SETTING_SIZE] = parse_size,
	[SETTING_NUMBER] = parse_fraction,
};
_Static_assert(sizeof(parsers) / sizeof(parsers[0]) == SETTING_TYPE_COUNT,
	       "parsers[] doesn't match enum setting_type");

int setting_parse(const struct setting *row, const char *text,
		  struct setting_value *ret, struct error *err)
{
	struct setting_value value = { .text = NULL };
	int r;

	r = parsers[row->type](row, text, &value, err);
	if (r < 0)
		return r;
	value.text = strdup(text);
	if (!value.text)
		return error_set(err, ERR_INTERNAL,
				 "Out of memory for settings");
	*ret = value;
	return 0;
}

void setting_value_done(struct setting_value *v)
{
	free(v->text);
	v->text = NULL;
}
