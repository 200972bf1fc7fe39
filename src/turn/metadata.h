/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_METADATA_H
#define TURN_METADATA_H

/* Metadata: pairs of strings that clients hang on conversations, responses and
 * versions of agents and toolboxes, and get back as they were. */

#include "base/error.h"

struct json_object;

enum {
	METADATA_PAIRS_MAX = 16,
	METADATA_KEY_MAX = 64,    /* characters */
	METADATA_VALUE_MAX = 512, /* characters */
};

/**
 * metadata_check() - Whether an object is fit to be metadata
 * @metadata:	The request's "metadata"; NULL is fine
 *
 * Return: 0; ERR_BAD_REQUEST with param "metadata" or, where a pair is at
 * fault, "metadata.KEY"
 */
int metadata_check(const struct json_object *metadata, struct error *err);

#endif
