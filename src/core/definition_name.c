/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

/* What names and versions look like: the same in every dialect. */

enum { VERSION_DIGITS_MAX = 18 };

static const char alphanumeric[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789";

static const char *const words[] = {
	[DEFINITION_TOOLBOX] = "Toolbox",
	[DEFINITION_AGENT] = "Agent",
};
static_assert(sizeof(words) / sizeof(words[0]) == DEFINITION_KIND_COUNT,
	      "words[] doesn't match enum definition_kind");

const char *definition_word(enum definition_kind kind)
{
	return words[kind];
}

static bool has_only(const char *text, const char *others)
{
	for (; *text; text++)
		if (!strchr(alphanumeric, *text) && !strchr(others, *text))
			return false;
	return true;
}

bool definition_project_is_valid(const char *project)
{
	size_t size = strlen(project);

	return size > 0 && size <= CORE_PROJECT_MAX && has_only(project, "_-");
}

bool definition_name_is_valid(const char *name)
{
	size_t size = strlen(name);

	return size > 0 && size <= CORE_DEFINITION_NAME_MAX &&
	       has_only(name, "-") && name[0] != '-' && name[size - 1] != '-';
}

int definition_version_parse(const char *text, uint64_t *ret)
{
	size_t size = strspn(text, "0123456789");

	if (size == 0 || size > VERSION_DIGITS_MAX || text[size] ||
	    text[0] == '0')
		return -EINVAL;
	*ret = strtoull(text, NULL, 10);
	return 0;
}
