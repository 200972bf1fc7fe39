/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>

/* Sessions that clients know by a name of their own. */

static const struct container_spec spec_named = {
	.name = "user-1",
	.dialect = DIALECT_SESSIONS,
};

static void ask(struct fixture *fx, const struct principal *who,
		struct answer *ret)
{
	assert_int_equal(core_container_create(fx->core, who, &spec_named,
					       on_container, ret, &ret->err),
			 0);
}

static void get(struct fixture *fx, const struct principal *who, char *ret_id)
{
	struct answer a = { .called = false };

	ask(fx, who, &a);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	strcpy(ret_id, a.id);
}

static int look_as(struct fixture *fx, const struct principal *who,
		   struct container_view *ret, struct error *err)
{
	return core_container_named(fx->core, who, DIALECT_SESSIONS,
				    CORE_POOL_DEFAULT, "user-1", false, ret,
				    err);
}

static int look(struct fixture *fx, struct container_view *ret)
{
	struct error err = ERROR_INIT;

	return look_as(fx, &fx->who, ret, &err);
}

static void a_name_stands_for_one_container_however_many_ask(void **state)
{
	struct fixture *fx = *state;
	struct answer a[3] = { 0 };
	struct container_view v;
	char later[ID_SIZE];
	size_t i;

	fixture_start(fx);
	assert_true(look(fx, &v) < 0);
	for (i = 0; i < 3; i++)
		ask(fx, &fx->who, &a[i]);
	RUN_UNTIL(fx, a[0].called && a[1].called && a[2].called);
	for (i = 0; i < 3; i++) {
		assert_false(a[i].failed);
		assert_string_equal(a[i].id, a[0].id);
	}
	get(fx, &fx->who, later);
	assert_string_equal(later, a[0].id);
	assert_int_equal(look(fx, &v), 0);
	assert_string_equal(v.id, later);
	fixture_settle(fx);
	assert_int_equal(fx->vmd.creates, 1);
}

static void another_key_or_tenant_has_another_container(void **state)
{
	struct fixture *fx = *state;
	struct principal other_key = { .scopes = CORE_SCOPE_ALL };
	struct principal other_tenant = { .scopes = CORE_SCOPE_ALL };
	const struct key_spec key = { .tenant = "another",
				      .name = "x",
				      .scopes = CORE_SCOPE_ALL };
	char mine[ID_SIZE], keys[ID_SIZE], tenants[ID_SIZE];
	struct answer made = { .called = false };

	fixture_start(fx);
	assert_int_equal(core_admin_key_create(fx->core, &key, on_json, &made,
					       &made.err),
			 0);
	RUN_UNTIL(fx, made.called);
	strcpy(other_key.tenant, fx->who.tenant);
	strcpy(other_key.key_id, "key_another");
	strcpy(other_tenant.tenant, "another");
	get(fx, &fx->who, mine);
	get(fx, &other_key, keys);
	get(fx, &other_tenant, tenants);
	assert_string_not_equal(mine, keys);
	assert_string_not_equal(mine, tenants);
	assert_string_not_equal(keys, tenants);
}

static void on_listed(void *userdata, const struct container_view *container)
{
	struct answer *a = userdata;

	a->called = true;
	strcat(a->text, container->id);
}

static void only_those_of_a_key_are_listed(void **state)
{
	struct fixture *fx = *state;
	struct principal other_key = { .scopes = CORE_SCOPE_ALL };
	struct answer mine = { 0 }, theirs = { 0 };
	char first[ID_SIZE], second[ID_SIZE];

	fixture_start(fx);
	strcpy(other_key.tenant, fx->who.tenant);
	strcpy(other_key.key_id, "key_another");
	get(fx, &fx->who, first);
	get(fx, &other_key, second);
	core_container_named_list(fx->core, &fx->who, DIALECT_SESSIONS,
				  CORE_POOL_DEFAULT, on_listed, &mine);
	assert_string_equal(mine.text, first);
	core_container_named_list(fx->core, &other_key, DIALECT_SESSIONS,
				  CORE_POOL_DEFAULT, on_listed, &theirs);
	assert_string_equal(theirs.text, second);
}

static void a_name_is_free_again_when_its_session_ends(void **state)
{
	struct fixture *fx = *state;
	struct answer gone = { .called = false };
	struct container_view v;
	char first[ID_SIZE], second[ID_SIZE];

	fixture_start(fx);
	get(fx, &fx->who, first);
	assert_int_equal(core_container_delete(fx->core, &fx->who, first,
					       on_done, &gone, &gone.err),
			 0);
	assert_true(look(fx, &v) < 0);
	get(fx, &fx->who, second);
	assert_string_not_equal(first, second);
	/* The end of the first does not take the name from the second. */
	fixture_settle(fx);
	assert_int_equal(look(fx, &v), 0);
	assert_string_equal(v.id, second);
}

static void check_told(struct fixture *fx, const struct principal *who,
		       const char *says)
{
	struct container_view v;
	struct error err = ERROR_INIT;

	assert_int_equal(look_as(fx, who, &v, &err), -ENOENT);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	/* The dialect has a word of its own. */
	assert_string_equal(err.reason, "");
	if (!strstr(err.message, says))
		fail_msg("not '%s': %s", says, err.message);
}

#define NOTHING "There is no session 'user-1' now"

static void a_name_whose_session_expired_is_told_when_and_why(void **state)
{
	struct fixture *fx = *state;
	struct principal other = { .scopes = CORE_SCOPE_ALL };
	struct answer gone = { .called = false };
	char id[ID_SIZE];

	fixture_set(fx, "session.hard=600");
	fixture_start(fx);
	strcpy(other.tenant, fx->who.tenant);
	strcpy(other.key_id, "key_another");
	check_told(fx, &fx->who, NOTHING);
	get(fx, &fx->who, id);
	fixture_settle(fx);
	clock_advance(fx->clock, 600 * USEC_PER_SEC);
	fixture_settle(fx);
	check_told(fx, &fx->who, "Session 'user-1' expired just now: ");
	clock_advance(fx->clock, 11 * USEC_PER_SEC); /* for its last files */
	RUN_UNTIL(fx, fixture_container(fx, id).ended_at > 0);
	check_told(fx, &fx->who, "Session 'user-1' expired at 20");
	check_told(fx, &fx->who, "(hard_limit). The next execution or upload");
	check_told(fx, &fx->who, id);
	/* A name of another key is another name. */
	check_told(fx, &other, NOTHING);

	/* The ledger knows as well as the object did. */
	fixture_kill(fx);
	fixture_start(fx);
	check_told(fx, &fx->who, "(hard_limit)");
	assert_int_equal(core_container_delete(fx->core, &fx->who, id, on_done,
					       &gone, &gone.err),
			 0);
	RUN_UNTIL(fx, gone.called);
	check_told(fx, &fx->who, NOTHING);
}

/*
 * What a client deleted, it knows of: what ended before that is not told as if
 * it were that.
 */
static void a_deleted_session_hides_what_expired_before_it(void **state)
{
	struct fixture *fx = *state;
	struct answer gone = { .called = false };
	char first[ID_SIZE], second[ID_SIZE], third[ID_SIZE];

	fixture_set(fx, "session.hard=600");
	fixture_start(fx);
	get(fx, &fx->who, first);
	fixture_settle(fx);
	clock_advance(fx->clock, 600 * USEC_PER_SEC);
	fixture_settle(fx);
	clock_advance(fx->clock, 11 * USEC_PER_SEC);
	RUN_UNTIL(fx, fixture_container(fx, first).ended_at > 0);
	check_told(fx, &fx->who, first);
	get(fx, &fx->who, second);
	fixture_settle(fx);
	assert_int_equal(core_container_delete(fx->core, &fx->who, second,
					       on_done, &gone, &gone.err),
			 0);
	/* Before it is durable, after, and with nothing but the ledger. */
	check_told(fx, &fx->who, NOTHING);
	RUN_UNTIL(fx, gone.called);
	fixture_settle(fx);
	check_told(fx, &fx->who, NOTHING);
	fixture_kill(fx);
	fixture_start(fx);
	check_told(fx, &fx->who, NOTHING);

	/* One that expires after it is told again. */
	get(fx, &fx->who, third);
	fixture_settle(fx);
	clock_advance(fx->clock, 600 * USEC_PER_SEC);
	fixture_settle(fx);
	check_told(fx, &fx->who, third);
}

static void a_name_outlives_the_daemon(void **state)
{
	struct fixture *fx = *state;
	char before[ID_SIZE], after[ID_SIZE];

	fixture_start(fx);
	get(fx, &fx->who, before);
	fixture_settle(fx);
	fixture_kill(fx);
	fixture_start(fx);
	get(fx, &fx->who, after);
	assert_string_equal(before, after);
}

/* Where containers have ids of ours a name is just a name. */
static void in_other_dialects_names_may_be_shared(void **state)
{
	struct fixture *fx = *state;
	struct container_spec spec = spec_named;
	struct answer a[2] = { 0 };
	size_t i;

	fixture_start(fx);
	spec.dialect = DIALECT_OPENAI;
	for (i = 0; i < 2; i++)
		assert_int_equal(core_container_create(fx->core, &fx->who,
						       &spec, on_container,
						       &a[i], &a[i].err),
				 0);
	RUN_UNTIL(fx, a[0].called && a[1].called);
	assert_string_not_equal(a[0].id, a[1].id);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_name_stands_for_one_container_however_many_ask),
		TEST(another_key_or_tenant_has_another_container),
		TEST(only_those_of_a_key_are_listed),
		TEST(a_name_is_free_again_when_its_session_ends),
		TEST(a_name_whose_session_expired_is_told_when_and_why),
		TEST(a_deleted_session_hides_what_expired_before_it),
		TEST(a_name_outlives_the_daemon),
		TEST(in_other_dialects_names_may_be_shared),
	};

	return RUN_TESTS(tests);
}
