/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>
#include <unistd.h>

/* Keys, watches, what is another's and what is repeated. */

static void what_is_anothers_is_not_there(void **state)
{
	struct fixture *fx = *state;
	const struct principal other = { .tenant = "other",
					 .scopes = CORE_SCOPE_ALL };
	struct container_view view;
	struct file_view file_view;
	struct exec_view exec_view;
	char file[ID_SIZE], c[ID_SIZE], e[ID_SIZE];
	struct error foreign, missing;
	struct answer a = { .called = false };
	const char *files[] = { file };
	const struct container_spec spec = { .name = "x",
					     .file_count = 1,
					     .file_ids = files };

	fixture_start(fx);
	fixture_upload(fx, "a", "1", 1, file);
	(void)fixture_session(fx, c);
	fixture_exec(fx, c, "x", e);

	foreign = missing = ERROR_INIT;
	assert_true(core_container_get(fx->core, &other, c, true, &view,
				       &foreign) < 0);
	assert_int_equal(foreign.code, ERR_NOT_FOUND);
	foreign = ERROR_INIT;
	assert_true(core_file_get(fx->core, &other, file, &file_view,
				  &foreign) < 0);
	assert_int_equal(foreign.code, ERR_NOT_FOUND);
	foreign = ERROR_INIT;
	assert_true(core_exec_get(fx->core, &other, c, e, &exec_view,
				  &foreign) < 0);
	assert_int_equal(foreign.code, ERR_NOT_FOUND);
	foreign = ERROR_INIT;
	assert_true(core_container_create(fx->core, &other, &spec, on_container,
					  &a, &foreign) < 0);
	assert_int_equal(foreign.code, ERR_NOT_FOUND);
	assert_string_equal(foreign.param, "file_ids");
	foreign = ERROR_INIT;
	assert_true(core_container_delete(fx->core, &other, c, on_done, &a,
					  &foreign) < 0);
	c[ID_SIZE - 1] = '\0';
	missing = ERROR_INIT;
	memset(c + strlen("cntr_"), '0', strlen(c) - strlen("cntr_"));
	assert_true(core_container_delete(fx->core, &other, c, on_done, &a,
					  &missing) < 0);
	assert_int_equal(foreign.code, missing.code);
	assert_string_equal(foreign.reason, missing.reason);
	assert_string_equal(foreign.param, missing.param);
}

static void keys_open_until_they_are_revoked(void **state)
{
	struct fixture *fx = *state;
	const struct key_spec spec = { .tenant = "acme",
				       .name = "ci",
				       .scopes = CORE_SCOPE_FILES };
	struct answer a = { .called = false }, r = { .called = false };
	struct principal who;
	struct buf list = BUF_INIT(65536);
	char key[128], *at;

	fixture_start(fx);
	assert_int_equal(
		core_admin_key_create(fx->core, &spec, on_json, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	at = strstr(a.text, "\"key\":\"");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "\"key\":\"%127[^\"]", key), 1);
	assert_int_equal(
		core_authenticate(fx->core, key, strlen(key), &who, &a.err), 0);
	assert_string_equal(who.tenant, "acme");
	assert_int_equal(who.scopes, CORE_SCOPE_FILES);
	assert_true(core_authenticate(fx->core, key, strlen(key) - 1, &who,
				      &a.err) < 0);
	assert_int_equal(a.err.code, ERR_UNAUTHORIZED);
	assert_string_equal(a.err.reason, "invalid_api_key");

	assert_int_equal(core_admin_key_list(fx->core, NULL, &list, &a.err), 0);
	assert_null(strstr(buf_str(&list), key));
	assert_non_null(strstr(buf_str(&list), "\"files\""));
	buf_done(&list);
	strcpy(a.id, who.key_id);
	assert_int_equal(
		core_admin_key_revoke(fx->core, a.id, on_done, &r, &r.err), 0);
	RUN_UNTIL(fx, r.called);
	assert_true(core_authenticate(fx->core, key, strlen(key), &who,
				      &a.err) < 0);
	assert_int_equal(core_local(fx->core, "acme", 0, &who, &r.err), 0);
	assert_true(core_local(fx->core, "nobody", 0, &who, &r.err) < 0);
}

static void count_wake(void *userdata)
{
	++*(unsigned *)userdata;
}

/* After what was read: id 3 is in the middle of the first piece of output. */
static void read_from_store(struct fixture *fx, const char *c, const char *e)
{
	unsigned wakes = 0, types[EXEC_EVENT_TYPE_COUNT] = { 0 };
	struct error err = ERROR_INIT;
	struct exec_event ev;
	struct exec_watch *w;
	char text[64] = "";
	int r;

	assert_int_equal(exec_watch_new(fx->core, &fx->who, c, e, 3, count_wake,
					&wakes, &w, &err),
			 0);
	while ((r = exec_watch_next(w, 100, &ev)) == 1) {
		types[ev.type]++;
		if (ev.type == EXEC_EVENT_OUTPUT)
			strncat(text, ev.data, ev.data_len);
		if (ev.type == EXEC_EVENT_DONE)
			assert_int_equal(ev.id, 12);
	}
	assert_int_equal(r, -ENODATA);
	assert_string_equal(text, "\xc3\xa9"
				  "def!g");
	assert_int_equal(types[EXEC_EVENT_STARTED], 0);
	assert_int_equal(types[EXEC_EVENT_RESULT], 1);
	assert_int_equal(types[EXEC_EVENT_DONE], 1);
	exec_watch_free(w);
	assert_int_equal(exec_watch_new(fx->core, &fx->who, c, e, 12,
					count_wake, &wakes, &w, &err),
			 0);
	assert_int_equal(exec_watch_next(w, 100, &ev), -ENODATA);
	exec_watch_free(w);
}

static void a_watch_sees_all_events_and_can_go_on_anywhere(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct exec_watch *w;
	struct exec_event ev;
	struct error err = ERROR_INIT;
	char c[ID_SIZE], e[ID_SIZE];
	unsigned wakes = 0;

	fixture_start(fx);
	g = fixture_session(fx, c);
	fixture_exec(fx, c, "x", e);
	assert_int_equal(exec_watch_new(fx->core, &fx->who, c, e, 0, count_wake,
					&wakes, &w, &err),
			 0);
	RUN_UNTIL(fx, g->execs == 1);
	assert_int_equal(exec_watch_next(w, 100, &ev), 1);
	assert_int_equal(ev.type, EXEC_EVENT_STARTED);
	assert_int_equal(ev.id, 1);
	assert_int_equal(exec_watch_next(w, 100, &ev), 0);
	guest_say_output(g, 1, WIRE_STDOUT, 0,
			 "ab\xc3\xa9"
			 "d");
	guest_say_output(g, 1, WIRE_STDOUT, 5, "ef");
	fixture_settle(fx);
	assert_int_equal(wakes, 1);
	/* Cut at a character border. */
	assert_int_equal(exec_watch_next(w, 3, &ev), 1);
	assert_int_equal(ev.data_len, 2);
	assert_int_equal(ev.id, 3);
	exec_watch_free(w);

	guest_say_output(g, 1, WIRE_STDERR, 0, "!");
	guest_say_output(g, 1, WIRE_STDOUT, 7, "g");
	guest_say_display(g, 1, 0, 0, "text/plain", "r", false);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, e, EXEC_OK);
	fixture_settle(fx);

	read_from_store(fx, c, e);
}

static void a_repeated_create_is_the_first_one(void **state)
{
	struct fixture *fx = *state;
	struct container_spec spec = { .name = "x",
				       .idempotency = { .key = "k" } };
	struct answer a = { .called = false }, b = { .called = false };
	struct answer again = { .called = false };

	fixture_start(fx);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &a, &a.err),
			 0);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &b, &b.err),
			 0);
	RUN_UNTIL(fx, a.called && b.called);
	assert_false(b.failed);
	assert_string_equal(a.id, b.id);
	assert_int_equal(core_container_create(fx->core, &fx->who, &spec,
					       on_container, &again,
					       &again.err),
			 0);
	RUN_UNTIL(fx, again.called);
	assert_string_equal(a.id, again.id);
	fixture_settle(fx);
	assert_int_equal(vmd_running(&fx->vmd), 1);
	spec.idempotency.body_sha256[0] = 1;
	assert_true(core_container_create(fx->core, &fx->who, &spec,
					  on_container, &b, &b.err) < 0);
	assert_int_equal(b.err.code, ERR_UNPROCESSABLE);
}

static void a_repeated_execution_runs_once(void **state)
{
	struct fixture *fx = *state;
	struct exec_spec spec = { .code = "x",
				  .code_len = 1,
				  .stdin_data = "",
				  .idempotency = { .key = "k" } };
	struct answer a = { .called = false }, b = { .called = false };
	struct scripted_guest *g;
	char c[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	assert_int_equal(core_exec_start(fx->core, &fx->who, c, &spec, on_exec,
					 &a, &a.err),
			 0);
	assert_int_equal(core_exec_start(fx->core, &fx->who, c, &spec, on_exec,
					 &b, &b.err),
			 0);
	RUN_UNTIL(fx, a.called && b.called);
	assert_false(a.failed || b.failed);
	assert_string_equal(a.id, b.id);
	fixture_settle(fx);
	assert_int_equal(g->execs, 1);
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, c, a.id, EXEC_OK);
	fixture_settle(fx);
	b = (struct answer){ .called = false };
	assert_int_equal(core_exec_start(fx->core, &fx->who, c, &spec, on_exec,
					 &b, &b.err),
			 0);
	RUN_UNTIL(fx, b.called);
	assert_string_equal(a.id, b.id);
	assert_int_equal(g->execs, 1);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_anothers_is_not_there),
		TEST(keys_open_until_they_are_revoked),
		TEST(a_watch_sees_all_events_and_can_go_on_anywhere),
		TEST(a_repeated_create_is_the_first_one),
		TEST(a_repeated_execution_runs_once),
	};

	return RUN_TESTS(tests);
}
