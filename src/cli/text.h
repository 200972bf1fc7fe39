#ifndef CUPOLA_CLI_TEXT_H
#define CUPOLA_CLI_TEXT_H

/*
 * Words and figures as people read them, and text of strangers made fit for a
 * terminal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * text_escape() - Copy a string, with control characters made visible
 * @text:	The string
 *
 * C0, DEL and C1 become \xNN: what is left cannot steer a terminal.
 *
 * Return: a new string, or NULL without memory
 */
char *text_escape(const char *text);

/**
 * text_control_length() - How long the control character at the start is
 *
 * Return: its bytes, 0 if there is none. C0 and DEL have one, C1 two, and those
 * that reorder text three: with them a name can be read as another
 */
size_t text_control_length(const char *text);

/** text_print() - Write a string as text_escape() has it */
void text_print(FILE *out, const char *text);

/**
 * text_write_output() - Write what code printed
 * @out:	Where to
 * @data:	Its output; UTF-8
 * @length:	Bytes
 * @terminal:	@out is a terminal: let only newline, tab, carriage return and
 *		colours (SGR sequences) through, and show all other controls as
 *		\xNN. Otherwise the bytes go out as they are
 *
 * A colour sequence that is cut by the end of @data is shown, not obeyed.
 *
 * Return: 0 or a negative errno
 */
int text_write_output(FILE *out, const char *data, size_t length,
		      bool terminal);

/** text_end_colours() - End the colours that text_write_output() let through */
void text_end_colours(void);

/* Room for what the functions below write. */
enum { TEXT_SHORT_MAX = 32 };

/** text_count() - "1 session", "2 sessions" */
const char *text_count(int64_t count, const char *thing, char *room);

/** text_bytes() - "17 B", "3.1 KiB", "100 MiB": in the units of settings */
const char *text_bytes(uint64_t bytes, char *room);

/** text_seconds() - "42 s", "3 min", "2 h 05 min", "3 d"; "-" if negative */
const char *text_seconds(int64_t seconds, char *room);

/**
 * text_until() - How long until a moment
 * @when:	Unix seconds, or 0 for never: "-"
 */
const char *text_until(int64_t when, char *room);

/** text_since() - How long ago a moment was */
const char *text_since(int64_t when, char *room);

#endif
