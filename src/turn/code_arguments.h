/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_CODE_ARGUMENTS_H
#define TURN_CODE_ARGUMENTS_H

/*
 * The code in a call's arguments, decoded while they come.
 *
 * A model writes {"code": "…"} piece by piece, and whoever follows the response
 * is to see the code, not the JSON around it. So the value is looked for and its
 * escapes are undone as far as they are complete. Models also write what is no
 * JSON: line breaks inside of the string, escapes that do not exist, or the
 * code alone. The first two are taken for what they mean; the last is code from
 * its first character on.
 *
 * Whatever has been decoded stays: what the code is at the end always begins
 * with what it was before.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { CODE_KEY_MAX = 8 };

enum code_end {
	CODE_WHOLE, /* the arguments were complete JSON with code in it */
	CODE_PLAIN, /* they were the code itself */
	CODE_CUT,   /* they broke off, or had no code */
};

/** struct code_arguments - Private; begins with all zeros */
struct code_arguments {
	unsigned state;
	size_t at; /* bytes of the arguments that are done */
	char key[CODE_KEY_MAX + 1];
	size_t key_size;
	bool key_over; /* it is longer than any that counts */
	bool found;    /* there was code in it */
	unsigned depth; /* of a value that is skipped */
	bool quoted;
	bool escaped;
	uint32_t unit; /* of an escape */
	unsigned digits;
	uint32_t high; /* half of a surrogate pair that waits for the other */
};

/**
 * code_arguments_feed() - Decode what has come
 * @all:	The arguments from the beginning
 * @size:	Bytes of them so far; never less than before
 * @code:	What of the code is new is appended
 *
 * Return: 0 or what buf_add() said
 */
int code_arguments_feed(struct code_arguments *a, const char *all, size_t size,
			struct buf *code);

/**
 * code_arguments_end() - Nothing more comes
 * @code:	What is still missing of it is appended
 *
 * Return: enum code_end, or what buf_add() said
 */
int code_arguments_end(struct code_arguments *a, const char *all, size_t size,
		       struct buf *code);

#endif
