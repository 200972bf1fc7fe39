/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_AGENT_FIXTURE_H
#define UNIT_AGENT_FIXTURE_H

/* The agent "analyst" of project "p1", on a fake core. */

#include "test.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "fake_core.h"
#include "turn/agent.h"

extern const struct principal agent_fixture_me;
extern const struct definition_name agent_fixture_name;

struct fixture {
	sd_event *event;
	struct core *core;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/** fixture_anew() - Forget all agents */
void fixture_anew(struct fixture *fx);

/** make() - Add a version */
void make(struct fixture *fx, const char *definition);
void make_draft(struct fixture *fx, const char *definition);

struct json_object *parse(const char *json);

/** apply_in() - What agent_apply() says; @err is set anew */
int apply_in(struct fixture *fx, const char *project, const char *implied,
	     const char *request, struct agent_applied *ret,
	     struct error *err);

/** expect() - The path implies the agent: this comes out */
void expect(struct fixture *fx, const char *request, const char *wanted);

/** refuses() - The same, and this goes wrong */
void refuses(struct fixture *fx, const char *request, enum error_code code,
	     const char *param);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
