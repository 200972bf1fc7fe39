/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_EXEC_WORDS_H
#define API_EXEC_WORDS_H

/* What dialects that speak to people or models say of executions. */

#include "core/core.h"

/** exec_status_sentence() - Why it did not end by itself; NULL if it did */
const char *exec_status_sentence(enum exec_status status);

/** exec_datum_find() - The form of a displayed object of that type, or NULL */
const struct exec_datum *exec_datum_find(const struct exec_result *result,
					 const char *mime);

#endif
