/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "wire/message.h"

#define BYTES(text) ((struct bytes){ (const uint8_t *)(text), strlen(text) })

static uint8_t buf[WIRE_FRAME_MAX];

static struct frame framed(ssize_t size)
{
	struct frame f;
	size_t used;

	assert_true(size > 0);
	assert_int_equal(frame_next(buf, (size_t)size, &f, &used), 1);
	assert_int_equal(used, size);
	return f;
}

static void bytes_equal(struct bytes b, const char *text)
{
	assert_int_equal(b.size, strlen(text));
	assert_memory_equal(b.data, text, b.size);
}

static const struct message_exec an_exec = {
	.flags = WIRE_EXEC_SPILL,
	.timeout_usec = 5000000,
	.head_max = WIRE_HEAD_MAX,
	.tail_max = WIRE_TAIL_MAX,
	.spill_max = WIRE_SPILL_MAX,
	.output_max = WIRE_OUTPUT_MAX,
	.source_size = 8,
	.stdin_size = WIRE_STDIN_MAX,
	.id = { (const uint8_t *)"exec_1", 6 },
};

static int exec_comes_through(struct message_exec m)
{
	struct message_exec got;
	struct frame f;

	f = framed(message_encode_exec(buf, sizeof(buf), 7, &m));
	return message_decode_exec(&f, &got);
}

static void exec_arrives_as_it_was_sent(void **state)
{
	struct message_exec got;
	struct frame f;

	(void)state;
	f = framed(message_encode_exec(buf, sizeof(buf), 7, &an_exec));
	assert_int_equal(f.call, 7);
	assert_int_equal(message_decode_exec(&f, &got), 0);
	assert_true(got.timeout_usec == 5000000);
	assert_int_equal(got.stdin_size, WIRE_STDIN_MAX);
	bytes_equal(got.id, "exec_1");
}

#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static void exec_tells_a_trace_or_none(void **state)
{
	struct message_exec m = an_exec, got;
	struct frame f;

	(void)state;
	f = framed(message_encode_exec(buf, sizeof(buf), 7, &m));
	assert_int_equal(message_decode_exec(&f, &got), 0);
	assert_int_equal(got.trace.size, 0);

	m.flags |= WIRE_EXEC_TRACE;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m.trace = BYTES(TRACE);
	f = framed(message_encode_exec(buf, sizeof(buf), 7, &m));
	assert_int_equal(message_decode_exec(&f, &got), 0);
	bytes_equal(got.trace, TRACE);

	m.trace.size--;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m.trace = BYTES("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
			"01");
	assert_int_equal(exec_comes_through(m), -EPROTO);
}

static void exec_beyond_a_ceiling_is_refused(void **state)
{
	struct message_exec m = an_exec;

	(void)state;
	assert_int_equal(exec_comes_through(m), 0);
	m.source_size = WIRE_SOURCE_MAX + 1;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m = an_exec;
	m.source_size = 0;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m = an_exec;
	m.head_max++;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m = an_exec;
	m.flags = 0x80;
	assert_int_equal(exec_comes_through(m), -EPROTO);
	m = an_exec;
	m.id = BYTES("../../x");
	assert_int_equal(exec_comes_through(m), -EPROTO);
}

static void hello_lists_what_the_guest_keeps(void **state)
{
	struct message_hello m = {
		.version = WIRE_VERSION,
		.flags = WIRE_HELLO_CONFIGURED,
		.build = BYTES("cupola-guest 1"),
		.kernel_epoch = 3,
		.count = 2,
		.exec = { { 4, true, BYTES("exec_4") },
			  { 5, false, BYTES("exec_5") } },
	};
	struct message_hello got;
	struct frame f;

	(void)state;
	f = framed(message_encode_hello(buf, sizeof(buf), 0, &m));
	assert_int_equal(message_decode_hello(&f, &got), 0);
	assert_int_equal(got.count, 2);
	assert_true(got.exec[0].finished);
	assert_int_equal(got.exec[1].call, 5);
	bytes_equal(got.exec[1].id, "exec_5");
	bytes_equal(got.build, "cupola-guest 1");
}

static void hello_of_another_version_tells_only_that(void **state)
{
	struct message_hello got;
	struct frame f = { .type = WIRE_HELLO,
			   .payload = (const uint8_t *)"\x63\0rest",
			   .length = 6 };

	(void)state;
	assert_int_equal(message_decode_hello(&f, &got), 0);
	assert_int_equal(got.version, 0x63);
	assert_int_equal(got.count, 0);
}

static void every_shortening_of_a_message_is_refused(void **state)
{
	struct message_done done = { .status = WIRE_STATUS_OOM }, got;
	struct frame f;
	size_t n;

	(void)state;
	f = framed(message_encode_done(buf, sizeof(buf), 1, &done));
	assert_int_equal(message_decode_done(&f, &got), 0);
	n = f.length;
	for (f.length = 0; f.length < n; f.length++)
		assert_int_equal(message_decode_done(&f, &got), -EPROTO);
	f.length = n + 1;
	assert_int_equal(message_decode_done(&f, &got), -EPROTO);
}

static void done_that_omits_more_than_there_was_is_refused(void **state)
{
	struct message_done m = { .total = { 1 }, .omitted = { 2 } }, got;
	struct frame f;

	(void)state;
	f = framed(message_encode_done(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_done(&f, &got), -EPROTO);
}

static void output_is_never_empty_and_never_overflows(void **state)
{
	struct message_output m = { .stream = WIRE_STDERR, .offset = 5,
				    .data = BYTES("text") }, got;
	struct frame f;

	(void)state;
	f = framed(message_encode_output(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_output(&f, &got), 0);
	bytes_equal(got.data, "text");
	m.offset = UINT64_MAX - 3;
	f = framed(message_encode_output(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_output(&f, &got), -EPROTO);
	m = (struct message_output){ .data = BYTES("") };
	f = framed(message_encode_output(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_output(&f, &got), -EPROTO);
	m = (struct message_output){ .stream = WIRE_DISPLAYS,
				     .data = BYTES("x") };
	f = framed(message_encode_output(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_output(&f, &got), -EPROTO);
}

static void a_display_file_is_a_path(void **state)
{
	struct message_display m = { .flags = WIRE_DISPLAY_FILE,
				     .mime = BYTES("image/png"),
				     .data = BYTES("figure.png") }, got;
	struct frame f;

	(void)state;
	f = framed(message_encode_display(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_display(&f, &got), 0);
	m.data = BYTES("../secret");
	f = framed(message_encode_display(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_display(&f, &got), -EPROTO);
	m = (struct message_display){ .mime = BYTES("text/plain\n") };
	f = framed(message_encode_display(buf, sizeof(buf), 1, &m));
	assert_int_equal(message_decode_display(&f, &got), -EPROTO);
}

static struct frame changed_frame(const struct message_changed_entry *entries,
				  uint16_t count, uint16_t told)
{
	static uint8_t encoded[8192];
	struct message_changed m = { .count = told };
	size_t at = 0;
	uint16_t i;

	for (i = 0; i < count; i++)
		at += (size_t)message_changed_add(encoded + at,
						  sizeof(encoded) - at,
						  &entries[i]);
	m.entries = (struct bytes){ encoded, at };
	return framed(message_encode_changed(buf, sizeof(buf), 1, &m));
}

static void changed_files_are_read_one_by_one(void **state)
{
	const struct message_changed_entry entries[] = {
		{ WIRE_SKIP_NONE, 12, BYTES("a/b") },
		{ WIRE_SKIP_SYMLINK, 0, BYTES("link") },
	};
	struct message_changed_entry e;
	struct message_changed got;
	struct frame f = changed_frame(entries, 2, 2);

	(void)state;
	assert_int_equal(message_decode_changed(&f, &got), 0);
	assert_int_equal(message_changed_next(&got, &e), 1);
	bytes_equal(e.name, "a/b");
	assert_true(e.size == 12);
	assert_int_equal(message_changed_next(&got, &e), 1);
	assert_int_equal(e.skip, WIRE_SKIP_SYMLINK);
	assert_int_equal(message_changed_next(&got, &e), 0);
}

static void a_changed_list_that_miscounts_is_refused(void **state)
{
	const struct message_changed_entry entries[] = {
		{ WIRE_SKIP_NONE, 12, BYTES("a") },
		{ WIRE_SKIP_NONE, 12, BYTES("b") },
	};
	const struct message_changed_entry escape = { WIRE_SKIP_NONE, 1,
						      BYTES("../a") };
	struct message_changed got;
	struct frame f;

	(void)state;
	f = changed_frame(entries, 2, 1);
	assert_int_equal(message_decode_changed(&f, &got), -EPROTO);
	f = changed_frame(entries, 2, 3);
	assert_int_equal(message_decode_changed(&f, &got), -EPROTO);
	f = changed_frame(entries, 0, 0);
	assert_int_equal(message_decode_changed(&f, &got), -EPROTO);
	f = changed_frame(&escape, 1, 1);
	assert_int_equal(message_decode_changed(&f, &got), -EPROTO);
}

static void an_encoder_keeps_to_its_room_and_to_the_ceilings(void **state)
{
	static uint8_t large[WIRE_CHUNK_MAX + 1];
	struct message_data m = { { large, WIRE_CHUNK_MAX } };
	size_t n;

	(void)state;
	for (n = 0; n < 100; n++)
		assert_int_equal(message_encode_exec(buf, n, 1, &an_exec) > 0,
				 n >= sizeof(struct wire_header) + 48);
	assert_true(message_encode_data(buf, sizeof(buf), WIRE_DATA, 0, &m) >
		    0);
	m.data.size++;
	assert_int_equal(message_encode_data(buf, sizeof(buf), WIRE_DATA, 0,
					     &m), -EMSGSIZE);
}

static void only_paths_below_are_paths(void **state)
{
	static const char *const good[] = {
		"a", "a/b", "...", ".hidden", " ", "a\nb", "\xff\xfe", "-rf",
	};
	static const char *const bad[] = {
		"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "./a",
		"a/./b",
	};
	char deep[2 * 17], name[WIRE_PATH_NAME_MAX + 2];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(wire_path_valid(BYTES(good[i])));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(wire_path_valid(BYTES(bad[i])));
	assert_false(wire_path_valid(
		(struct bytes){ (const uint8_t *)"a\0b", 3 }));

	for (i = 0; i < sizeof(deep); i += 2)
		memcpy(deep + i, "d/", 2);
	assert_true(wire_path_valid(
		(struct bytes){ (const uint8_t *)deep, 2 * 16 - 1 }));
	assert_false(wire_path_valid(
		(struct bytes){ (const uint8_t *)deep, 2 * 17 - 1 }));
	memset(name, 'n', sizeof(name));
	assert_true(wire_path_valid(
		(struct bytes){ (const uint8_t *)name, WIRE_PATH_NAME_MAX }));
	assert_false(wire_path_valid((struct bytes){
		(const uint8_t *)name, WIRE_PATH_NAME_MAX + 1 }));
}

static void every_number_has_its_word_and_no_other(void **state)
{
	(void)state;
	assert_string_equal(wire_status_name(WIRE_STATUS_OUTPUT_LIMIT),
			    "output_limit");
	assert_null(wire_status_name(WIRE_STATUS_COUNT));
	assert_null(wire_skip_name((enum wire_skip)-1));
	assert_string_equal(wire_type_name(WIRE_DONE), "DONE");
	assert_null(wire_type_name((enum wire_type)0x999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec_arrives_as_it_was_sent),
		cmocka_unit_test(exec_tells_a_trace_or_none),
		cmocka_unit_test(exec_beyond_a_ceiling_is_refused),
		cmocka_unit_test(hello_lists_what_the_guest_keeps),
		cmocka_unit_test(hello_of_another_version_tells_only_that),
		cmocka_unit_test(every_shortening_of_a_message_is_refused),
		cmocka_unit_test(
			done_that_omits_more_than_there_was_is_refused),
		cmocka_unit_test(output_is_never_empty_and_never_overflows),
		cmocka_unit_test(a_display_file_is_a_path),
		cmocka_unit_test(changed_files_are_read_one_by_one),
		cmocka_unit_test(a_changed_list_that_miscounts_is_refused),
		cmocka_unit_test(
			an_encoder_keeps_to_its_room_and_to_the_ceilings),
		cmocka_unit_test(only_paths_below_are_paths),
		cmocka_unit_test(every_number_has_its_word_and_no_other),
	};

	return RUN_TESTS(tests);
}
