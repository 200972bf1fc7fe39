/* SPDX-License-Identifier: Apache-2.0 */
#include "api/router.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/*
 * The ways into a family, longest first: what is not found below one is not
 * looked for below another. "{}" is a project's name.
 */
static const struct prefix {
	const char *segments;
	int family;		/* enum route_family, or -1: nothing there */
	enum api_envelope envelope;
	bool foundry;
	bool local;		/* on Unix sockets only */
} prefixes[] = {
	{ "v1", FAMILY_OPENAI, ENVELOPE_OPENAI, false, false },
	{ "openai/v1", FAMILY_OPENAI, ENVELOPE_OPENAI, false, false },
	{ "openai", FAMILY_OPENAI, ENVELOPE_OPENAI, false, false },
	{ "api/projects/{}/openai/v1", FAMILY_OPENAI, ENVELOPE_OPENAI, true,
	  false },
	{ "api/projects/{}", -1, ENVELOPE_AZURE, true, false },
	{ "pools", -1, ENVELOPE_AZURE, false, false },
	{ "subscriptions", -1, ENVELOPE_AZURE, false, false },
	{ "admin/v1", FAMILY_ADMIN, ENVELOPE_OPENAI, false, true },
	{ "", FAMILY_ROOT, ENVELOPE_OPENAI, false, false },
};

/*
 * Compares segments with a pattern, from the first on. Returns how many the
 * pattern has, or -1 if one differs or is missing. "{}" goes to @param.
 */
static int match_pattern(const char *pattern, const char *const *segment,
			 size_t segments, const char **param)
{
	size_t i = 0, params = 0;

	while (*pattern) {
		size_t length = strcspn(pattern, "/");

		if (i == segments)
			return -1;
		if (length == 2 && memcmp(pattern, "{}", 2) == 0) {
			if (!segment[i][0])
				return -1;
			if (param) {
				assert(params < ROUTE_PARAMS_MAX);
				param[params++] = segment[i];
			}
		} else if (strlen(segment[i]) != length ||
			   memcmp(segment[i], pattern, length) != 0) {
			return -1;
		}
		i++;
		pattern += length;
		if (*pattern == '/')
			pattern++;
	}
	return (int)i;
}

static const struct prefix *find_prefix(const struct uri *uri, bool local,
					size_t *ret_used)
{
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		int used = match_pattern(prefixes[i].segments, uri->segment,
					 uri->segments, NULL);

		if (used < 0 || (prefixes[i].local && !local))
			continue;
		*ret_used = (size_t)used;
		return &prefixes[i];
	}
	return NULL;	/* not reached: the last one matches everything */
}

static void allow_add(char *allow, const char *method)
{
	size_t length = strlen(allow);

	(void)snprintf(allow + length, ROUTE_ALLOW_MAX - length, "%s%s%s",
		       length > 0 ? ", " : "", method,
		       strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

/* All rows of the path are visited, for the list of its methods. */
static void find_route(const struct prefix *prefix,
		       const char *const *segment, size_t segments,
		       const char *method, struct route_match *match,
		       char *allow)
{
	const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
	size_t i;

	for (i = 0; i < routes_count; i++) {
		const char *param[ROUTE_PARAMS_MAX] = { NULL };
		const struct route *route = &routes[i];

		if ((int)route->family != prefix->family ||
		    match_pattern(route->pattern, segment, segments, param) !=
			    (int)segments)
			continue;
		allow_add(allow, route->method);
		if (strcmp(route->method, wanted) != 0)
			continue;
		match->route = route;
		memcpy(match->param, param, sizeof(param));
	}
	if (*allow)
		allow_add(allow, "OPTIONS");
}

int router_find(const struct uri *uri, const char *method, bool local,
		struct route_match *ret, char *ret_allow, struct error *err)
{
	const struct prefix *prefix;
	size_t used = 0;

	*ret = (struct route_match){ .envelope = ENVELOPE_OPENAI };
	ret_allow[0] = '\0';
	prefix = find_prefix(uri, local, &used);
	ret->envelope = prefix->envelope;
	ret->foundry = prefix->foundry;
	find_route(prefix, uri->segment + used, uri->segments - used, method,
		   ret, ret_allow);
	if (ret->route)
		return 0;
	if (*ret_allow)
		return error_set(err, ERR_METHOD,
				 "This path takes only %s", ret_allow);
	return error_set(err, ERR_NOT_FOUND, "There is nothing at this path");
}
