/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

/* Toolboxes and agents on a real store. */

static const struct definition_name box = { DEFINITION_TOOLBOX, "p1", "box" };
static const struct definition_name agent = { DEFINITION_AGENT, "p1", "box" };

/** struct said - What a change came to */
struct said {
	bool called;
	struct error err;
	uint64_t version;
	char id[ID_SIZE];
};

static void on_version(void *userdata,
		       const struct definition_version_view *version,
		       const struct error *err)
{
	struct said *said = userdata;

	assert_false(said->called);
	said->called = true;
	if (err) {
		said->err = *err;
		return;
	}
	said->version = version->version;
	strcpy(said->id, version->id);
}

static void on_definition(void *userdata, const struct definition_view *view,
			  const struct error *err)
{
	struct said *said = userdata;

	said->called = true;
	if (err)
		said->err = *err;
	else
		said->version = view->default_version;
}

static void on_gone(void *userdata, const struct error *err)
{
	struct said *said = userdata;

	said->called = true;
	if (err)
		said->err = *err;
}

static void ask(struct fixture *fx, const struct definition_name *name,
		const struct definition_spec *spec, struct said *ret)
{
	*ret = (struct said){ .called = false };
	assert_int_equal(core_definition_version_create(fx->core, &fx->who,
							name, spec, on_version,
							ret, &ret->err),
			 0);
	assert_false(ret->called);
}

static struct said make_as(struct fixture *fx,
			   const struct definition_name *name,
			   const struct definition_spec *spec)
{
	struct said said;

	ask(fx, name, spec, &said);
	RUN_UNTIL(fx, said.called);
	return said;
}

static uint64_t make(struct fixture *fx, const struct definition_name *name,
		     const char *text)
{
	const struct definition_spec spec = { .text = text };
	struct said said = make_as(fx, name, &spec);

	assert_int_equal(said.err.code, ERR_NONE);
	return said.version;
}

static uint64_t make_draft(struct fixture *fx)
{
	const struct definition_spec spec = { .text = "{}", .draft = true };
	struct said said = make_as(fx, &agent, &spec);

	assert_int_equal(said.err.code, ERR_NONE);
	return said.version;
}

static struct said promote(struct fixture *fx, uint64_t version)
{
	struct said said = { .called = false };

	assert_int_equal(core_definition_promote(fx->core, &fx->who, &box, version,
					      on_definition, &said, &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static struct said delete_version(struct fixture *fx,
				  const struct definition_name *name,
				  uint64_t version)
{
	struct said said = { .called = false };

	assert_int_equal(core_definition_version_delete(fx->core, &fx->who,
							name, version, on_gone,
							&said, &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static struct said delete_box(struct fixture *fx)
{
	struct said said = { .called = false };

	assert_int_equal(core_definition_delete(fx->core, &fx->who, &box, on_gone,
					     &said, &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static int get(struct fixture *fx, uint64_t version,
	       struct definition_version_view *ret)
{
	return core_definition_version_get(fx->core, &fx->who, &box, version, ret,
					NULL);
}

static void numbers_are_not_used_again(void **state)
{
	struct definition_version_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(make(fx, &box, "{\"a\":1}"), 1);
	assert_int_equal(make(fx, &box, "{\"a\":2}"), 2);
	assert_int_equal(delete_version(fx, &box, 2).err.code, ERR_NONE);
	assert_int_equal(make(fx, &box, "{\"a\":3}"), 3);
	assert_true(get(fx, 2, &view) < 0);
	assert_int_equal(get(fx, 0, &view), 0);
	assert_int_equal(view.version, 1);
	assert_string_equal(view.text, "{\"a\":1}");
	assert_int_equal(promote(fx, 3).version, 3);
	assert_int_equal(get(fx, 0, &view), 0);
	assert_string_equal(view.text, "{\"a\":3}");
	assert_int_equal(promote(fx, 2).err.code, ERR_NOT_FOUND);
	assert_int_equal(delete_version(fx, &box, 3).err.code, ERR_BAD_REQUEST);
	assert_int_equal(delete_version(fx, &box, 9).err.code, ERR_NOT_FOUND);
	assert_int_equal(delete_box(fx).err.code, ERR_NONE);
	assert_int_equal(delete_box(fx).err.code, ERR_NOT_FOUND);
	assert_true(get(fx, 1, &view) < 0);
	/* A new one of the same name begins anew. */
	assert_int_equal(make(fx, &box, "{}"), 1);
}

static void changes_at_once_do_not_meet(void **state)
{
	struct fixture *fx = *state;
	const struct definition_spec spec = { .text = "{}" };
	struct said said[8], gone = { .called = false };
	size_t i;

	fixture_start(fx);
	for (i = 0; i < 4; i++)
		ask(fx, &box, &spec, &said[i]);
	assert_int_equal(core_definition_delete(fx->core, &fx->who, &box, on_gone,
					     &gone, &gone.err),
			 0);
	for (i = 4; i < 8; i++)
		ask(fx, &box, &spec, &said[i]);
	RUN_UNTIL(fx, said[7].called);
	assert_true(gone.called);
	for (i = 0; i < 8; i++) {
		assert_int_equal(said[i].err.code, ERR_NONE);
		assert_int_equal(said[i].version, i % 4 + 1);
	}
}

static void they_outlive_the_daemon(void **state)
{
	struct definition_version_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(make(fx, &box, "{\"a\":1}"), 1);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(get(fx, 1, &view), 0);
	assert_string_equal(view.text, "{\"a\":1}");
	assert_int_equal(make(fx, &box, "{}"), 2);
}

struct seen {
	unsigned count;
	char last[ID_SIZE];
	uint64_t versions[8];
};

static void see_toolbox(void *userdata, const struct definition_view *toolbox)
{
	struct seen *seen = userdata;

	seen->count++;
	strcpy(seen->last, toolbox->id);
}

static void see_version(void *userdata,
			const struct definition_version_view *version)
{
	struct seen *seen = userdata;

	seen->versions[seen->count++] = version->version;
	strcpy(seen->last, version->id);
}

static void lists_are_of_one_project(void **state)
{
	const struct definition_name other = { DEFINITION_TOOLBOX, "p2", "box" };
	const struct definition_name second = { DEFINITION_TOOLBOX, "p1",
						"b2" };
	struct core_page page = { .limit = 1, .ascending = true };
	struct fixture *fx = *state;
	struct principal stranger;
	struct seen seen = { .count = 0 };
	struct error err = ERROR_INIT;
	bool more;

	fixture_start(fx);
	make(fx, &box, "{}");
	make(fx, &other, "{}");
	make(fx, &second, "{}");
	make(fx, &box, "{}");
	assert_int_equal(core_definition_list(fx->core, &fx->who, &box, &page,
					   see_toolbox, &seen, &more, &err),
			 0);
	assert_true(more);
	strcpy(page.after, seen.last);
	assert_int_equal(core_definition_list(fx->core, &fx->who, &box, &page,
					   see_toolbox, &seen, &more, &err),
			 0);
	assert_false(more);
	assert_int_equal(seen.count, 2);
	/* A row of another project is none of this list. */
	assert_true(core_definition_list(fx->core, &fx->who, &other, &page,
				      see_toolbox, &seen, &more, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);

	page = (struct core_page){ .limit = 10 };
	seen.count = 0;
	error_clear(&err);
	assert_int_equal(core_definition_version_list(fx->core, &fx->who, &box,
						      false, &page, see_version, &seen,
						   &more, &err),
			 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.versions[0], 2);
	stranger = fx->who;
	strcpy(stranger.tenant, "other");
	assert_true(core_definition_version_list(fx->core, &stranger, &box, false, &page,
					      see_version, &seen, &more,
					      &err) < 0);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

/* Which version counts where none is named; 0: there is no such agent. */
static uint64_t default_of(struct fixture *fx,
			   const struct definition_name *name)
{
	struct definition_view view;

	if (core_definition_get(fx->core, &fx->who, name, &view, NULL) < 0)
		return 0;
	return view.default_version;
}

static void an_agents_newest_version_counts(void **state)
{
	struct definition_version_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	/* The name of a toolbox is none of an agent. */
	make(fx, &box, "{}");
	assert_int_equal(make(fx, &agent, "{}"), 1);
	assert_int_equal(make(fx, &agent, "{}"), 2);
	assert_int_equal(default_of(fx, &agent), 2);
	assert_int_equal(make_draft(fx), 3);
	assert_int_equal(default_of(fx, &agent), 2);
	assert_int_equal(core_definition_version_get(fx->core, &fx->who, &agent,
						     3, &view, NULL),
			 0);
	assert_true(view.draft);
	assert_int_equal(delete_version(fx, &agent, 2).err.code, ERR_NONE);
	assert_int_equal(default_of(fx, &agent), 1);
	assert_int_equal(delete_version(fx, &agent, 1).err.code, ERR_NONE);
	assert_int_equal(default_of(fx, &agent), 3);
	assert_int_equal(make_draft(fx), 4);
	assert_int_equal(default_of(fx, &agent), 4);
	assert_int_equal(delete_version(fx, &agent, 4).err.code, ERR_NONE);
	assert_int_equal(delete_version(fx, &agent, 3).err.code, ERR_NONE);
	assert_int_equal(default_of(fx, &agent), 0);
	assert_int_equal(delete_version(fx, &agent, 3).err.code,
			 ERR_NOT_FOUND);
	assert_int_equal(default_of(fx, &box), 1);
}

static void drafts_are_listed_if_they_are_asked_for(void **state)
{
	const struct core_page page = { .limit = 10, .ascending = true };
	struct fixture *fx = *state;
	struct seen seen = { .count = 0 };
	bool more;

	fixture_start(fx);
	make(fx, &agent, "{}");
	make_draft(fx);
	assert_int_equal(core_definition_version_list(fx->core, &fx->who,
						      &agent, false, &page,
						      see_version, &seen, &more,
						      NULL),
			 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(core_definition_version_list(fx->core, &fx->who,
						      &agent, true, &page,
						      see_version, &seen, &more,
						      NULL),
			 0);
	assert_int_equal(seen.count, 3);
}

static bool same(const char *text, const char *other)
{
	return strcmp(text, other) == 0;
}

static void what_is_said_already_makes_no_version(void **state)
{
	struct definition_spec spec = { .text = "{\"a\":1}",
					.need = DEFINITION_THERE,
					.same = same };
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(make_as(fx, &agent, &spec).err.code, ERR_NOT_FOUND);
	assert_int_equal(make(fx, &agent, "{\"a\":1}"), 1);
	assert_int_equal(make_as(fx, &agent, &spec).version, 1);
	spec.text = "{\"a\":2}";
	assert_int_equal(make_as(fx, &agent, &spec).version, 2);
	spec.need = DEFINITION_MISSING;
	assert_int_equal(make_as(fx, &agent, &spec).err.code, ERR_CONFLICT);
	assert_int_equal(default_of(fx, &agent), 2);
}

static int disable(void *userdata, struct definition_state *state,
		   struct error *err)
{
	struct said *said = userdata;

	assert_false(said->called);
	if (state->disabled)
		return error_set(err, ERR_CONFLICT, "it is disabled");
	state->disabled = true;
	strcpy(state->profile, "{\"card\":1}");
	return 0;
}

static struct said edit(struct fixture *fx)
{
	struct said said = { .called = false };

	assert_int_equal(core_definition_edit(fx->core, &fx->who, &agent,
					      disable, on_definition, &said,
					      &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static void its_state_is_kept(void **state)
{
	struct definition_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(edit(fx).err.code, ERR_NOT_FOUND);
	make(fx, &agent, "{}");
	assert_int_equal(edit(fx).err.code, ERR_NONE);
	assert_int_equal(edit(fx).err.code, ERR_CONFLICT);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(core_definition_get(fx->core, &fx->who, &agent, &view,
					     NULL),
			 0);
	assert_true(view.disabled);
	assert_string_equal(view.profile, "{\"card\":1}");
}

static void a_definition_that_is_too_long_is_refused(void **state)
{
	static char text[CORE_DEFINITION_MAX + 2];
	const struct definition_spec spec = { .text = text };
	struct fixture *fx = *state;
	struct said said = { .called = false };

	fixture_start(fx);
	memset(text, 'a', CORE_DEFINITION_MAX + 1);
	assert_true(core_definition_version_create(fx->core, &fx->who, &box,
						   &spec, on_version, &said,
						   &said.err) < 0);
	assert_int_equal(said.err.code, ERR_BAD_REQUEST);
	text[CORE_DEFINITION_MAX] = '\0';
	assert_int_equal(make(fx, &box, text), 1);
}

static void a_tenants_toolboxes_go_with_it(void **state)
{
	const struct tenant_limits limits = { .max_sessions = 0 };
	struct answer made = { .called = false }, gone = { .called = false };
	struct definition_version_view view;
	struct fixture *fx = *state;
	struct store_tenant row;

	fixture_start(fx);
	assert_int_equal(core_admin_tenant_set(fx->core, "t1", &limits, true,
					       on_json, &made, &made.err),
			 0);
	RUN_UNTIL(fx, made.called);
	strcpy(fx->who.tenant, "t1");
	make(fx, &box, "{}");
	make(fx, &box, "{}");
	assert_int_equal(core_admin_tenant_delete(fx->core, "t1", on_done,
						  &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, gone.called);
	RUN_UNTIL(fx, store_tenant_get(fx->store, "t1", &row) < 0);
	assert_true(get(fx, 1, &view) < 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(numbers_are_not_used_again),
		TEST(changes_at_once_do_not_meet),
		TEST(they_outlive_the_daemon),
		TEST(lists_are_of_one_project),
		TEST(an_agents_newest_version_counts),
		TEST(drafts_are_listed_if_they_are_asked_for),
		TEST(what_is_said_already_makes_no_version),
		TEST(its_state_is_kept),
		TEST(a_definition_that_is_too_long_is_refused),
		TEST(a_tenants_toolboxes_go_with_it),
	};

	return RUN_TESTS(tests);
}
