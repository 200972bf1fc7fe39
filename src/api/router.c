/* SPDX-License-Identifier: Apache-2.0 */
#include "api/router.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define FAMILY(name) (1u << FAMILY_##name)

/* Which "{}" of a prefix names the pool. */
enum { NO_POOL = -1 };

/*
 * The ways into a family, longest first: what is not found below one is not
 * looked for below another. "{}" is a project's name, or a part of an Azure
 * resource id, the last of which is the pool.
 */
static const struct prefix {
	const char *segments;
	unsigned families;	/* bits FAMILY(); 0: nothing there */
	enum api_envelope envelope;
	int pool;
	bool foundry;
	bool local;		/* on Unix sockets only */
	bool agent;		/* the "{}" behind the project's */
} prefixes[] = {
	{ "v1", FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL, false, false, false },
	{ "openai/v1", FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL, false,
	  false, false },
	{ "openai", FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL, false, false, false },
	{ "api/projects/{}/openai/v1", FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL,
	  true, false, false },
	{ "api/projects/{}/openai", FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL,
	  true, false, false },
	{ "api/projects/{}/agents/{}/endpoint/protocols/openai/v1",
	  FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL, true, false, true },
	{ "api/projects/{}/agents/{}/endpoint/protocols/openai",
	  FAMILY(OPENAI), ENVELOPE_OPENAI, NO_POOL, true, false, true },
	{ "api/projects/{}", FAMILY(PROJECT), ENVELOPE_AZURE, NO_POOL, true,
	  false, false },
	{ "subscriptions/{}/resourceGroups/{}/sessionPools/{}",
	  FAMILY(SESSIONS) | FAMILY(POOL), ENVELOPE_AZURE, 2, false, false, false },
	{ "subscriptions", 0, ENVELOPE_AZURE, NO_POOL, false, false, false },
	{ "pools/{}", FAMILY(SESSIONS) | FAMILY(POOL), ENVELOPE_AZURE, 0, false,
	  false, false },
	{ "pools", 0, ENVELOPE_AZURE, NO_POOL, false, false, false },
	{ "admin/v1", FAMILY(ADMIN), ENVELOPE_OPENAI, NO_POOL, false, true, false },
	{ "", FAMILY(ROOT) | FAMILY(SESSIONS), ENVELOPE_AZURE, NO_POOL, false,
	  false, false },
};

/*
 * Whether a segment is what "{}", with or without a verb, stands for. One with a
 * slash in it, which was escaped, is the name of nothing.
 */
static bool match_param(const char *pattern, size_t length,
			const char *segment)
{
	const char *verb = pattern + strlen("{}");
	size_t verb_size = length - strlen("{}");
	size_t size = strlen(segment);

	return size > verb_size && !strchr(segment, '/') &&
	       memcmp(segment + size - verb_size, verb, verb_size) == 0;
}

/* "{*}", which is the last of its pattern. */
static bool is_rest(const char *pattern)
{
	return strcmp(pattern, "{*}") == 0;
}

/*
 * Compares segments with a pattern, from the first on. Returns how many the
 * pattern has, or -1 if one differs or is missing. The indices of segments that
 * are parameters go to @param.
 */
static int match_pattern(const char *pattern, char *const *segment,
			 size_t segments, size_t param[ROUTE_PARAMS_MAX])
{
	size_t i = 0, params = 0;

	while (*pattern) {
		size_t length = strcspn(pattern, "/");

		if (i == segments)
			return -1;
		if (is_rest(pattern)) {
			assert(params < ROUTE_PARAMS_MAX);
			param[params] = i;
			return (int)segments;
		}
		if (length >= 2 && memcmp(pattern, "{}", 2) == 0) {
			if (!match_param(pattern, length, segment[i]))
				return -1;
			assert(params < ROUTE_PARAMS_MAX);
			param[params++] = i;
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
					size_t *ret_used,
					struct route_match *match)
{
	size_t param[ROUTE_PARAMS_MAX];
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const struct prefix *prefix = &prefixes[i];
		int used = match_pattern(prefix->segments, uri->segment,
					 uri->segments, param);

		if (used < 0 || (prefix->local && !local))
			continue;
		*ret_used = (size_t)used;
		match->foundry = prefix->foundry;
		if (prefix->foundry)
			match->project = uri->segment[param[0]];
		if (prefix->agent)
			match->agent = uri->segment[param[1]];
		match->pool = prefix->pool == NO_POOL
				    ? CORE_POOL_DEFAULT
				    : uri->segment[param[prefix->pool]];
		return prefix;
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

/* Puts the slashes back between the last segments: they fit where they were. */
static void join_rest(struct uri *uri, size_t first)
{
	char *end = uri->segment[first] + strlen(uri->segment[first]);
	size_t i, size;

	for (i = first + 1; i < uri->segments; i++) {
		size = strlen(uri->segment[i]);
		*end++ = '/';
		memmove(end, uri->segment[i], size + 1);
		end += size;
	}
	uri->segments = first + 1;
}

/* Takes the parameters of a route out of the path, without their verbs. */
static void take_params(const struct route *route, struct uri *uri,
			size_t used, const size_t param[ROUTE_PARAMS_MAX],
			struct route_match *match)
{
	const char *at = route->pattern;
	size_t i = 0;

	while ((at = strchr(at, '{'))) {
		char *text = uri->segment[used + param[i]];

		match->param[i] = text;
		if (is_rest(at)) {
			join_rest(uri, used + param[i]);
			return;
		}
		at += strlen("{}");
		text[strlen(text) - strcspn(at, "/")] = '\0';
		i++;
	}
}

/* All rows of the path are visited, for the list of its methods. */
static void find_route(const struct prefix *prefix, struct uri *uri,
		       size_t used, const char *method,
		       struct route_match *match, char *allow)
{
	const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
	char *const *segment = uri->segment + used;
	size_t segments = uri->segments - used;
	size_t param[ROUTE_PARAMS_MAX], found[ROUTE_PARAMS_MAX] = { 0 };
	size_t i;

	for (i = 0; i < routes_count; i++) {
		const struct route *route = &routes[i];

		if (!(prefix->families & (1u << route->family)) ||
		    match_pattern(route->pattern, segment, segments, param) !=
			    (int)segments)
			continue;
		allow_add(allow, route->method);
		/* Of the path, whatever the method. */
		if (route->rpc)
			match->envelope = ENVELOPE_RPC;
		else if (route->family == FAMILY_ROOT)
			match->envelope = ENVELOPE_OPENAI;
		if (strcmp(route->method, wanted) != 0)
			continue;
		match->route = route;
		memcpy(found, param, sizeof(found));
	}
	if (match->route)
		take_params(match->route, uri, used, found, match);
	if (*allow)
		allow_add(allow, "OPTIONS");
}

/* "*" and what is no path at all belong to nobody: OpenAI's form. */
enum api_envelope router_envelope(struct uri *uri, bool local)
{
	struct route_match match = { .envelope = ENVELOPE_OPENAI };
	char allow[ROUTE_ALLOW_MAX] = "";
	const struct prefix *prefix;
	size_t used = 0;

	if (!uri->text)
		return match.envelope;
	prefix = find_prefix(uri, local, &used, &match);
	match.envelope = prefix->envelope;
	find_route(prefix, uri, used, "", &match, allow);
	return match.envelope;
}

int router_find(struct uri *uri, const char *method, bool local,
		struct route_match *ret, char *ret_allow, struct error *err)
{
	const struct prefix *prefix;
	size_t used = 0;

	*ret = (struct route_match){ .envelope = ENVELOPE_OPENAI };
	ret_allow[0] = '\0';
	prefix = find_prefix(uri, local, &used, ret);
	ret->envelope = prefix->envelope;
	find_route(prefix, uri, used, method, ret, ret_allow);
	if (ret->route)
		return 0;
	if (*ret_allow)
		return error_set(err, ERR_METHOD,
				 "This path takes only %s", ret_allow);
	return error_set(err, ERR_NOT_FOUND, "There is nothing at this path");
}
