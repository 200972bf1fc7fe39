/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_BASE_MEDIA_TYPE_H
#define CUPOLA_BASE_MEDIA_TYPE_H

/*
 * What kind of file something is.
 *
 * The name's extension decides. libmagic is asked only whether the content is
 * of another class altogether (a PNG that is text), since it takes the kinds
 * of text for one another. Where it contradicts, its answer stands.
 */

#include <stdbool.h>

#include "base/buf.h"

#define MEDIA_TYPE_SIZE 96 /* with the NUL */

/* As much of the content as libmagic gets to see. */
#define MEDIA_TYPE_SNIFF_MAX (64 * 1024)

/**
 * media_type_of_name() - The type that a file's extension stands for
 *
 * Return: a constant such as "text/markdown", or NULL if the table has none
 */
const char *media_type_of_name(const char *name);

/**
 * media_type_decide() - Weigh a name against what libmagic found
 * @name:	File name, or NULL
 * @found:	libmagic's type, or NULL if it has none
 *
 * Return: the type, never NULL; either a constant or @found
 */
const char *media_type_decide(const char *name, const char *found);

/** media_type_is_input() - Whether the hosted service takes files so named */
bool media_type_is_input(const char *name);

/** media_type_inputs() - Append the extensions it takes, as ".c .cpp ..." */
int media_type_inputs(struct buf *b);

#endif
