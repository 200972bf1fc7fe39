/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_OPENAI_PURPOSE_H
#define API_OPENAI_PURPOSE_H

/* What files and uploads of the OpenAI API have in common. */

enum {
	OPENAI_EXPIRES_MIN_SEC = 3600,
	OPENAI_EXPIRES_MAX_SEC = 2592000,
};

/** openai_purposes - What a file may be for, NULL at the end */
extern const char *const openai_purposes[];

#endif
