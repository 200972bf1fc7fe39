/* SPDX-License-Identifier: Apache-2.0 */
#include "base/trace.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Where the parts of "00-<trace id>-<parent id>-<flags>" begin. */
enum {
	AT_ID = 3,
	AT_PARENT = 36,
	AT_FLAGS = 53,
	LENGTH = TRACE_PARENT_SIZE - 1,

	FLAG_SAMPLED = 0x01,
};

static const char hex_digits[] = "0123456789abcdef";

static bool has_digits(const char *s, size_t count)
{
	return strspn(s, hex_digits) >= count;
}

static bool all_zero(const char *s, size_t count)
{
	return strspn(s, "0") >= count;
}

static bool parts_are_valid(const char *s)
{
	return has_digits(s, AT_ID - 1) && s[AT_ID - 1] == '-' &&
	       has_digits(s + AT_ID, AT_PARENT - AT_ID - 1) &&
	       s[AT_PARENT - 1] == '-' &&
	       has_digits(s + AT_PARENT, AT_FLAGS - AT_PARENT - 1) &&
	       s[AT_FLAGS - 1] == '-' &&
	       has_digits(s + AT_FLAGS, LENGTH - AT_FLAGS) &&
	       !all_zero(s + AT_ID, AT_PARENT - AT_ID - 1) &&
	       !all_zero(s + AT_PARENT, AT_FLAGS - AT_PARENT - 1);
}

/* The version decides what may follow: nothing in ours, a part in later ones. */
static bool is_valid(const char *s)
{
	if (strlen(s) < LENGTH || !parts_are_valid(s) ||
	    strncmp(s, "ff", 2) == 0)
		return false;
	return s[LENGTH] == '\0' || (strncmp(s, "00", 2) && s[LENGTH] == '-');
}

bool trace_read(const char *value, struct trace *ret)
{
	const char *last_digit;
	bool sampled;

	*ret = (struct trace){ .parent = "" };
	if (!value || !is_valid(value))
		return false;
	last_digit = strchr(hex_digits, value[LENGTH - 1]);
	sampled = (last_digit - hex_digits) & FLAG_SAMPLED;
	(void)snprintf(ret->id, sizeof(ret->id), "%s", value + AT_ID);
	/* Later versions may give the other flags another meaning. */
	(void)snprintf(ret->parent, sizeof(ret->parent), "00-%.*s-%.*s-%s",
		       TRACE_ID_SIZE - 1, ret->id, AT_FLAGS - AT_PARENT - 1,
		       value + AT_PARENT, sampled ? "01" : "00");
	return true;
}

const char *trace_parent(const struct trace *trace)
{
	return trace->parent[0] ? trace->parent : NULL;
}

const char *trace_id(const struct trace *trace)
{
	return trace->id[0] ? trace->id : NULL;
}
