/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "core/end_reason.h"
#include "core/exec_state.h"
#include "core/map.h"
#include "core/session_state.h"
#include "core/vm_state.h"
#include "vmd/vmd_proto.h"

static void a_vm_only_moves_forward_and_can_die_from_everywhere(void **state)
{
	int from, to;

	(void)state;
	for (from = 0; from < VM_STATE_COUNT; from++) {
		for (to = 0; to <= from; to++)
			assert_false(vm_state_may_follow(from, to));
		assert_int_equal(vm_state_may_follow(from, VM_DEAD),
				 from != VM_DEAD);
		assert_non_null(vm_state_name(from));
	}
	assert_true(vm_state_may_follow(VM_PLANNED, VM_STARTING));
	assert_true(vm_state_may_follow(VM_PLANNED, VM_BOOTING));
	assert_false(vm_state_may_follow(VM_PLANNED, VM_READY));
	assert_true(vm_state_may_follow(VM_STARTING, VM_BOOTING));
	assert_false(vm_state_may_follow(VM_STARTING, VM_READY));
	assert_true(vm_state_may_follow(VM_BOOTING, VM_READY));
}

static void a_session_moves_as_the_law_says(void **state)
{
	static const struct {
		enum session_state_view from, to;
	} allowed[] = {
		{ SESSION_VIEW_ACCEPTED, SESSION_VIEW_BOOTING },
		{ SESSION_VIEW_ACCEPTED, SESSION_VIEW_ENDED },
		{ SESSION_VIEW_BOOTING, SESSION_VIEW_RUNNING },
		{ SESSION_VIEW_BOOTING, SESSION_VIEW_STOPPING },
		{ SESSION_VIEW_RUNNING, SESSION_VIEW_EXECUTING },
		{ SESSION_VIEW_RUNNING, SESSION_VIEW_STOPPING },
		{ SESSION_VIEW_EXECUTING, SESSION_VIEW_RUNNING },
		{ SESSION_VIEW_EXECUTING, SESSION_VIEW_STOPPING },
		{ SESSION_VIEW_STOPPING, SESSION_VIEW_ENDED },
	};
	int from, to;
	size_t i;

	(void)state;
	for (from = 0; from < SESSION_VIEW_COUNT; from++) {
		for (to = 0; to < SESSION_VIEW_COUNT; to++) {
			bool may = false;

			for (i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
				may |= (int)allowed[i].from == from &&
				       (int)allowed[i].to == to;
			assert_int_equal(session_state_may_follow(from, to),
					 may);
		}
		assert_int_equal(session_state_expired(from),
				 from == SESSION_VIEW_STOPPING ||
					 from == SESSION_VIEW_ENDED);
	}
}

static void an_execution_goes_through_saving_to_its_end(void **state)
{
	int from, to;

	(void)state;
	for (from = 0; from < EXEC_STATE_COUNT; from++) {
		for (to = 0; to <= from; to++)
			assert_false(exec_state_may_follow(from, to));
		assert_int_equal(exec_state_may_follow(from, EXEC_STATE_OVER),
				 from == EXEC_STATE_SAVING);
		if (from < EXEC_STATE_SAVING)
			assert_true(
				exec_state_may_follow(from, EXEC_STATE_SAVING));
		assert_non_null(exec_state_name(from));
	}
	assert_false(
		exec_state_may_follow(EXEC_STATE_QUEUED, EXEC_STATE_PULLING));
}

static void every_end_has_a_word_that_reads_back(void **state)
{
	int i;

	(void)state;
	for (i = END_NONE + 1; i < END_REASON_COUNT; i++) {
		assert_int_equal(end_reason_parse(end_reason_name(i)), i);
		assert_true(strlen(end_reason_sentence(i)) > 0);
	}
	assert_int_equal(end_reason_parse("no such reason"), END_NONE);
	assert_int_equal(end_reason_parse(""), END_NONE);
	assert_int_equal(end_reason_of_vmd(VMD_REASON_PANICKED),
			 END_GUEST_PANIC);
	assert_int_equal(end_reason_of_vmd(VMD_REASON_COUNT + 7),
			 END_VM_CRASHED);
}

struct thing {
	struct map_node node;
	char key[16];
};

static void count_and_remove(void *object, void *userdata)
{
	struct thing *t = object;

	map_remove(userdata, &t->node);
}

static void a_map_finds_what_was_put_while_it_grows(void **state)
{
	static struct thing things[1000];
	struct map map = { 0 };
	size_t i;

	(void)state;
	assert_null(map_get(&map, "k1"));
	for (i = 0; i < 1000; i++) {
		snprintf(things[i].key, sizeof(things[i].key), "k%zu", i);
		assert_int_equal(map_put(&map, &things[i].node, things[i].key,
					 &things[i]),
				 0);
	}
	assert_int_equal(map.count, 1000);
	for (i = 0; i < 1000; i++)
		assert_ptr_equal(map_get(&map, things[i].key), &things[i]);
	map_remove(&map, &things[7].node);
	map_remove(&map, &things[7].node);
	assert_null(map_get(&map, "k7"));
	assert_int_equal(map.count, 999);
	map_each(&map, count_and_remove, &map);
	assert_int_equal(map.count, 0);
	map_done(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_vm_only_moves_forward_and_can_die_from_everywhere),
		cmocka_unit_test(a_session_moves_as_the_law_says),
		cmocka_unit_test(an_execution_goes_through_saving_to_its_end),
		cmocka_unit_test(every_end_has_a_word_that_reads_back),
		cmocka_unit_test(a_map_finds_what_was_put_while_it_grows),
	};

	return RUN_TESTS(tests);
}
