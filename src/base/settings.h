#ifndef CUPOLA_BASE_SETTINGS_H
#define CUPOLA_BASE_SETTINGS_H

/*
 * Settings: a table of what there is, a file and the command line.
 *
 * The table (settings_table.c) is shared by cupolad and cupola-vmd, which read
 * the same file and the same --set options, so that neither can see a value
 * that the other does not. The file is in INI form:
 *
 *	[session]
 *	idle = 1800
 *	[pool.default]
 *	memory = 1G
 *
 * A section such as pool.NAME is open: each name that is mentioned is an
 * instance with values of its own; [pool] is short for [pool.default]. Unknown
 * sections and keys, values out of range and keys given twice are errors that
 * name the place. --set wins over the file, the file over the defaults of
 * settings_set_default(), and those over the table's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/** enum setting_type - What a value may be */
enum setting_type {
	SETTING_STRING,  /* @min to @max bytes without control characters */
	SETTING_CHOICE,  /* one of the words of @choices */
	SETTING_BOOL,    /* yes, no, true, false, on, off, 1, 0 */
	SETTING_UINT,    /* @min to @max */
	SETTING_SECONDS, /* seconds, or with a unit: 500ms 90s 30m 24h 7d */
	SETTING_SIZE,    /* bytes, or with a unit: 64K 512M 1G 1T */
	SETTING_NUMBER,  /* decimal fraction, @min to @max thousandths */

	SETTING_TYPE_COUNT,
};

/**
 * struct setting - One row of the table
 * @section:	As in "session"; "pool.*" for an open one
 * @key:	As in "idle"
 * @type:	What it may be
 * @fallback:	Its default, written as in the file
 * @min:	Smallest: bytes, count, milliseconds or thousandths by @type
 * @max:	Largest, in the same unit; 0 is no limit but the type's own
 * @choices:	For SETTING_CHOICE: words with single spaces between
 * @help:	One line for people
 */
struct setting {
	const char *section;
	const char *key;
	enum setting_type type;
	const char *fallback;
	uint64_t min;
	uint64_t max;
	const char *choices;
	const char *help;
};

/* The table of both programs, see settings_table.c. */
extern const struct setting settings_table[];
extern const size_t settings_table_count;

struct settings;

/**
 * settings_new() - All defaults
 * @table:	Rows, which must outlive the settings; a default that is not a
 *		good value is a bug
 * @count:	How many
 * @ret_settings:	The settings, for settings_free()
 *
 * Each open section has an instance "default" from the start.
 *
 * Return: 0 or -ENOMEM
 */
int settings_new(const struct setting *table, size_t count,
		 struct settings **ret_settings);

/** settings_free() - End settings; strings got from them end, too */
void settings_free(struct settings *s);
void settings_freep(struct settings **s);

/**
 * settings_load_file() - Read a file
 * @s:		Settings
 * @path:	File
 * @err:	Says what is wrong, as "PATH:LINE: …"; a file that is not there is
 *		an error, too
 *
 * Return: 0 or a negative errno; values may be partly taken then
 */
int settings_load_file(struct settings *s, const char *path, struct error *err);

/**
 * settings_load_text() - Read what a file would hold
 * @s:		Settings
 * @name:	What errors call it
 * @text:	Bytes
 * @size:	How many
 * @err:	As settings_load_file()
 *
 * Return: as settings_load_file()
 */
int settings_load_text(struct settings *s, const char *name, const char *text,
		       size_t size, struct error *err);

/**
 * settings_set() - Take one assignment from the command line
 * @s:		Settings
 * @assignment:	"section.key=value"; the last dot before '=' ends the section
 * @err:	Says what is wrong
 *
 * The last assignment to a key wins.
 *
 * Return: 0 or a negative errno
 */
int settings_set(struct settings *s, const char *assignment, struct error *err);

/**
 * settings_set_default() - Change a default, as development mode does
 * @s:		Settings
 * @assignment:	"section.key=value", which must be good; for a key of an open
 *		section, "pool.*.max=64", it is the default of all instances
 *
 * Return: 0 or -ENOMEM
 */
int settings_set_default(struct settings *s, const char *assignment);

/**
 * settings_instance() - Which instances an open section has
 * @s:		Settings
 * @prefix:	As in "pool"
 * @i:		Counted from 0, in the order of first mention; "default" is first
 *
 * Return: the name, as in "default", or NULL beyond the last
 */
const char *settings_instance(const struct settings *s, const char *prefix,
			      size_t i);

/*
 * Getters. Section and key must be in the table, with that type; an instance of
 * an open section, "pool.big", need not exist and then has the defaults. All
 * else is a bug of the caller and asserted.
 */

/** settings_string() - A SETTING_STRING or SETTING_CHOICE; never NULL */
const char *settings_string(const struct settings *s, const char *section,
			    const char *key);

/** settings_bool() - A SETTING_BOOL */
bool settings_bool(const struct settings *s, const char *section,
		   const char *key);

/** settings_uint() - A SETTING_UINT */
uint64_t settings_uint(const struct settings *s, const char *section,
		       const char *key);

/** settings_usec() - A SETTING_SECONDS, in microseconds */
usec_t settings_usec(const struct settings *s, const char *section,
		     const char *key);

/** settings_bytes() - A SETTING_SIZE */
uint64_t settings_bytes(const struct settings *s, const char *section,
			const char *key);

/** settings_number() - A SETTING_NUMBER */
double settings_number(const struct settings *s, const char *section,
		       const char *key);

/**
 * settings_is_set() - Whether file or command line say anything of a key
 *
 * Tells "the default" from "the same value, asked for".
 */
bool settings_is_set(const struct settings *s, const char *section,
		     const char *key);

#endif
