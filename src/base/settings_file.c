#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/settings_file.h"

/*
 * The INI form is inih's, which cuts silently what is too long for its arrays
 * and does not say at which line it calls. So lines are handed to it one by
 * one, counted, and refused here when it would cut them.
 */

enum {
	/* One less than inih's array for the name of a section. */
	SECTION_NAME_MAX = 49,
};

struct reading {
	struct settings *settings;
	const char *name;
	const char *at;
	const char *end;
	unsigned line;
	struct error *err;
	int failure;
};

static void fail_line(struct reading *reading, const char *why)
{
	reading->failure = error_set(reading->err, ERR_BAD_REQUEST, "%s:%u: %s",
				     reading->name, reading->line, why);
}

static bool section_name_fits(const char *line, size_t length)
{
	const char *open = memchr(line, '[', length), *close;

	if (!open)
		return true;
	close = memchr(open, ']', length - (size_t)(open - line));
	/* In other lines a '[' is part of a value, and those begin with a key. */
	if (memchr(line, '=', (size_t)(open - line)) || !close)
		return true;
	return close - open - 1 <= SECTION_NAME_MAX;
}

/* Gives inih the next line, as fgets() would. */
static char *next_line(char *line, int size, void *stream)
{
	struct reading *reading = stream;
	const size_t left = (size_t)(reading->end - reading->at);
	const char *newline;
	size_t length;

	if (left == 0 || reading->failure < 0)
		return NULL;
	newline = memchr(reading->at, '\n', left);
	length = newline ? (size_t)(newline - reading->at) + 1 : left;
	reading->line++;
	if (length >= (size_t)size)
		fail_line(reading, "the line is too long");
	else if (memchr(reading->at, '\0', length))
		fail_line(reading, "the line contains a NUL");
	else if (!section_name_fits(reading->at, length))
		fail_line(reading, "the name of the section is too long");
	if (reading->failure < 0)
		return NULL;
	memcpy(line, reading->at, length);
	line[length] = '\0';
	reading->at += length;
	return line;
}

static int on_value(void *userdata, const char *section, const char *key,
		    const char *value)
{
	struct reading *reading = userdata;
	int r;

	if (reading->failure < 0)
		return 0;
	r = settings_assign_from_file(reading->settings, section, key, value,
				      reading->err);
	if (r < 0)
		reading->failure = error_wrap(reading->err, r, "%s:%u",
					      reading->name, reading->line);
	return r == 0;
}

int settings_load_text(struct settings *s, const char *name, const char *text,
		       size_t size, struct error *err)
{
	struct reading reading = { .settings = s,
				   .name = name,
				   .at = text,
				   .end = text + size,
				   .err = err };
	int r;

	r = ini_parse_stream(next_line, &reading, on_value, &reading);
	if (reading.failure < 0)
		return reading.failure;
	if (r > 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "%s:%d: neither '[section]' nor 'key = value'",
				 name, r);
	if (r < 0)
		return error_set(err, ERR_INTERNAL,
				 "Out of memory for settings");
	return 0;
}

int settings_load_file(struct settings *s, const char *path, struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_SETTINGS_FILE);
	int r;

	r = fs_read_file(AT_FDCWD, path, &text);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read '%s'", path);
	return settings_load_text(s, path, buf_str(&text), text.length, err);
}
