/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>
#include <unistd.h>

/* Files on their way into a guest. */

static void files_are_in_the_guest_before_anything_runs(void **state)
{
	struct fixture *fx = *state;
	char one[ID_SIZE], two[ID_SIZE], e[ID_SIZE];
	const char *files[] = { one, two };
	struct scripted_guest *g;
	struct answer a;

	fixture_start(fx);
	fixture_upload(fx, "data.csv", "first", 5, one);
	fixture_upload(fx, "data.csv", "second", 6, two);
	fx->vmd.hold_creates = true;
	fixture_create(fx, files, 2, &a);
	fixture_exec(fx, a.id, "x", e);
	RUN_UNTIL(fx, fx->vmd.count == 1);
	g = fx->vmd.vms[0].guest;
	vmd_answer_creates(&fx->vmd);
	RUN_UNTIL(fx, g->execs == 1);
	assert_int_equal(g->puts, 2);
	assert_non_null(guest_file(g, "data.csv"));
	/* Two of one name: the second has its id in front. */
	assert_int_equal(g->file_count, 2);
	assert_non_null(strstr(g->files[1].path, two));
	guest_finish(g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, a.id, e, EXEC_OK);
}

static void upload_to(struct fixture *fx, const char *container,
		      const char *name, const char *data, struct answer *ret)
{
	struct core_upload *upload;

	*ret = (struct answer){ .called = false };
	assert_int_equal(core_upload_new(fx->core, &fx->who, container,
					 UINT64_MAX, NULL, NULL, &upload,
					 &ret->err),
			 0);
	assert_int_equal(
		core_upload_write(upload, data, strlen(data), &ret->err), 0);
	if (core_cfile_create(fx->core, &fx->who, container, name, upload,
			      on_cfile, ret, &ret->err) < 0) {
		core_upload_free(upload);
		ret->failed = true;
		ret->called = true;
	}
}

static void an_upload_is_visible_when_it_is_answered(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct cfile_view file;
	char c[ID_SIZE];
	struct answer a;

	fixture_start(fx);
	g = fixture_session(fx, c);
	upload_to(fx, c, "in.txt", "hello", &a);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	assert_non_null(guest_file(g, "in.txt"));
	assert_int_equal(
		core_cfile_get(fx->core, &fx->who, c, a.id, &file, &a.err), 0);
	assert_true(file.by_user);
	assert_string_equal(file.path, "/mnt/data/in.txt");

	upload_to(fx, c, "../x", "hello", &a);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_BAD_REQUEST);
	upload_to(fx, c, "a\nb", "hello", &a);
	assert_true(a.failed);
	g->put_status = WIRE_FILE_NO_SPACE;
	upload_to(fx, c, "big.txt", "hello", &a);
	RUN_UNTIL(fx, a.called);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_STORAGE_FULL);
	assert_string_equal(a.err.reason, "container_storage_full");
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
}

static void what_is_in_a_files_way_is_told_and_final(void **state)
{
	static const enum wire_file_status refused[] = {
		WIRE_FILE_NOT_REGULAR, WIRE_FILE_BAD_PATH, WIRE_FILE_DENIED,
	};
	struct fixture *fx = *state;
	struct scripted_guest *g;
	char c[ID_SIZE];
	struct answer a;
	size_t i;

	fixture_start(fx);
	g = fixture_session(fx, c);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		g->put_status = refused[i];
		upload_to(fx, c, "in.txt", "hello", &a);
		RUN_UNTIL(fx, a.called);
		assert_true(a.failed);
		assert_int_equal(a.err.code, ERR_BAD_REQUEST);
		assert_string_equal(a.err.param, "file");
		assert_null(strchr(a.err.message, '_'));
	}
	g->put_status = WIRE_FILE_IO;
	upload_to(fx, c, "in.txt", "hello", &a);
	RUN_UNTIL(fx, a.called);
	assert_int_equal(a.err.code, ERR_CONFLICT);
}

/* Or the container would end: its guest cannot hold both. */
static void no_file_is_another_ones_folder_while_the_vm_boots(void **state)
{
	struct fixture *fx = *state;
	struct answer a, file;

	fixture_start(fx);
	fx->vmd.hold_creates = true;
	fixture_create(fx, NULL, 0, &a);
	upload_to(fx, a.id, "one", "x", &file);
	RUN_UNTIL(fx, file.called);
	assert_false(file.failed);
	upload_to(fx, a.id, "one/two", "x", &file);
	RUN_UNTIL(fx, file.called);
	assert_true(file.failed);
	assert_int_equal(file.err.code, ERR_BAD_REQUEST);
	upload_to(fx, a.id, "a/b/c", "x", &file);
	RUN_UNTIL(fx, file.called);
	assert_false(file.failed);
	upload_to(fx, a.id, "a/b", "x", &file);
	RUN_UNTIL(fx, file.called);
	assert_true(file.failed);
	upload_to(fx, a.id, "a/bc", "x", &file);
	RUN_UNTIL(fx, file.called);
	assert_false(file.failed);
	RUN_UNTIL(fx, fx->vmd.count == 1);
	vmd_answer_creates(&fx->vmd);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
}

static void an_upload_while_the_vm_boots_is_placed_later(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct answer a, file;

	fixture_start(fx);
	fx->vmd.hold_creates = true;
	fixture_create(fx, NULL, 0, &a);
	upload_to(fx, a.id, "in.txt", "hello", &file);
	RUN_UNTIL(fx, file.called);
	assert_false(file.failed);
	RUN_UNTIL(fx, fx->vmd.count == 1);
	g = fx->vmd.vms[0].guest;
	assert_null(guest_file(g, "in.txt"));
	vmd_answer_creates(&fx->vmd);
	fixture_wait_state(fx, a.id, SESSION_VIEW_RUNNING);
	assert_non_null(guest_file(g, "in.txt"));
}

static void an_upload_may_go_into_a_directory_and_is_found_there(void **state)
{
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct cfile_view file;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	upload_to(fx, c, "sub/dir/b.csv", "1", &a);
	RUN_UNTIL(fx, a.called);
	assert_false(a.failed);
	assert_int_equal(core_cfile_find(fx->core, &fx->who, c,
					 "/mnt/data/sub/dir/b.csv", &file,
					 &a.err),
			 0);
	assert_string_equal(file.id, a.id);
	assert_string_equal(file.path, "/mnt/data/sub/dir/b.csv");
	assert_int_equal(core_cfile_find(fx->core, &fx->who, c,
					 "/mnt/data/b.csv", &file, &a.err),
			 -ENOENT);
	assert_int_equal(a.err.code, ERR_NOT_FOUND);
}

/* Their rows have the order in which the guest renamed them. */
static void uploads_go_into_a_guest_one_after_the_other(void **state)
{
	static const char *const contents[] = { "1", "22", "333", "4444" };
	struct fixture *fx = *state;
	struct answer answers[4];
	struct scripted_guest *g;
	struct cfile_view file;
	char c[ID_SIZE];
	unsigned i;

	fixture_start(fx);
	g = fixture_session(fx, c);
	for (i = 0; i < 4; i++)
		upload_to(fx, c, "same.txt", contents[i], &answers[i]);
	for (i = 0; i < 4; i++) {
		RUN_UNTIL(fx, answers[i].called);
		assert_false(answers[i].failed);
	}
	assert_int_equal(g->puts, 4);
	assert_int_equal(core_cfile_find(fx->core, &fx->who, c,
					 "/mnt/data/same.txt", &file,
					 &answers[0].err),
			 0);
	assert_int_equal(file.bytes, guest_file(g, "same.txt")->size);

	/* Nobody waits for a guest that is gone. */
	g->mute = true;
	for (i = 0; i < 4; i++)
		upload_to(fx, c, "late.txt", contents[i], &answers[i]);
	fixture_settle(fx);
	assert_false(answers[0].called || answers[3].called);
	vmd_vm_gone(&fx->vmd, fixture_vm(fx, c), VMD_REASON_CRASHED);
	for (i = 0; i < 4; i++) {
		RUN_UNTIL(fx, answers[i].called);
		assert_true(answers[i].failed);
	}
}

static void an_upload_stops_the_idle_clock(void **state)
{
	struct fixture *fx = *state;
	struct core_upload *upload;
	struct error err = ERROR_INIT;
	char c[ID_SIZE];

	fixture_start(fx);
	(void)fixture_session(fx, c);
	assert_int_equal(core_upload_new(fx->core, &fx->who, c, UINT64_MAX,
					 NULL, NULL, &upload, &err),
			 0);
	clock_advance(fx->clock, 30 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	core_upload_free(upload);
	clock_advance(fx->clock, 19 * USEC_PER_MINUTE);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, c).state, SESSION_VIEW_RUNNING);
	clock_advance(fx->clock, 2 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, fixture_container(fx, c).state != SESSION_VIEW_RUNNING);
}

static void
a_deleted_file_goes_from_the_guest_before_the_next_execution(void **state)
{
	struct fixture *fx = *state;
	struct scripted_guest *g;
	struct answer a, done = { .called = false };
	char c[ID_SIZE], e[ID_SIZE];

	fixture_start(fx);
	g = fixture_session(fx, c);
	upload_to(fx, c, "in.txt", "hello", &a);
	RUN_UNTIL(fx, a.called);
	assert_int_equal(core_cfile_delete(fx->core, &fx->who, c, a.id, on_done,
					   &done, &done.err),
			 0);
	fixture_exec(fx, c, "x", e);
	RUN_UNTIL(fx, g->execs == 1);
	assert_int_equal(g->deletes, 1);
	assert_string_equal(g->deleted, "in.txt");
	RUN_UNTIL(fx, done.called);
	assert_true(core_cfile_delete(fx->core, &fx->who, c, a.id, on_done,
				      &done, &done.err) < 0);
	assert_int_equal(done.err.code, ERR_NOT_FOUND);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(files_are_in_the_guest_before_anything_runs),
		TEST(an_upload_is_visible_when_it_is_answered),
		TEST(what_is_in_a_files_way_is_told_and_final),
		TEST(no_file_is_another_ones_folder_while_the_vm_boots),
		TEST(an_upload_while_the_vm_boots_is_placed_later),
		TEST(an_upload_may_go_into_a_directory_and_is_found_there),
		TEST(uploads_go_into_a_guest_one_after_the_other),
		TEST(an_upload_stops_the_idle_clock),
		TEST(a_deleted_file_goes_from_the_guest_before_the_next_execution),
	};

	return RUN_TESTS(tests);
}
