/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_KEY_H
#define TURN_UPSTREAM_KEY_H

/* The key of a model's server: read from a file, and from nowhere else. */

#include "base/error.h"

/**
 * upstream_key_read() - Read a key
 * @file:	A path from the root, or the name of a systemd credential (a
 *		file in $CREDENTIALS_DIRECTORY)
 * @ret:	Without the white space around it; for upstream_key_free()
 * @err:	For the operator; never has anything of the key
 *
 * A file that others than its owner and group may read is refused: a key that
 * everybody knows is no key, and the time to say so is the start.
 */
int upstream_key_read(const char *file, char **ret, struct error *err);

/** upstream_key_free() - Overwrite it and release it; takes NULL */
void upstream_key_free(char *key);

#endif
