/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/json.h"
#include "turn/agent.h"
#include "turn/agent_endpoint.h"
#include "turn/agent_schema.h"

/*
 * The path of an agent has the agent choose the version, by shares of the
 * requests. What else an endpoint's object may say (protocols, authorization) is
 * of the hosted service, and is kept and given back.
 */

enum { RULES_MAX = 32, PERCENT = 100 };

struct endpoint_fields {
	struct json_object *selector;
};

struct selector_fields {
	struct json_object *rules;
};

struct rule_fields {
	struct json_string type;
	struct json_string version;
	int64_t percentage;
};

static const char *const rule_types[] = { "FixedRatio", NULL };

static const struct json_field endpoint_table[] = {
	JSON_OBJECT_FIELD("version_selector", struct endpoint_fields, selector),
};

static const struct json_field selector_table[] = {
	JSON_ARRAY_FIELD("version_selection_rules", struct selector_fields,
			 rules, .required = true, .min = 1, .max = RULES_MAX),
};

static const struct json_field rule_table[] = {
	JSON_STRING_FIELD("type", struct rule_fields, type, .required = true,
			  .choices = rule_types),
	JSON_STRING_FIELD("agent_version", struct rule_fields, version,
			  .required = true),
	JSON_INT_FIELD("traffic_percentage", struct rule_fields, percentage,
		       .required = true, .min = 0, .max = PERCENT),
};

/** struct rule - Its share of the requests, in percent */
struct rule {
	uint64_t version;
	unsigned share;
};

static int read_rule(const struct json_object *object, const char *path,
		     struct rule *ret, struct error *err)
{
	struct rule_fields fields = { .percentage = 0 };
	int r;

	if (json_kind_of(object) != JSON_OBJECT)
		return agent_refuse(err, path, "invalid_value",
				    "it must be an object");
	r = JSON_READ(object, path, rule_table, &fields, err);
	if (r < 0)
		return r;
	ret->share = (unsigned)fields.percentage;
	if (definition_version_parse(fields.version.data, &ret->version) >= 0)
		return 0;
	return agent_refuse(err, path, "invalid_value",
			    "'agent_version' is no number of a version");
}

/* Return: how many rules there are */
static int read_rules(const struct json_object *endpoint, const char *path,
		      struct rule rules[RULES_MAX], struct error *err)
{
	struct endpoint_fields fields = { .selector = NULL };
	struct selector_fields selector = { .rules = NULL };
	char where[ERROR_PARAM_MAX];
	size_t i;
	int r;

	r = JSON_READ(endpoint, path, endpoint_table, &fields, err);
	if (r < 0 || !fields.selector)
		return r;
	(void)snprintf(where, sizeof(where), "%s.version_selector", path);
	r = JSON_READ(fields.selector, where, selector_table, &selector, err);
	for (i = 0; r >= 0 && i < json_array_size(selector.rules); i++) {
		(void)snprintf(where, sizeof(where),
			       "version_selection_rules[%zu]", i);
		r = read_rule(json_array_at(selector.rules, i), where,
			      &rules[i], err);
	}
	return r < 0 ? r : (int)json_array_size(selector.rules);
}

int agent_endpoint_check(const struct json_object *endpoint, const char *path,
			 struct error *err)
{
	struct rule rules[RULES_MAX];
	unsigned sum = 0;
	int i, count;

	count = read_rules(endpoint, path, rules, err);
	for (i = 0; i < count; i++)
		sum += rules[i].share;
	if (count <= 0 || sum == PERCENT)
		return count < 0 ? count : 0;
	return agent_refuse(err, "version_selection_rules", "invalid_value",
			    "the percentages must add up to 100");
}

int agent_endpoint_choose(const char *profile, uint64_t *ret, struct error *err)
{
	_cleanup_(json_freep) struct json_object *object = NULL;
	struct rule rules[RULES_MAX];
	uint32_t draw;
	int i, r;

	*ret = 0;
	if (!*profile)
		return 0;
	r = json_parse(profile, strlen(profile), &object, err);
	if (r >= 0)
		r = read_rules(json_member(object, "agent_endpoint"),
			       "agent_endpoint", rules, err);
	if (r <= 0)
		return r;
	if (random_bytes(&draw, sizeof(draw)) < 0)
		return error_set_errno(err, -EIO, "Cannot choose a version");
	draw %= PERCENT;
	for (i = 0; i < r - 1 && draw >= rules[i].share; i++)
		draw -= rules[i].share;
	*ret = rules[i].version;
	return 0;
}
