/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log of executions: who had what run. */

#include "core_fixture.h"
#include "journal.h"

#include "base/hex.h"
#include "base/log.h"
#include "core/core_exec.h"
#include "store/hash.h"

#define CODE "print('of a client')"

static int setup(void **state)
{
	int r = fixture_setup(state);

	journal_begin();
	/* What is audited is no matter of levels. */
	log_set_level(LOG_ERR);
	return r;
}

static int teardown(void **state)
{
	journal_end();
	return fixture_teardown(state);
}

static void start(struct fixture *fx, const char *container, const char *key,
		  struct answer *ret)
{
	const struct exec_spec spec = {
		.code = CODE,
		.code_len = strlen(CODE),
		.stdin_data = "secret input",
		.stdin_len = strlen("secret input"),
		.request = "req_1",
		.idempotency = { .key = key },
	};

	*ret = (struct answer){ .called = false };
	assert_int_equal(core_exec_start(fx->core, &fx->who, container, &spec,
					 on_exec, ret, &ret->err), 0);
	RUN_UNTIL(fx, ret->called);
}

static void has(const char *entry, const char *name, const char *value)
{
	char field[256];

	(void)snprintf(field, sizeof(field), "%s=%s", name, value);
	if (!journal_has(entry, field))
		fail_msg("no %s in:%s", field, entry);
}

static const char *digest_of(const char *code)
{
	static char text[2 * HASH_SIZE + 1];
	uint8_t hash[HASH_SIZE];

	assert_int_equal(hash_sha256(code, strlen(code), hash), 0);
	hex_encode(hash, sizeof(hash), text);
	return text;
}

static void an_execution_is_noted_before_it_runs_without_its_code(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct answer a;
	const char *entry;
	char c[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	strcpy(fx->who.key_id, "key_1");
	assert_int_equal(journal_count("AUDIT=execution"), 0);
	start(fx, c, NULL, &a);
	assert_int_equal(g->execs, 0);
	assert_int_equal(journal_count("AUDIT=execution"), 1);
	entry = journal_find("AUDIT=execution");
	has(entry, "SYSLOG_IDENTIFIER", "cupola-audit");
	has(entry, "TENANT", fx->who.tenant);
	has(entry, "KEY_ID", "key_1");
	has(entry, "REQUEST_ID", "req_1");
	has(entry, "SESSION_ID", c);
	has(entry, "EXEC_ID", a.id);
	has(entry, "CODE_SHA256", digest_of(CODE));
	assert_null(strstr(entry, "\nUID="));
	assert_null(strstr(entry, "of a client"));
	assert_null(strstr(entry, "secret"));
}

static void without_a_key_the_user_is_noted(void **state)
{
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	fx->who.key_id[0] = '\0';
	fx->who.uid = 4711;
	start(fx, c, NULL, &a);
	has(journal_find("AUDIT=execution"), "UID", "4711");
	assert_null(strstr(journal_find("AUDIT=execution"), "\nKEY_ID="));
}

static void what_is_answered_again_did_not_run_again(void **state)
{
	struct fixture *fx = *state;
	struct answer first, again;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	start(fx, c, "once", &first);
	start(fx, c, "once", &again);
	assert_string_equal(first.id, again.id);
	assert_int_equal(journal_count("AUDIT=execution"), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_execution_is_noted_before_it_runs_without_its_code),
		TEST(without_a_key_the_user_is_noted),
		TEST(what_is_answered_again_did_not_run_again),
	};

	return RUN_TESTS(tests);
}
