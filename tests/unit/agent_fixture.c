/* SPDX-License-Identifier: Apache-2.0 */
#include "agent_fixture.h"

#include <errno.h>

#include "base/json_write.h"

const struct principal agent_fixture_me = { .tenant = "default" };
const struct definition_name agent_fixture_name = { DEFINITION_AGENT, "p1",
						    "analyst" };

int fixture_setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	if (!fx || sd_event_new(&fx->event) < 0)
		return -1;
	fx->core = fake_core_new(fx->event);
	*state = fx;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fx = *state;

	fake_core_free(fx->core);
	sd_event_unref(fx->event);
	free(fx);
	return 0;
}

static void on_version(void *userdata,
		       const struct definition_version_view *version,
		       const struct error *err)
{
	(void)userdata;
	assert_null(err);
	assert_non_null(version);
}

static void make_as(struct fixture *fx, const char *definition, bool draft)
{
	char text[4096];
	const struct definition_spec spec = { .text = text, .draft = draft };

	snprintf(text, sizeof(text), "{\"definition\":%s}", definition);
	assert_int_equal(core_definition_version_create(fx->core,
							&agent_fixture_me,
							&agent_fixture_name,
							&spec, on_version,
							NULL, NULL),
			 0);
	sd_event_run(fx->event, 0);
}

void make(struct fixture *fx, const char *definition)
{
	make_as(fx, definition, false);
}

void make_draft(struct fixture *fx, const char *definition)
{
	make_as(fx, definition, true);
}

void fixture_anew(struct fixture *fx)
{
	fake_core_free(fx->core);
	fx->core = fake_core_new(fx->event);
}

struct json_object *parse(const char *json)
{
	struct json_object *value = NULL;
	struct error err = ERROR_INIT;

	if (json_parse(json, strlen(json), &value, &err) < 0)
		fail_msg("%s: %s", json, err.message);
	return value;
}

int apply_in(struct fixture *fx, const char *project, const char *implied,
	     const char *request, struct agent_applied *ret,
	     struct error *err)
{
	_cleanup_(json_freep) struct json_object *body = parse(request);

	*err = ERROR_INIT;
	return agent_apply(fx->core, &agent_fixture_me, project, implied, body, ret, err);
}

void expect(struct fixture *fx, const char *request, const char *wanted)
{
	_cleanup_(json_freep) struct json_object *should = parse(wanted);
	_cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct agent_applied applied;
	struct error err;

	if (apply_in(fx, "p1", "analyst", request, &applied, &err) != 1)
		fail_msg("%s: %s", request, err.message);
	json_write_value(&w, NULL, applied.body);
	if (!json_equal(applied.body, should))
		fail_msg("%s\nmakes  %s\nwanted %s", request, buf_str(&text),
			 wanted);
	agent_applied_done(&applied);
}

void refuses(struct fixture *fx, const char *request, enum error_code code,
	     const char *param)
{
	struct agent_applied applied;
	struct error err;

	assert_true(apply_in(fx, "p1", "analyst", request, &applied, &err) <
		    0);
	if (err.code != code || strcmp(err.param, param) != 0)
		fail_msg("%s: %d %s: %s", request, err.code, err.param,
			 err.message);
}
