/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_fixture.h"

#include "base/cleanup.h"
#include "base/fs.h"

/* Files that requests bring are where the model is told that they are. */

#define TOOL "'tools':[{'type':'code_interpreter','container':{'type':'auto'}}]"
#define HELLO "'file_data':'data:text/plain;base64,aGVsbG8='"
#define WORLD "'file_data':'data:text/csv;base64,d29ybGQ='"

/* Has the model run code; Return: the guest, whose turn it is to finish */
static struct scripted_guest *run(struct talk *talk, const char *code)
{
	struct turn_fixture *fx = talk->fx;
	char arguments[256];

	(void)snprintf(arguments, sizeof(arguments), "{\"code\":\"%s\"}", code);
	model_python(fx->model, 0, "c", arguments);
	model_end(fx->model, UPSTREAM_STOP);
	return talk_code(talk, code);
}

static void finish(struct talk *talk, struct scripted_guest *g)
{
	struct turn_fixture *fx = talk->fx;
	unsigned rounds = fx->model->rounds;

	guest_finish(g, WIRE_STATUS_OK, 0);
	RUN_UNTIL(fx->core, fx->model->rounds > rounds);
	model_text(fx->model, "Done");
	model_end(fx->model, UPSTREAM_STOP);
	talk_end(talk, "completed");
	buf_clear(&g->input);
}

static void expect_file(struct turn_fixture *fx, const char *container,
			const char *path, const char *content)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(1 << 20);
	_cleanup_close_ int fd = -1;
	struct cfile_view view;
	struct error err = ERROR_INIT;

	if (core_cfile_find(fx->core->core, &fx->core->who, container, path,
			    &view, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	assert_true(view.by_user);
	assert_int_equal(core_cfile_content(fx->core->core, &view, &fd, &err),
			 0);
	assert_int_equal(fs_read_fd(fd, (size_t)view.bytes, &bytes), 0);
	assert_string_equal(buf_str(&bytes), content);
}

static bool has_file(struct turn_fixture *fx, const char *container,
		     const char *path)
{
	struct cfile_view view;

	return core_cfile_find(fx->core->core, &fx->core->who, container, path,
			       &view, NULL) >= 0;
}

static struct talk *give(struct turn_fixture *fx, const char *conversation,
			 const char *parts)
{
	char body[2048];

	(void)snprintf(body, sizeof(body),
		       "{'model':'m','conversation':'%s'," TOOL ",'input':[{"
		       "'role':'user','content':[%s]}]}", conversation, parts);
	return talk_asked(fx, body);
}

static void bytes_in_a_request_become_a_file(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	char id[ID_SIZE], box[ID_SIZE];

	turn_start(fx);
	turn_conversation(fx, id);
	talk = give(fx, id, "{'type':'input_text','text':'before'},"
		    "{'type':'input_file','filename':'a.txt'," HELLO "},"
		    "{'type':'input_text','text':'behind'}");
	assert_true(asked(fx, "\"text\":\"before\"},{\"type\":\"input_text\","
			      "\"text\":\"[The user gave the file 'a.txt' (5 "
			      "bytes). For code it is at /mnt/data/a.txt]\"},"
			      "{\"type\":\"input_text\",\"text\":\"behind\"}"));
	assert_false(asked(fx, "aGVsbG8="));
	g = run(talk, "one");
	talk_container(talk, box);
	expect_file(fx, box, "/mnt/data/a.txt", "hello");
	finish(talk, g);

	/* One that comes when the container is there already is put there. */
	talk = give(fx, id,
		    "{'type':'input_file','filename':'b.csv'," WORLD "}");
	assert_true(asked(fx, "/mnt/data/a.txt]"));
	assert_true(asked(fx, "/mnt/data/b.csv]"));
	g = run(talk, "two");
	expect_file(fx, box, "/mnt/data/b.csv", "world");
	finish(talk, g);
}

static void two_files_of_one_name_are_told_apart(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	char id[ID_SIZE], box[ID_SIZE];

	turn_start(fx);
	turn_conversation(fx, id);
	talk = give(fx, id,
		    "{'type':'input_file','filename':'a.txt'," HELLO "},"
		    "{'type':'input_file','filename':'a.txt'," WORLD "},"
		    "{'type':'input_file','filename':'a.txt'," HELLO "}");
	assert_true(asked(fx, "(5 bytes). For code it is at /mnt/data/a.txt]"));
	assert_true(asked(fx, "file 'a.txt' (5 bytes). For code it is at "
			      "/mnt/data/a-2.txt]"));
	assert_false(asked(fx, "a-3.txt"));
	g = run(talk, "one");
	talk_container(talk, box);
	expect_file(fx, box, "/mnt/data/a.txt", "hello");
	expect_file(fx, box, "/mnt/data/a-2.txt", "world");
	finish(talk, g);

	/* In the next turn they are what they were. */
	talk = give(fx, id, "{'type':'input_file','filename':'a.txt',"
			    "'file_data':'data:;base64,dGhyZWU='}");
	assert_true(asked(fx, "/mnt/data/a.txt]"));
	assert_true(asked(fx, "/mnt/data/a-2.txt]"));
	assert_true(asked(fx, "/mnt/data/a-3.txt]"));
	g = run(talk, "two");
	expect_file(fx, box, "/mnt/data/a.txt", "hello");
	expect_file(fx, box, "/mnt/data/a-3.txt", "three");
	finish(talk, g);
}

static void files_of_the_tool_are_told_of_and_given_once(void **state)
{
	struct turn_fixture *fx = *state;
	struct scripted_guest *g;
	struct talk *talk;
	char id[ID_SIZE], one[ID_SIZE], two[ID_SIZE], box[ID_SIZE], body[1024];
	unsigned puts;

	turn_start(fx);
	turn_conversation(fx, id);
	fixture_upload(fx->core, "t.csv", "first", 5, one);
	fixture_upload(fx->core, "t.csv", "second", 6, two);
	(void)snprintf(body, sizeof(body),
		       "{'model':'m','conversation':'%s','input':'Go','tools':["
		       "{'type':'code_interpreter','container':{'type':'auto',"
		       "'file_ids':['%s','%s']}}]}", id, one, two);
	talk = talk_asked(fx, body);
	assert_true(asked(fx, "(5 bytes). For code it is at /mnt/data/t.csv]"));
	assert_true(asked(fx, "(6 bytes). For code it is at "
			      "/mnt/data/t-2.csv]"));
	g = run(talk, "one");
	talk_container(talk, box);
	expect_file(fx, box, "/mnt/data/t.csv", "first");
	expect_file(fx, box, "/mnt/data/t-2.csv", "second");
	finish(talk, g);
	puts = g->puts;
	talk = talk_asked(fx, body);
	g = run(talk, "two");
	assert_int_equal(g->puts, puts);
	assert_false(has_file(fx, box, "/mnt/data/t-3.csv"));
	finish(talk, g);
}

static void what_is_no_base64_is_refused(void **state)
{
	static const char *const bad[] = { "x", "aGVsbG8", "aGVs!G8=" };
	struct turn_fixture *fx = *state;
	char body[512];

	turn_start(fx);
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(body, sizeof(body),
			       "{'model':'m'," TOOL ",'input':[{'role':'user',"
			       "'content':[{'type':'input_file','filename':"
			       "'a','file_data':'data:;base64,%s'}]}]}", bad[i]);
		assert_string_equal(talk_refuse(fx, body)->reason,
				    "invalid_value");
	}
	/* Without an interpreter it is for the model's server to read. */
	(void)talk_asked(fx, "{'model':'m','input':[{'role':'user','content':["
			     "{'type':'input_file','filename':'a'," HELLO
			     "}]}]}");
	assert_true(asked(fx, "aGVsbG8="));
}

/* More than the disk takes at once. */
static void large_bytes_wait_for_the_disk(void **state)
{
	enum { SIZE = 5 << 20 };
	struct turn_fixture *fx = *state;
	_cleanup_(buf_done) struct buf body = BUF_INIT(16 << 20);
	struct cfile_view view;
	struct scripted_guest *g;
	struct talk *talk;
	char box[ID_SIZE];

	turn_start(fx);
	(void)buf_add_str(&body, "{'model':'m'," TOOL ",'input':[{'role':"
				 "'user','content':[{'type':'input_file',"
				 "'filename':'big','file_data':'data:;base64,");
	for (size_t i = 0; i < SIZE / 3; i++)
		(void)buf_add_str(&body, "AAAA");
	(void)buf_add_str(&body, "'}]}]}");
	talk = talk_asked(fx, buf_str(&body));
	g = run(talk, "one");
	talk_container(talk, box);
	assert_int_equal(core_cfile_find(fx->core->core, &fx->core->who, box,
					 "/mnt/data/big", &view, NULL),
			 0);
	assert_int_equal(view.bytes, SIZE / 3 * 3);
	finish(talk, g);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, turn_setup, turn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_in_a_request_become_a_file),
		TEST(two_files_of_one_name_are_told_apart),
		TEST(files_of_the_tool_are_told_of_and_given_once),
		TEST(what_is_no_base64_is_refused),
		TEST(large_bytes_wait_for_the_disk),
	};

	return RUN_TESTS(tests);
}
