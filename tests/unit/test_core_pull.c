/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

#include "core/pull_impl.h"
#include "store/blob_impl.h"

/* Files that come while those before them are on their way to the disk. */

#define FILES 10

/* The blob thread waits for this lock before it gives a file its name. */
static void disk_stops(struct fixture *fx)
{
	(void)pthread_mutex_lock(&fx->blobs->lock);
}

static void disk_goes_on(struct fixture *fx)
{
	(void)pthread_mutex_unlock(&fx->blobs->lock);
}

static void finish_with_files(struct session *s)
{
	char name[16];
	unsigned i;

	for (i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		guest_write(s->g, name, name, strlen(name));
		guest_say_changed(s->g, 1, name, strlen(name), WIRE_SKIP_NONE);
	}
	guest_finish(s->g, WIRE_STATUS_OK, FILES);
}

/* A session whose files have come as far as they do while the disk stops. */
static struct session waiting_for_the_disk(struct fixture *fx)
{
	struct session s = hostile_running(fx);

	disk_stops(fx);
	finish_with_files(&s);
	RUN_UNTIL(fx, s.g->gets == PULL_WRITING_MAX);
	fixture_turn(fx);
	assert_int_equal(s.g->gets, PULL_WRITING_MAX);
	return s;
}

static void the_guest_gives_the_next_file_meanwhile(void **state)
{
	struct fixture *fx = *state;
	struct session s = waiting_for_the_disk(fx);

	assert_int_equal(fixture_exec_view(fx, s.c, s.e).status, EXEC_RUNNING);
	disk_goes_on(fx);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).artifact_count, FILES);
	assert_int_equal(s.g->get_lines, 1);
}

/* A guest that serves one file over each connection is dialled meanwhile. */
static void over_new_connections_as_well(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	s.g->one_file_each = true;
	disk_stops(fx);
	finish_with_files(&s);
	RUN_UNTIL(fx, s.g->gets == PULL_WRITING_MAX);
	disk_goes_on(fx);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).artifact_count, FILES);
}

/* The disk is asked for room when all of a file has come, and was counted. */
static void what_finds_no_room_is_skipped(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	uint64_t floor_bytes = fx->blobs->free_floor_bytes;
	struct exec_view v;

	fx->blobs->free_floor_bytes = UINT64_MAX;
	finish_with_files(&s);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	fx->blobs->free_floor_bytes = floor_bytes;
	v = fixture_exec_view(fx, s.c, s.e);
	assert_int_equal(v.artifact_count, 0);
	assert_int_equal(v.skipped_count, FILES);
	assert_string_equal(v.skipped[0].reason, "host_storage_full");
}

static void a_wrong_digest_is_seen_behind_the_next_file(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);

	s.g->wrong_digest = true;
	disk_stops(fx);
	finish_with_files(&s);
	RUN_UNTIL(fx, s.g->gets == PULL_WRITING_MAX);
	disk_goes_on(fx);
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s.c).ended_reason,
			    "guest_protocol_error");
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).skipped_count, FILES);
}

static void a_session_that_ends_meanwhile_skips_what_is_not_here(void **state)
{
	struct fixture *fx = *state;
	struct session s = waiting_for_the_disk(fx);

	vmd_vm_gone(&fx->vmd, fixture_vm(fx, s.c), VMD_REASON_CRASHED);
	RUN_UNTIL(fx,
		  fixture_container(fx, s.c).state != SESSION_VIEW_EXECUTING);
	disk_goes_on(fx);
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).status, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).skipped_count, FILES);
	/* The disk ends what it had begun, whenever it does. */
	RUN_UNTIL(fx, fx->blobs->writers == 0);
}

/* Where many write already, one file at a time is enough for everybody. */
static void it_keeps_back_where_many_write(void **state)
{
	struct fixture *fx = *state;
	struct session s = hostile_running(fx);
	size_t writers = fx->blobs->writers;

	fx->blobs->writers = BLOB_WRITERS_MANY;
	disk_stops(fx);
	finish_with_files(&s);
	RUN_UNTIL(fx, s.g->gets == 1);
	fixture_turn(fx);
	fixture_turn(fx);
	assert_int_equal(s.g->gets, 1);
	disk_goes_on(fx);
	fixture_wait_exec(fx, s.c, s.e, EXEC_OK);
	assert_int_equal(fixture_exec_view(fx, s.c, s.e).artifact_count, FILES);
	assert_int_equal(s.g->get_lines, 1);
	fx->blobs->writers = writers;
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_guest_gives_the_next_file_meanwhile),
		TEST(over_new_connections_as_well),
		TEST(what_finds_no_room_is_skipped),
		TEST(a_wrong_digest_is_seen_behind_the_next_file),
		TEST(a_session_that_ends_meanwhile_skips_what_is_not_here),
		TEST(it_keeps_back_where_many_write),
	};

	return RUN_TESTS(tests);
}
