/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "core/core_admin.h"

/* Which of a guest's files become files of the container, and what is said of
 * the others. */

struct session {
	struct scripted_guest *g;
	char c[ID_SIZE];
	char e[ID_SIZE];
	uint32_t told; /* entries of CHANGED */
};

static void begin(struct fixture *fx, struct session *s)
{
	s->g = fixture_running(fx, "x", s->c, s->e);
	s->told = 0;
}

static void tell(struct session *s, const char *path, uint64_t size,
		 enum wire_skip skip)
{
	guest_say_changed(s->g, s->g->call, path, size, skip);
	s->told++;
}

/* A file that is in the guest, and that it tells of. */
static void make(struct session *s, const char *path, const char *content)
{
	guest_write(s->g, path, content, strlen(content));
	tell(s, path, strlen(content), WIRE_SKIP_NONE);
}

static struct exec_view finish_with(struct fixture *fx, struct session *s,
				    uint32_t unlisted)
{
	const struct message_done done = {
		.kernel_epoch = 1,
		.changed = s->told,
		.unlisted = unlisted,
	};

	guest_say_done(s->g, s->g->call, &done);
	fixture_wait_exec(fx, s->c, s->e, EXEC_OK);
	return fixture_exec_view(fx, s->c, s->e);
}

static struct exec_view finish(struct fixture *fx, struct session *s)
{
	return finish_with(fx, s, 0);
}

static void any_bytes_name_a_file_that_can_be_had(void **state)
{
	static const char *const names[] = {
		"a\xff.txt",	   "a\xfe.txt", "b\n.txt", "\x1b[2Jx",
		"d/\xed\xa0\x80", "-rf",       "a\"b\\c",
	};
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;
	struct cfile_view file;
	struct error err = ERROR_INIT;
	char content[8] = "";
	size_t i;
	int fd;

	begin(fx, &s);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(&s, names[i], (char[]){ (char)('0' + i), '\0' });
	v = finish(fx, &s);
	assert_int_equal(v.skipped_count, 0);
	assert_int_equal(v.artifact_count, i);
	assert_string_equal(v.artifacts[0].path, "/mnt/data/a\xef\xbf\xbd.txt");
	assert_string_equal(v.artifacts[0].path_b64, "Yf8udHh0");
	assert_string_equal(v.artifacts[1].path, v.artifacts[0].path);
	assert_string_equal(v.artifacts[1].path_b64, "Yf4udHh0");
	assert_string_equal(v.artifacts[2].path, "/mnt/data/b\n.txt");
	assert_null(v.artifacts[2].path_b64);
	/* Both of the same text are there, each with its own bytes. */
	for (i = 0; i < 2; i++) {
		assert_int_equal(core_cfile_open(fx->core, &fx->who, s.c,
						 v.artifacts[i].id, &file, &fd,
						 &err),
				 0);
		assert_int_equal(read(fd, content, sizeof(content)), 1);
		assert_int_equal(content[0], '0' + (int)i);
		close(fd);
	}
	assert_string_equal(file.path_b64, "Yf4udHh0");
}

static void a_record_keeps_names_and_numbers(void **state)
{
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;

	begin(fx, &s);
	make(&s, "a\xff.txt", "1");
	tell(&s, "l\xff", 0, WIRE_SKIP_SYMLINK);
	(void)finish_with(fx, &s, 7);
	fixture_kill(fx);
	fixture_start(fx);
	v = fixture_exec_view(fx, s.c, s.e);
	assert_int_equal(v.artifact_count, 1);
	assert_string_equal(v.artifacts[0].path_b64, "Yf8udHh0");
	assert_int_equal(v.skipped_count, 2);
	assert_string_equal(v.skipped[0].path_b64, "bP8=");
	assert_string_equal(v.skipped[0].reason, "symlink");
	assert_string_equal(v.skipped[1].reason, "too_many");
	assert_int_equal(v.skipped[1].count, 7);
	assert_int_equal(v.skipped_total, 8);
}

static void deleting_a_file_names_its_bytes_to_the_guest(void **state)
{
	struct fixture *fx = *state;
	struct answer done = { .called = false };
	struct session s;
	struct exec_view v;

	begin(fx, &s);
	make(&s, "d/a\xff.txt", "1");
	v = finish(fx, &s);
	assert_int_equal(core_cfile_delete(fx->core, &fx->who, s.c,
					   v.artifacts[0].id, on_done, &done,
					   &done.err),
			 0);
	RUN_UNTIL(fx, done.called && s.g->deletes == 1);
	assert_string_equal(s.g->deleted, "d/a\xff.txt");
}

static void each_reason_has_its_word(void **state)
{
	static const struct {
		enum wire_skip skip;
		const char *word;
	} reasons[] = {
		{ WIRE_SKIP_SYMLINK, "symlink" },
		{ WIRE_SKIP_SPECIAL, "special_file" },
		{ WIRE_SKIP_DENIED, "unreadable" },
		{ WIRE_SKIP_TOO_DEEP, "too_deep" },
		{ WIRE_SKIP_TOO_LONG, "name_too_long" },
	};
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;
	size_t i;

	begin(fx, &s);
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		tell(&s, "x", 5, reasons[i].skip);
	/* Told, and gone again when it is asked for. */
	tell(&s, "gone", 5, WIRE_SKIP_NONE);
	v = finish(fx, &s);
	assert_int_equal(v.skipped_count, i + 1);
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		assert_string_equal(v.skipped[i].reason, reasons[i].word);
	assert_string_equal(v.skipped[i].reason, "changed");
}

static void limits_are_told_with_their_numbers(void **state)
{
	const uint64_t mib = 1024 * 1024;
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;

	fixture_set(fx, "pool.default.max_artifact=300M");
	fixture_set(fx, "store.quota=10K");
	begin(fx, &s);
	make(&s, "a", "0123456789");
	tell(&s, "b", 10 * 1024 - 9, WIRE_SKIP_NONE);
	tell(&s, "c", 300 * mib, WIRE_SKIP_NONE);
	tell(&s, "d", 300 * mib + 1, WIRE_SKIP_NONE);
	make(&s, "e", "0123456789");
	v = finish(fx, &s);
	assert_int_equal(v.artifact_count, 2);
	assert_int_equal(v.skipped_count, 3);
	assert_string_equal(v.skipped[0].reason, "quota");
	assert_int_equal(v.skipped[0].bytes, 10 * 1024 - 9);
	assert_int_equal(v.skipped[0].limit_bytes, 10 * 1024);
	assert_string_equal(v.skipped[1].reason, "too_much");
	assert_int_equal(v.skipped[1].limit_bytes, 300 * mib);
	assert_string_equal(v.skipped[2].reason, "too_large");
	assert_int_equal(v.skipped[2].bytes, 300 * mib + 1);
	assert_int_equal(v.skipped[2].limit_bytes, 300 * mib);
}

static void what_is_not_listed_is_counted(void **state)
{
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;

	begin(fx, &s);
	make(&s, "a", "1");
	tell(&s, "", 1000, WIRE_SKIP_TOO_MANY);
	v = finish_with(fx, &s, 99488);
	assert_int_equal(v.artifact_count, 1);
	assert_int_equal(v.skipped_count, 1);
	assert_string_equal(v.skipped[0].path, "/mnt/data/");
	assert_string_equal(v.skipped[0].reason, "too_many");
	assert_int_equal(v.skipped[0].count, 100488);
	assert_int_equal(v.skipped_total, 100488);
}

/* JSON makes six bytes of each of these. */
static void names_cannot_make_an_answer_large(void **state)
{
	struct fixture *fx = *state;
	struct session s;
	struct exec_view v;
	size_t i, listed;
	char name[1001];

	begin(fx, &s);
	memset(name, '\n', sizeof(name) - 1);
	for (i = 200; i < 1000; i += 200)
		name[i] = '/';
	name[1000] = '\0';
	for (i = 0; i < WIRE_CHANGED_MAX; i++)
		tell(&s, name, 0, WIRE_SKIP_SYMLINK);
	v = finish(fx, &s);
	listed = v.skipped_count - 1;
	assert_true(listed > 100);
	assert_true(listed * 6 * 995 < 700 * 1024);
	assert_string_equal(v.skipped[listed].reason, "too_many");
	assert_int_equal(v.skipped[listed].count, WIRE_CHANGED_MAX - listed);
	assert_int_equal(v.skipped_total, WIRE_CHANGED_MAX);
}

static void on_listed(void *userdata, const struct cfile_view *file)
{
	strcat(userdata, file->path + strlen("/mnt/data/"));
}

/* The guest falls silent in the middle of its second file. */
static void what_was_fetched_when_the_last_harvest_ends_is_kept(void **state)
{
	const struct core_page page = { .limit = 10, .ascending = true };
	struct fixture *fx = *state;
	struct error err = ERROR_INIT;
	struct session s = { .told = 0 };
	char names[64] = "";
	bool more;

	fixture_start(fx);
	s.g = fixture_session(fx, s.c);
	clock_advance(fx->clock, 20 * USEC_PER_MINUTE);
	RUN_UNTIL(fx, s.g->quiesces == 1);
	guest_write(s.g, "one", "1", 1);
	guest_write(s.g, "two", "2", 1);
	guest_say_changed(s.g, s.g->quiesce_call, "one", 1, WIRE_SKIP_NONE);
	guest_say_changed(s.g, s.g->quiesce_call, "two", 1, WIRE_SKIP_NONE);
	guest_say_quiesced(s.g, 2);
	RUN_UNTIL(fx, s.g->gets == 1);
	s.g->no_end = true;
	RUN_UNTIL(fx, s.g->gets == 2);
	fixture_settle(fx);
	assert_int_equal(fixture_container(fx, s.c).state,
			 SESSION_VIEW_STOPPING);
	clock_advance(fx->clock, 11 * USEC_PER_SEC);
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	fixture_settle(fx);
	assert_int_equal(core_cfile_list(fx->core, &fx->who, s.c, &page,
					 on_listed, names, &more, &err),
			 0);
	assert_string_equal(names, "one");
}

/*
 * The guest still runs what was lost, and hangs up on a RELEASE of what has not
 * finished.
 */
static void code_that_runs_at_the_end_costs_no_file(void **state)
{
	const struct core_page page = { .limit = 10, .ascending = true };
	struct fixture *fx = *state;
	struct answer a = { .called = false };
	struct error err = ERROR_INIT;
	char names[64] = "";
	struct session s;
	bool more;

	begin(fx, &s);
	assert_int_equal(core_admin_drain(fx->core, 0, on_json, &a, &err), 0);
	RUN_UNTIL(fx, s.g->quiesces == 1);
	fixture_wait_exec(fx, s.c, s.e, EXEC_SESSION_LOST);
	fixture_settle(fx);
	assert_int_equal(s.g->releases, 0);
	guest_write(s.g, "one", "1", 1);
	guest_say_changed(s.g, s.g->quiesce_call, "one", 1, WIRE_SKIP_NONE);
	guest_say_quiesced(s.g, 1);
	fixture_wait_state(fx, s.c, SESSION_VIEW_ENDED);
	fixture_settle(fx);
	assert_int_equal(core_cfile_list(fx->core, &fx->who, s.c, &page,
					 on_listed, names, &more, &err),
			 0);
	assert_string_equal(names, "one");
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(any_bytes_name_a_file_that_can_be_had),
		TEST(a_record_keeps_names_and_numbers),
		TEST(deleting_a_file_names_its_bytes_to_the_guest),
		TEST(each_reason_has_its_word),
		TEST(limits_are_told_with_their_numbers),
		TEST(what_is_not_listed_is_counted),
		TEST(names_cannot_make_an_answer_large),
		TEST(what_was_fetched_when_the_last_harvest_ends_is_kept),
		TEST(code_that_runs_at_the_end_costs_no_file),
	};

	return RUN_TESTS(tests);
}
