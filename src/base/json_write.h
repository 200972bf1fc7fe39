#ifndef CUPOLA_BASE_JSON_WRITE_H
#define CUPOLA_BASE_JSON_WRITE_H

/*
 * Writing JSON into a buffer.
 *
 * No tree is built: values are written as they come, and the writer puts the
 * commas. Whatever bytes a string has, the text is valid UTF-8 without control
 * characters or line breaks: what is not UTF-8 becomes U+FFFD, a NUL becomes
 * \u0000. Failures (no memory, the buffer's ceiling) are kept and told once, by
 * json_write_end().
 *
 *	struct json_writer w = JSON_WRITER_INIT(&buf);
 *
 *	json_write_object(&w, NULL);
 *	json_write_string(&w, "id", file->id);
 *	json_write_array(&w, "tags");
 *	json_write_int(&w, NULL, 7);
 *	json_write_close(&w);
 *	json_write_close(&w);
 *	r = json_write_end(&w);
 *
 * In an object each value has a key, in an array or at the top it is NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct json_object;

enum {
	/* What json_parse() lets in, inside of as much of our own. */
	JSON_WRITER_DEPTH_MAX = 128,
};

/**
 * struct json_writer - Private to json_write.c
 * @buf:	Where the text goes
 * @depth:	How many objects and arrays are open
 * @levels:	What is known of each level; [0] is the top
 * @failure:	The first failure, a negative errno
 */
struct json_writer {
	struct buf *buf;
	unsigned depth;
	uint8_t levels[JSON_WRITER_DEPTH_MAX + 1];
	int failure;
};

#define JSON_WRITER_INIT(buffer) ((struct json_writer){ .buf = (buffer) })

/** json_write_object() - Begin an object, ended by json_write_close() */
void json_write_object(struct json_writer *w, const char *key);

/** json_write_array() - Begin an array, ended by json_write_close() */
void json_write_array(struct json_writer *w, const char *key);

/** json_write_close() - End the object or array that was begun last */
void json_write_close(struct json_writer *w);

/** json_write_string() - Write a string; NULL is written as null */
void json_write_string(struct json_writer *w, const char *key, const char *s);

/** json_write_bytes() - Write @size bytes as a string, NULs included */
void json_write_bytes(struct json_writer *w, const char *key, const void *data,
		      size_t size);

/** json_write_base64() - Write @size bytes as a string of base64 */
void json_write_base64(struct json_writer *w, const char *key, const void *data,
		       size_t size);

/** json_write_int() - Write an integer */
void json_write_int(struct json_writer *w, const char *key, int64_t value);

/** json_write_uint() - Write an integer */
void json_write_uint(struct json_writer *w, const char *key, uint64_t value);

/**
 * json_write_double() - Write a number with a point or exponent, so that it is
 *			 read as one; what is not finite is written as null
 */
void json_write_double(struct json_writer *w, const char *key, double value);

/** json_write_bool() - Write true or false */
void json_write_bool(struct json_writer *w, const char *key, bool value);

/** json_write_time() - Write seconds since 1970, null for 0: one that is not set */
void json_write_time(struct json_writer *w, const char *key, int64_t when);

/** json_write_null() - Write null */
void json_write_null(struct json_writer *w, const char *key);

/** json_write_value() - Write a tree that json_parse() gave; NULL is null */
void json_write_value(struct json_writer *w, const char *key,
		      const struct json_object *value);

/**
 * json_write_raw() - Put in text that is one JSON value already
 * @w:		Writer
 * @key:	Key or NULL
 * @text:	Written by a json_writer before, for example kept in the database
 * @size:	Bytes
 */
void json_write_raw(struct json_writer *w, const char *key, const char *text,
		    size_t size);

/**
 * json_write_members() - Put the members of an object into the one that is open
 * @w:		Writer
 * @text:	The whole object as text, written by a json_writer before
 * @size:	Bytes
 */
void json_write_members(struct json_writer *w, const char *text, size_t size);

/** json_write_fail() - Have json_write_end() say so; the first failure counts */
void json_write_fail(struct json_writer *w, int r);

/**
 * json_write_end() - Say whether all went well
 * @w:		Writer; all that was begun is closed
 *
 * Return: 0, -ENOMEM or -EMSGSIZE
 */
int json_write_end(struct json_writer *w);

#endif
