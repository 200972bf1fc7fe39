/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

/* Toolboxes on a real store. */

static const struct toolbox_name box = { "p1", "box" };

/** struct said - What a change came to */
struct said {
	bool called;
	struct error err;
	uint64_t version;
	char id[ID_SIZE];
};

static void on_version(void *userdata,
		       const struct toolbox_version_view *version,
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

static void on_toolbox(void *userdata, const struct toolbox_view *toolbox,
		       const struct error *err)
{
	struct said *said = userdata;

	said->called = true;
	if (err)
		said->err = *err;
	else
		said->version = toolbox->default_version;
}

static void on_gone(void *userdata, const struct error *err)
{
	struct said *said = userdata;

	said->called = true;
	if (err)
		said->err = *err;
}

static void ask(struct fixture *fx, const struct toolbox_name *name,
		const char *definition, struct said *ret)
{
	*ret = (struct said){ .called = false };
	assert_int_equal(core_toolbox_version_create(fx->core, &fx->who, name,
						     definition, on_version,
						     ret, &ret->err),
			 0);
	assert_false(ret->called);
}

static uint64_t make(struct fixture *fx, const struct toolbox_name *name,
		     const char *definition)
{
	struct said said;

	ask(fx, name, definition, &said);
	RUN_UNTIL(fx, said.called);
	assert_int_equal(said.err.code, ERR_NONE);
	return said.version;
}

static struct said promote(struct fixture *fx, uint64_t version)
{
	struct said said = { .called = false };

	assert_int_equal(core_toolbox_promote(fx->core, &fx->who, &box, version,
					      on_toolbox, &said, &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static struct said delete_version(struct fixture *fx, uint64_t version)
{
	struct said said = { .called = false };

	assert_int_equal(core_toolbox_version_delete(fx->core, &fx->who, &box,
						     version, on_gone, &said,
						     &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static struct said delete_box(struct fixture *fx)
{
	struct said said = { .called = false };

	assert_int_equal(core_toolbox_delete(fx->core, &fx->who, &box, on_gone,
					     &said, &said.err),
			 0);
	RUN_UNTIL(fx, said.called);
	return said;
}

static int get(struct fixture *fx, uint64_t version,
	       struct toolbox_version_view *ret)
{
	return core_toolbox_version_get(fx->core, &fx->who, &box, version, ret,
					NULL);
}

static void numbers_are_not_used_again(void **state)
{
	struct toolbox_version_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(make(fx, &box, "{\"a\":1}"), 1);
	assert_int_equal(make(fx, &box, "{\"a\":2}"), 2);
	assert_int_equal(delete_version(fx, 2).err.code, ERR_NONE);
	assert_int_equal(make(fx, &box, "{\"a\":3}"), 3);
	assert_true(get(fx, 2, &view) < 0);
	assert_int_equal(get(fx, 0, &view), 0);
	assert_int_equal(view.version, 1);
	assert_string_equal(view.definition, "{\"a\":1}");
	assert_int_equal(promote(fx, 3).version, 3);
	assert_int_equal(get(fx, 0, &view), 0);
	assert_string_equal(view.definition, "{\"a\":3}");
	assert_int_equal(promote(fx, 2).err.code, ERR_NOT_FOUND);
	assert_int_equal(delete_version(fx, 3).err.code, ERR_BAD_REQUEST);
	assert_int_equal(delete_version(fx, 9).err.code, ERR_NOT_FOUND);
	assert_int_equal(delete_box(fx).err.code, ERR_NONE);
	assert_int_equal(delete_box(fx).err.code, ERR_NOT_FOUND);
	assert_true(get(fx, 1, &view) < 0);
	/* A new one of the same name begins anew. */
	assert_int_equal(make(fx, &box, "{}"), 1);
}

static void changes_at_once_do_not_meet(void **state)
{
	struct fixture *fx = *state;
	struct said said[8], gone = { .called = false };
	size_t i;

	fixture_start(fx);
	for (i = 0; i < 4; i++)
		ask(fx, &box, "{}", &said[i]);
	assert_int_equal(core_toolbox_delete(fx->core, &fx->who, &box, on_gone,
					     &gone, &gone.err),
			 0);
	for (i = 4; i < 8; i++)
		ask(fx, &box, "{}", &said[i]);
	RUN_UNTIL(fx, said[7].called);
	assert_true(gone.called);
	for (i = 0; i < 8; i++) {
		assert_int_equal(said[i].err.code, ERR_NONE);
		assert_int_equal(said[i].version, i % 4 + 1);
	}
}

static void they_outlive_the_daemon(void **state)
{
	struct toolbox_version_view view;
	struct fixture *fx = *state;

	fixture_start(fx);
	assert_int_equal(make(fx, &box, "{\"a\":1}"), 1);
	fixture_kill(fx);
	fixture_start(fx);
	assert_int_equal(get(fx, 1, &view), 0);
	assert_string_equal(view.definition, "{\"a\":1}");
	assert_int_equal(make(fx, &box, "{}"), 2);
}

struct seen {
	unsigned count;
	char last[ID_SIZE];
	uint64_t versions[8];
};

static void see_toolbox(void *userdata, const struct toolbox_view *toolbox)
{
	struct seen *seen = userdata;

	seen->count++;
	strcpy(seen->last, toolbox->id);
}

static void see_version(void *userdata,
			const struct toolbox_version_view *version)
{
	struct seen *seen = userdata;

	seen->versions[seen->count++] = version->version;
	strcpy(seen->last, version->id);
}

static void lists_are_of_one_project(void **state)
{
	const struct toolbox_name other = { "p2", "box" };
	const struct toolbox_name second = { "p1", "b2" };
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
	assert_int_equal(core_toolbox_list(fx->core, &fx->who, "p1", &page,
					   see_toolbox, &seen, &more, &err),
			 0);
	assert_true(more);
	strcpy(page.after, seen.last);
	assert_int_equal(core_toolbox_list(fx->core, &fx->who, "p1", &page,
					   see_toolbox, &seen, &more, &err),
			 0);
	assert_false(more);
	assert_int_equal(seen.count, 2);
	/* A row of another project is none of this list. */
	assert_true(core_toolbox_list(fx->core, &fx->who, "p2", &page,
				      see_toolbox, &seen, &more, &err) < 0);
	assert_int_equal(err.code, ERR_BAD_REQUEST);

	page = (struct core_page){ .limit = 10 };
	seen.count = 0;
	error_clear(&err);
	assert_int_equal(core_toolbox_version_list(fx->core, &fx->who, &box,
						   &page, see_version, &seen,
						   &more, &err),
			 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.versions[0], 2);
	stranger = fx->who;
	strcpy(stranger.tenant, "other");
	assert_true(core_toolbox_version_list(fx->core, &stranger, &box, &page,
					      see_version, &seen, &more,
					      &err) < 0);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_definition_that_is_too_long_is_refused(void **state)
{
	static char text[CORE_DEFINITION_MAX + 2];
	struct fixture *fx = *state;
	struct said said = { .called = false };

	fixture_start(fx);
	memset(text, 'a', CORE_DEFINITION_MAX + 1);
	assert_true(core_toolbox_version_create(fx->core, &fx->who, &box, text,
						on_version, &said,
						&said.err) < 0);
	assert_int_equal(said.err.code, ERR_BAD_REQUEST);
	text[CORE_DEFINITION_MAX] = '\0';
	assert_int_equal(make(fx, &box, text), 1);
}

static void a_tenants_toolboxes_go_with_it(void **state)
{
	const struct tenant_limits limits = { .max_sessions = 0 };
	struct answer made = { .called = false }, gone = { .called = false };
	struct toolbox_version_view view;
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
		TEST(a_definition_that_is_too_long_is_refused),
		TEST(a_tenants_toolboxes_go_with_it),
	};

	return RUN_TESTS(tests);
}
