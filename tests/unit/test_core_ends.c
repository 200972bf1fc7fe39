/* SPDX-License-Identifier: Apache-2.0 */
/* Why a session ended: who is told, where it is counted, and for how long. */

#include "core_fixture.h"
#include "journal.h"

#include "core/container.h"
#include "core/core_admin.h"
#include "core/core_exec.h"
#include "core/core_priv.h"
#include "core/end_reason.h"

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

static void check_figure(struct fixture *fx, enum end_reason reason)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "reason=\"%s\"",
		       end_reason_name(reason));
	assert_true(fixture_figure(fx, "cupola_sessions_ended_total",
				   labels) == 1);
}

static void check_entry(const char *id, enum end_reason reason)
{
	char wanted[128];
	const char *entry;

	(void)snprintf(wanted, sizeof(wanted), "MESSAGE=Session has ended (%s)",
		       end_reason_name(reason));
	entry = journal_find(wanted);
	assert_non_null(entry);
	(void)snprintf(wanted, sizeof(wanted), "SESSION_ID=%s", id);
	assert_true(journal_has(entry, wanted));
	assert_non_null(strstr(entry, "\nMESSAGE_ID="));
}

static struct error use(struct fixture *fx, const char *id)
{
	const struct exec_spec spec = { .code = "x", .code_len = 1,
					.stdin_data = "" };
	struct answer a = { .called = false };

	assert_true(core_exec_start(fx->core, &fx->who, id, &spec, on_exec, &a,
				    &a.err) < 0);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
	return a.err;
}

static void check_told(struct fixture *fx, const char *id,
		       enum end_reason reason)
{
	struct error err = use(fx, id);
	char wanted[256];

	assert_string_equal(err.reason, "container_expired");
	(void)snprintf(wanted, sizeof(wanted),
		       "Container '%s' expired at 2023-11-14T22:13:20Z: %s "
		       "(%s). Create a new one", id,
		       end_reason_sentence(reason), end_reason_name(reason));
	assert_memory_equal(err.message, wanted, strlen(wanted));
}

static void end_all(struct fixture *fx, char ids[][ID_SIZE])
{
	struct scripted_guest *g;
	int reason;

	for (reason = END_NONE + 1; reason < END_DELETED; reason++) {
		g = fixture_session(fx, ids[reason]);
		container_end(map_get(&fx->core->containers, ids[reason]),
			      reason);
		if (reason_harvests(reason)) {
			RUN_UNTIL(fx, g->quiesces == 1);
			guest_say_quiesced(g, 0);
		}
		fixture_wait_state(fx, ids[reason], SESSION_VIEW_ENDED);
		check_entry(ids[reason], reason);
		check_figure(fx, reason);
		fixture_settle(fx);
	}
}

static void every_end_is_told_counted_and_in_the_journal(void **state)
{
	char ids[END_REASON_COUNT][ID_SIZE];
	struct fixture *fx = *state;
	int reason;

	fixture_start(fx);
	end_all(fx, ids);
	for (reason = END_NONE + 1; reason < END_DELETED; reason++)
		check_told(fx, ids[reason], reason);
	fixture_kill(fx);
	fixture_start(fx);
	for (reason = END_NONE + 1; reason < END_DELETED; reason++)
		check_told(fx, ids[reason], reason);
}

static void a_deleted_one_is_counted_and_as_if_it_had_never_been(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	char id[ID_SIZE];
	struct error err;

	fixture_start(fx);
	(void)fixture_session(fx, id);
	assert_int_equal(core_container_delete(fx->core, &fx->who, id, on_done,
					       &a, &a.err), 0);
	RUN_UNTIL(fx, a.called && vmd_running(&fx->vmd) == 0);
	fixture_settle(fx);
	check_entry(id, END_DELETED);
	check_figure(fx, END_DELETED);
	err = use(fx, id);
	assert_string_equal(err.reason, "");
	assert_null(strstr(err.message, "expired"));
}

/* Let a sweep come, now that so much time has passed. */
static void sweep(struct fixture *fx, usec_t passed)
{
	clock_advance(fx->clock, passed);
	fixture_settle(fx);
	fixture_settle(fx);
}

static void the_reason_is_known_for_a_week_and_no_longer(void **state)
{
	char ids[END_REASON_COUNT][ID_SIZE];
	struct fixture *fx = *state;
	int reason;

	fixture_start(fx);
	end_all(fx, ids);
	sweep(fx, 7 * USEC_PER_DAY - CORE_SWEEP_USEC);
	for (reason = END_NONE + 1; reason < END_DELETED; reason++)
		check_told(fx, ids[reason], reason);
	sweep(fx, 2 * CORE_SWEEP_USEC);
	for (reason = END_NONE + 1; reason < END_DELETED; reason++)
		assert_string_equal(use(fx, ids[reason]).reason, "");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_end_is_told_counted_and_in_the_journal),
		TEST(a_deleted_one_is_counted_and_as_if_it_had_never_been),
		TEST(the_reason_is_known_for_a_week_and_no_longer),
	};

	return RUN_TESTS(tests);
}
