/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_CITE_H
#define TURN_CITE_H

/*
 * Where a text speaks of files: "sandbox:/mnt/data/table.csv".
 *
 * Such a mention is usually the target of a Markdown link, and where a name
 * ends cannot be seen from the text alone: it may have spaces and parentheses,
 * and a full stop behind it. So the places where it may end are tried, until one
 * makes the name of a file that there is.
 */

#include <stdbool.h>
#include <stddef.h>

/**
 * struct cite_mention - One that names a file
 * @start, @end: In code points; @end is exclusive
 */
struct cite_mention {
	size_t start;
	size_t end;
	const void *file; /* as found */
};

/**
 * cite_find_fn - The file of a path, or NULL
 * @path:	Absolute, as in "/mnt/data/table.csv"
 */
typedef const void *(*cite_find_fn)(void *userdata, const char *path);

typedef int (*cite_each_fn)(void *userdata, const struct cite_mention *mention);

/**
 * cite_scan() - Find all mentions, in order
 * @text:	UTF-8
 * @each:	@mention's file is what @find gave last; a negative return ends it
 *
 * Return: 0 or what @each returned
 */
int cite_scan(const char *text, size_t size, cite_find_fn find,
	      cite_each_fn each, void *userdata);

/** cite_length() - Code points of a text */
size_t cite_length(const char *text, size_t size);

#endif
