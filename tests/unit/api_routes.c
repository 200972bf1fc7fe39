/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of routes, "METHOD /path", for test_openapi.py. */
#include <assert.h>
#include <stdio.h>

#include "api/router.h"

/*
 * The way into each family that the description has; "{}" is any segment, "{*}"
 * all that are left.
 */
static const char *const prefixes[] = {
	[FAMILY_OPENAI]		= "/v1/",
	[FAMILY_ADMIN]		= "/admin/v1/",
	[FAMILY_ROOT]		= "/",
	[FAMILY_SESSIONS]	= "/pools/{}/",
	[FAMILY_POOL]		= "/pools/{}/",
	[FAMILY_PROJECT]	= "/api/projects/{}/",
};
static_assert(sizeof(prefixes) / sizeof(prefixes[0]) == FAMILY_COUNT,
	      "prefixes[] doesn't match enum route_family");

int main(void)
{
	size_t i;

	for (i = 0; i < routes_count; i++)
		printf("%s %s%s\n", routes[i].method,
		       prefixes[routes[i].family], routes[i].pattern);
	return 0;
}
