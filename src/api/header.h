/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HEADER_H
#define API_HEADER_H

/*
 * Values of header fields that have a structure: media types and their
 * parameters, Content-Disposition, quoted strings. Shared by requests and by
 * the parts of multipart bodies.
 */

#include <stdbool.h>
#include <stddef.h>

/** header_is_token() - Whether a string may be a field or parameter name */
bool header_is_token(const char *s, size_t size);

/**
 * header_is_type() - Whether a value begins with this word, as in
 *		      "application/json; charset=utf-8"
 * @value:	Field value; NULL is none
 * @type:	Lower-case media type or disposition
 */
bool header_is_type(const char *value, const char *type);

/**
 * header_param() - A parameter behind the first ';' of a value
 * @value:	Field value
 * @name:	Lower-case name, compared without regard to case
 * @out:	Room for the value, unquoted
 * @size:	Of @out, with the NUL
 *
 * In quoted strings a backslash counts as an escape before '"' only:
 * browsers do not escape it, and old clients send Windows paths.
 *
 * Return: 0; -ENOENT if there is none; -EINVAL if the value is malformed or the
 * parameter is there twice; -EMSGSIZE if it does not fit
 */
int header_param(const char *value, const char *name, char *out, size_t size);

/**
 * header_percent_byte() - The byte that an escape stands for
 * @escape:	String that begins with "%" and two hexadecimal digits
 *
 * Return: 0 to 255, or -1 if it does not
 */
int header_percent_byte(const char *escape);

/**
 * header_decode_ext() - Decode an RFC 5987 value, as in "UTF-8''r%C3%A9.txt"
 * @text:	Decoded in place
 *
 * Return: 0, or -EINVAL: another charset than UTF-8, a bad escape, a NUL
 */
int header_decode_ext(char *text);

/**
 * header_decode_form() - Undo what browsers escape in multipart names
 * @text:	Decoded in place: %22, %0D, %0A and %5C; nothing else is an
 *		escape there, so "100%25" stays as it is
 */
void header_decode_form(char *text);

#endif
