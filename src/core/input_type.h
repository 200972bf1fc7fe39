/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_INPUT_TYPE_H
#define CORE_INPUT_TYPE_H

/*
 * Which files clients may give (files.strict_types).
 *
 * Normally all. Strict, the ones that the hosted service takes: a program that
 * works here then works there.
 */

#include "base/media_type.h"
#include "core/core.h"

/**
 * input_type_check() - Whether a file of that name may be given
 * @purpose:	What for; NULL for a container's own file
 */
int input_type_check(const struct core *core, const char *name,
		     const char *purpose, struct error *err);

/**
 * input_type_decide() - The type of a file, now that its content is known
 * @found:	The content's, by itself
 * @ret:	Filled in on success
 */
int input_type_decide(const struct core *core, const char *name,
		      const char *found, char ret[MEDIA_TYPE_SIZE],
		      struct error *err);

#endif
