#ifndef CUPOLA_BASE_SETTINGS_VALUE_H
#define CUPOLA_BASE_SETTINGS_VALUE_H

/* One value of a setting: text in, number out. Private to base. */

#include "base/settings.h"

/**
 * struct setting_value - A value, as it was written and as it is used
 * @text:	As written; owned
 * @number:	0 or 1, a count, bytes, or microseconds, by type
 * @fraction:	For SETTING_NUMBER
 */
struct setting_value {
	char *text;
	uint64_t number;
	double fraction;
};

/**
 * setting_parse() - Read and check a value
 * @row:	What it must be
 * @text:	As written
 * @ret:	The value, for setting_value_done()
 * @err:	Says what is wrong, as in "'x' is not a number"
 *
 * Return: 0 or a negative errno
 */
int setting_parse(const struct setting *row, const char *text,
		  struct setting_value *ret, struct error *err);

/** setting_value_done() - Release a value */
void setting_value_done(struct setting_value *v);

#endif
