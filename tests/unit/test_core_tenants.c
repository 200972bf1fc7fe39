/* SPDX-License-Identifier: Apache-2.0 */
#include "tenant_fixture.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"

/* Tenants: what they may have, what they used, and how they end. */

static void tell(struct fixture *fx, const char *id, struct buf *json)
{
	struct error err = ERROR_INIT;

	buf_clear(json);
	assert_int_equal(core_admin_tenant_get(fx->core, id, json, &err), 0);
}

static void limits_of_one_tenant_are_its_own(void **state)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(65536);
	struct fixture *fx = *state;
	struct principal who;
	struct answer a;

	fixture_start(fx);
	tenant_set(fx, "acme", true, (struct tenant_limits){ .max_sessions = 1 },
		   &a);
	assert_non_null(strstr(a.text, "\"max_sessions\":1"));
	who = tenant_act_for(fx, "acme");
	assert_int_equal(tenant_create(fx, &who, &a), 0);
	assert_true(tenant_create(fx, &who, &a) < 0);
	assert_int_equal(a.err.code, ERR_LIMIT);
	assert_string_equal(a.err.reason, "quota");
	assert_non_null(strstr(a.err.message, "All 1 "));
	/* The refusal holds nothing, and others do not feel it. */
	tell(fx, "acme", &json);
	assert_non_null(strstr(buf_str(&json), "\"holds\":{\"sessions\":1,"));
	assert_int_equal(tenant_create(fx, &fx->who, &a), 0);

	tenant_set(fx, "acme", false,
		   (struct tenant_limits){ 2, TENANT_KEEP, TENANT_KEEP, 77,
					   TENANT_KEEP, TENANT_KEEP },
		   &a);
	assert_int_equal(tenant_create(fx, &who, &a), 0);
	/* And they outlive the daemon. */
	fixture_kill(fx);
	fixture_start(fx);
	tell(fx, "acme", &json);
	assert_non_null(strstr(buf_str(&json), "\"limits\":{\"max_sessions\":2,"
					       "\"max_executions\":null"));
	assert_non_null(strstr(buf_str(&json), "\"requests_per_minute\":77"));
	assert_int_equal(core_admin_tenant_set(fx->core, "acme",
					       &(struct tenant_limits){ 0 },
					       true, on_json, &a, &a.err),
			 error_errno(ERR_CONFLICT));
}

static void executions_have_a_limit_over_all_containers(void **state)
{
	struct fixture *fx = *state;
	const struct exec_spec spec = { .code = "x", .code_len = 1 };
	struct scripted_guest *g;
	char c[ID_SIZE], other[ID_SIZE], e[ID_SIZE];
	struct answer a;

	fixture_start(fx);
	tenant_set(fx, "default", false,
		   (struct tenant_limits){ .max_executions = 1 }, &a);
	g = fixture_session(fx, c);
	(void)fixture_session(fx, other);
	fixture_exec(fx, c, "x", e);
	a = (struct answer){ .called = false };
	assert_true(core_exec_start(fx->core, &fx->who, other, &spec, on_exec,
				    &a, &a.err) < 0);
	assert_int_equal(a.err.code, ERR_LIMIT);
	assert_non_null(strstr(a.err.message, "All 1 "));
	RUN_UNTIL(fx, g->execs == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_exec(fx, other, "x", e);
}

static struct {
	unsigned count;
	char tenant[CORE_TENANT_MAX + 1];
	char key_id[ID_SIZE];
} told;

static void on_revoked(void *userdata, const char *tenant, const char *key_id)
{
	(void)userdata;
	told.count++;
	strcpy(told.tenant, tenant);
	strcpy(told.key_id, key_id ? key_id : "all");
}

/* One session reaches its limit in the moment in which another is made. */
static void a_limit_ends_nobody_elses_session(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct principal who;
	struct answer a, b;
	char mine[ID_SIZE];
	int i;

	fixture_set(fx, "pool.default.ready=1");
	fixture_start(fx);
	tenant_set(fx, "acme", true, (struct tenant_limits){ 0 }, &a);
	who = tenant_act_for(fx, "acme");
	for (i = 0; i < 5; i++) {
		g = fixture_session(fx, mine);
		/* The pool's next VM must not be caught in its boot. */
		fixture_settle(fx);
		clock_advance(fx->clock, 20 * USEC_PER_MINUTE);
		assert_int_equal(tenant_create(fx, &who, &b), 0);
		/* Its guest has no files to give, and does not say so. */
		RUN_UNTIL(fx, g->quiesces == 1);
		clock_advance(fx->clock, 11 * USEC_PER_SEC);
		fixture_wait_state(fx, mine, SESSION_VIEW_ENDED);
		assert_string_equal(fixture_container(fx, mine).ended_reason,
				    "idle_timeout");
		fx->who = who;
		fixture_wait_state(fx, b.id, SESSION_VIEW_RUNNING);
		a = (struct answer){ .called = false };
		assert_int_equal(core_container_delete(fx->core, &who, b.id,
						       on_done, &a, &a.err),
				 0);
		RUN_UNTIL(fx, a.called);
		strcpy(fx->who.tenant, "default");
	}
}

/* ------------------------------------------------------------------ delete */

static void delete_tenant(struct fixture *fx, const char *id)
{
	struct answer a = { .called = false };

	assert_int_equal(core_admin_tenant_delete(fx->core, id, on_done, &a,
						  &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
}

static void usage_of(struct fixture *fx, struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	assert_int_equal(core_admin_usage(fx->core, 0, USAGE_BY_TENANT, NULL, on_json,
					  ret, &ret->err),
			 0);
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
}

static void create_from(struct fixture *fx, const char *origin,
			char container[ID_SIZE])
{
	const struct container_spec spec = { .name = "x", .origin = origin };
	struct answer a = { .called = false };

	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	strcpy(container, a.id);
	fixture_wait_state(fx, container, SESSION_VIEW_RUNNING);
}

/* What lives is with its origin, too, before anything is in the books. */
static void sessions_are_counted_by_what_made_them(void **state)
{
	struct fixture *fx = *state;
	char c[4][ID_SIZE];
	struct answer a = { .called = false };
	enum usage_by by;

	fixture_start(fx);
	create_from(fx, "conv_1", c[0]);
	create_from(fx, "conv_2", c[1]);
	create_from(fx, "conv_1", c[2]);
	create_from(fx, NULL, c[3]);
	clock_advance(fx->clock, USEC_PER_MINUTE);
	assert_int_equal(core_container_delete(fx->core, &fx->who, c[0],
					       on_done, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && vmd_running(&fx->vmd) == 3);
	fixture_settle(fx);
	clock_advance(fx->clock, USEC_PER_MINUTE);

	assert_true(usage_by_find("origin", &by));
	a = (struct answer){ .called = false };
	assert_int_equal(core_admin_usage(fx->core, 0, by, NULL, on_json, &a,
					  &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	/* One of two sessions of the first has ended after a minute. */
	assert_non_null(strstr(a.text, "\"origin\":\"conv_1\","
				       "\"sessions\":2,\"live_sessions\":1,"
				       "\"executions\":0,\"assigned_s\":18"));
	assert_non_null(strstr(a.text, "\"origin\":\"conv_2\","
				       "\"sessions\":1,\"live_sessions\":1,"
				       "\"executions\":0,\"assigned_s\":12"));
	assert_non_null(strstr(a.text, "\"origin\":\"api\","
				       "\"sessions\":1,\"live_sessions\":1"));
	assert_false(usage_by_find("week", &by));
}

/* A tenant with a file, a session in which code ran, and a key. */
static void furnish(struct fixture *fx, char key[128], char container[ID_SIZE])
{
	const struct key_spec spec = { .tenant = "acme" };
	const struct exec_spec code = { .code = "x", .code_len = 1 };
	struct scripted_guest *g;
	struct principal who, before = fx->who;
	char file[ID_SIZE];
	struct answer a;

	tenant_make_key(fx, &spec, key, &who);
	fx->who = who;
	fixture_upload(fx, "f.txt", "hello", 5, file);
	assert_int_equal(tenant_create(fx, &who, &a), 0);
	strcpy(container, a.id);
	fixture_wait_state(fx, container, SESSION_VIEW_RUNNING);
	g = fixture_guest(fx, container);
	a = (struct answer){ .called = false };
	assert_int_equal(core_exec_start(fx->core, &who, container, &code,
					 on_exec, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called && g->execs == 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, container, a.id, EXEC_OK);
	fx->who = before;
}

static void wait_erased(struct fixture *fx)
{
	struct store_tenant row;

	RUN_UNTIL(fx, (clock_advance(fx->clock, USEC_PER_MINUTE), true) &&
			      store_tenant_get(fx->store, "acme", &row) ==
				      -ENOENT &&
			      vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
}

static bool is_gone(struct fixture *fx, const char *tenant)
{
	_cleanup_(buf_done) struct buf json = BUF_INIT(65536);

	return core_admin_tenant_get(fx->core, tenant, &json, NULL) < 0;
}

static void check_erased(struct fixture *fx, const char *container)
{
	struct store_container row;
	struct store_totals totals;
	struct principal who;
	struct answer a;

	assert_true(core_local(fx->core, "acme", 0, &who, NULL) < 0);
	assert_int_equal(store_container_get(fx->store, NULL, container, &row),
			 -ENOENT);
	assert_int_equal(store_tenant_totals(fx->store, "acme", &totals), 0);
	assert_int_equal(totals.files, 0);
	/* What was used is in the books, under no name. */
	usage_of(fx, &a);
	assert_null(strstr(a.text, "acme"));
	assert_non_null(strstr(a.text, "{\"tenant\":null,\"sessions\":1,"
				       "\"live_sessions\":0,\"executions\":1"));
}

static void a_deleted_tenant_is_erased_whole(void **state)
{
	struct fixture *fx = *state;
	char key[128], c[ID_SIZE];
	struct principal who;
	struct answer a;

	fixture_start(fx);
	told.count = 0;
	core_on_revoked(fx->core, on_revoked, NULL);
	furnish(fx, key, c);
	delete_tenant(fx, "acme");
	assert_int_equal(told.count, 1);
	assert_string_equal(told.key_id, "all");
	/* From now on, nobody is it, nor can become it. */
	assert_true(core_authenticate(fx->core, key, strlen(key), &who, NULL) <
		    0);
	assert_true(core_local(fx->core, "acme", 0, &who, NULL) < 0);
	assert_int_equal(core_admin_tenant_set(fx->core, "acme",
					       &(struct tenant_limits){ 0 },
					       true, on_json, &a, NULL),
			 error_errno(ERR_CONFLICT));
	wait_erased(fx);
	check_erased(fx, c);
	/* Then the name is free. */
	RUN_UNTIL(fx, (clock_advance(fx->clock, USEC_PER_MINUTE),
		       is_gone(fx, "acme")));
	tenant_set(fx, "acme", true, (struct tenant_limits){ 0 }, &a);
}

static void a_kill_does_not_stop_the_erasing(void **state)
{
	struct fixture *fx = *state;
	char key[128], c[ID_SIZE];
	struct principal who;

	fixture_start(fx);
	furnish(fx, key, c);
	delete_tenant(fx, "acme");
	fixture_kill(fx);
	fixture_start(fx);
	assert_true(core_authenticate(fx->core, key, strlen(key), &who, NULL) <
		    0);
	wait_erased(fx);
	check_erased(fx, c);
}

static void the_sockets_own_tenant_stays(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };

	fixture_start(fx);
	assert_true(core_admin_tenant_delete(fx->core, "default", on_done, &a,
					     &a.err) < 0);
	assert_int_equal(a.err.code, ERR_CONFLICT);
	assert_int_equal(core_admin_tenant_delete(fx->core, "nobody", on_done,
						  &a, NULL),
			 error_errno(ERR_NOT_FOUND));
}

/* --------------------------------------------------------------- artifacts */

struct seen {
	unsigned count;
	char id[ID_SIZE];
	char tenant[CORE_TENANT_MAX + 1];
};

static void on_artifact(void *userdata, const struct cfile_view *file,
			const char *tenant)
{
	struct seen *seen = userdata;

	seen->count++;
	strcpy(seen->id, file->id);
	strcpy(seen->tenant, tenant);
}

static unsigned see(struct fixture *fx, struct seen *ret)
{
	const struct core_page page = { .limit = 10 };
	struct error err = ERROR_INIT;
	bool more;

	*ret = (struct seen){ .count = 0 };
	assert_int_equal(core_admin_artifacts(fx->core, &page, on_artifact, ret,
					      &more, &err),
			 0);
	return ret->count;
}

static void an_operator_has_the_files_of_all_tenants(void **state)
{
	struct fixture *fx = *state;
	_cleanup_close_ int fd = -1;
	char c[ID_SIZE], file[ID_SIZE];
	struct answer a = { .called = false }, d = { .called = false };
	struct cfile_view view;
	struct seen seen;
	int64_t active;

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fixture_upload(fx, "f.txt", "hello", 5, file);
	assert_int_equal(core_cfile_copy(fx->core, &fx->who, c, file, NULL,
					 on_cfile, &a, &a.err),
			 0);
	RUN_UNTIL(fx, a.called);
	active = fixture_container(fx, c).last_active_at;
	clock_advance(fx->clock, USEC_PER_MINUTE);
	assert_int_equal(see(fx, &seen), 1);
	assert_string_equal(seen.tenant, "default");
	assert_int_equal(core_admin_artifact_open(fx->core, seen.id, &view, &fd,
						  &a.err),
			 0);
	assert_int_equal(view.bytes, 5);
	assert_int_equal(core_admin_artifact_delete(fx->core, seen.id, on_done,
						    &d, &d.err),
			 0);
	RUN_UNTIL(fx, d.called);
	assert_int_equal(see(fx, &seen), 0);
	assert_true(core_admin_artifact_open(fx->core, a.id, &view, &fd,
					     &d.err) < 0);
	assert_int_equal(d.err.code, ERR_NOT_FOUND);
	/* None of it was the tenant's activity. */
	assert_int_equal(fixture_container(fx, c).last_active_at, active);
}

/* ------------------------------------------------------------------- usage */

static void usage_is_told_while_a_session_lives_and_closed_once(void **state)
{
	struct fixture *fx = *state;
	char c[ID_SIZE];
	struct answer a;

	fixture_start(fx);
	(void)fixture_session(fx, c);
	clock_advance(fx->clock, 600 * USEC_PER_SEC);
	usage_of(fx, &a);
	assert_non_null(strstr(a.text, "\"sessions\":1,\"live_sessions\":1,"
				       "\"executions\":0,\"assigned_s\":600"));
	assert_non_null(strstr(a.text, "\"memory_gib_s\":600.0"));
	assert_non_null(strstr(a.text, "\"idle_share\":1.0"));

	/* A kill neither loses the session's time nor counts it twice. */
	fixture_kill(fx);
	fixture_start(fx);
	fixture_wait_state(fx, c, SESSION_VIEW_RUNNING);
	a = (struct answer){ .called = false };
	assert_int_equal(core_admin_kill(fx->core, c, on_done, &a, &a.err), 0);
	fixture_wait_state(fx, c, SESSION_VIEW_ENDED);
	fixture_kill(fx);
	fixture_start(fx);
	fixture_settle(fx);
	usage_of(fx, &a);
	assert_non_null(strstr(a.text, "\"sessions\":1,\"live_sessions\":0,"
				       "\"executions\":0,\"assigned_s\":600"));
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(limits_of_one_tenant_are_its_own),
		TEST(executions_have_a_limit_over_all_containers),
		TEST(a_limit_ends_nobody_elses_session),
		TEST(sessions_are_counted_by_what_made_them),
		TEST(a_deleted_tenant_is_erased_whole),
		TEST(a_kill_does_not_stop_the_erasing),
		TEST(the_sockets_own_tenant_stays),
		TEST(an_operator_has_the_files_of_all_tenants),
		TEST(usage_is_told_while_a_session_lives_and_closed_once),
	};

	return RUN_TESTS(tests);
}
