#ifndef CUPOLA_BASE_SETTINGS_FILE_H
#define CUPOLA_BASE_SETTINGS_FILE_H

/* What settings_file.c needs of settings.c. Private to base. */

#include "base/settings.h"

/**
 * settings_assign_from_file() - Take a value that a file gives
 * @s:		Settings
 * @section:	Section
 * @key:	Key
 * @text:	Value
 * @err:	Says what is wrong
 *
 * Return: 0 or a negative errno
 */
int settings_assign_from_file(struct settings *s, const char *section,
			      const char *key, const char *text,
			      struct error *err);

#endif
