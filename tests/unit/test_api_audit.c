/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log of what operators do, and try. */

#include "api_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/router.h"
#include "base/cleanup.h"
#include "journal.h"

static int setup(void **state)
{
	int r = fixture_setup(state);

	journal_begin();
	return r;
}

static int teardown(void **state)
{
	journal_end();
	return fixture_teardown(state);
}

static int ask_locally(struct fixture *fx, const char *line, const char *json)
{
	_cleanup_close_ int fd = client_connect_unix(fx);
	char request[512];

	(void)snprintf(request, sizeof(request),
		       "%s HTTP/1.1\r\n" HOST
		       "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s",
		       line, strlen(json), json);
	assert_true(client_send(fx, fd, request, strlen(request)));
	_answer_ struct answer a = client_read(fx, fd);

	run_loop(fx);
	return a.status;
}

/* Whoever adds a call decides which of both it is. */
static void all_that_is_more_than_a_look_has_a_word(void **state)
{
	size_t i, words = 0;

	(void)state;
	for (i = 0; i < routes_count; i++) {
		if (routes[i].family == FAMILY_ADMIN &&
		    routes[i].view == (routes[i].audit != NULL))
			fail_msg("%s %s", routes[i].method, routes[i].pattern);
		words += routes[i].audit != NULL;
	}
	assert_true(words > 0);
}

static void a_key_is_noted_with_whose_it_is(void **state)
{
	struct fixture *fx = *state;
	const char *entry;
	char uid[32];

	assert_int_equal(ask_locally(fx, "POST /admin/v1/keys",
				     "{\"tenant\":\"acme\","
				     "\"scopes\":[\"files\"]}"), 200);
	entry = journal_find("AUDIT=key_create");
	assert_non_null(entry);
	(void)snprintf(uid, sizeof(uid), "UID=%u", getuid());
	assert_true(journal_has(entry, uid));
	assert_true(journal_has(entry, "OBJECT=key_made"));
	assert_true(journal_has(entry, "TENANT=acme"));
	assert_true(journal_has(entry, "STATUS=200"));
	assert_non_null(strstr(entry, "\nREQUEST_ID=req_"));
	/* What opens doors is nowhere. */
	assert_null(strstr(entry, "ck-"));

	assert_int_equal(ask_locally(fx, "DELETE /admin/v1/keys/key_made", ""),
			 200);
	entry = journal_find("AUDIT=key_revoke");
	assert_non_null(entry);
	assert_true(journal_has(entry, "OBJECT=key_made"));
	assert_true(journal_has(entry, "TENANT=acme"));
}

/* Whatever is acted upon by its id: afterwards it may be gone. */
static void what_is_done_to_a_tenants_things_is_found_by_the_tenant(void **state)
{
	struct fixture *fx = *state;
	const char *entry;

	(void)ask_locally(fx, "DELETE /admin/v1/sessions/cntr_1", "");
	entry = journal_find("AUDIT=session_kill");
	assert_non_null(entry);
	assert_true(journal_has(entry, "OBJECT=cntr_1"));
	assert_true(journal_has(entry, "TENANT=acme"));
	(void)ask_locally(fx, "POST /admin/v1/tenants/beta",
			  "{\"max_sessions\":1}");
	entry = journal_find("AUDIT=tenant_change");
	assert_non_null(entry);
	assert_true(journal_has(entry, "TENANT=beta"));
	(void)ask_locally(fx, "DELETE /admin/v1/tenants/beta", "");
	entry = journal_find("AUDIT=tenant_delete");
	assert_true(journal_has(entry, "OBJECT=beta"));
	assert_true(journal_has(entry, "TENANT=beta"));
}

static void tenants_and_drains_are_noted(void **state)
{
	struct fixture *fx = *state;
	const char *entry;

	(void)ask_locally(fx, "POST /admin/v1/tenants", "{\"id\":\"acme\"}");
	entry = journal_find("AUDIT=tenant_create");
	assert_non_null(entry);
	assert_true(journal_has(entry, "OBJECT=acme"));
	(void)ask_locally(fx, "DELETE /admin/v1/tenants/acme", "");
	assert_true(journal_has(journal_find("AUDIT=tenant_delete"),
				"OBJECT=acme"));
	(void)ask_locally(fx, "POST /admin/v1/drain", "{}");
	assert_int_equal(journal_count("AUDIT=drain_begin"), 1);
	(void)ask_locally(fx, "DELETE /admin/v1/drain", "");
	assert_int_equal(journal_count("AUDIT=drain_end"), 1);
}

static void attempts_that_fail_are_noted_and_looks_are_not(void **state)
{
	struct fixture *fx = *state;
	const char *entry;

	assert_int_equal(ask_locally(fx, "POST /admin/v1/keys", "{}"), 400);
	entry = journal_find("AUDIT=key_create");
	assert_non_null(entry);
	assert_true(journal_has(entry, "STATUS=400"));
	assert_null(strstr(entry, "\nOBJECT="));

	(void)ask_locally(fx, "GET /admin/v1/keys", "");
	(void)ask_locally(fx, "GET /admin/v1/drain", "");
	assert_int_equal(journal_count("SYSLOG_IDENTIFIER=cupola-audit"), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_more_than_a_look_has_a_word),
		TEST(a_key_is_noted_with_whose_it_is),
		TEST(what_is_done_to_a_tenants_things_is_found_by_the_tenant),
		TEST(tenants_and_drains_are_noted),
		TEST(attempts_that_fail_are_noted_and_looks_are_not),
	};

	return RUN_TESTS(tests);
}
