#include "test.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/cleanup.h"

static void what_is_added_is_there_and_ends_in_a_nul(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);

	(void)state;
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(buf_add_str(&b, "abc"), 0);
	assert_int_equal(buf_add_byte(&b, 'd'), 0);
	assert_int_equal(buf_printf(&b, "%d", 42), 0);
	assert_int_equal(b.length, 6);
	assert_string_equal(buf_str(&b), "abcd42");
}

static void the_ceiling_is_kept_and_nothing_is_half_added(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(4);
	void *room;

	(void)state;
	assert_int_equal(buf_add_str(&b, "abc"), 0);
	assert_int_equal(buf_add_str(&b, "de"), -EMSGSIZE);
	assert_int_equal(buf_printf(&b, "%s", "de"), -EMSGSIZE);
	assert_int_equal(buf_reserve(&b, SIZE_MAX, &room), -EMSGSIZE);
	assert_string_equal(buf_str(&b), "abc");
	assert_int_equal(buf_room(&b), 1);
	assert_int_equal(buf_add_str(&b, "d"), 0);
	assert_int_equal(buf_add_byte(&b, 'e'), -EMSGSIZE);
	assert_string_equal(buf_str(&b), "abcd");
}

static void a_buffer_without_room_takes_nothing_only(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(0);

	(void)state;
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	assert_int_equal(buf_add_str(&b, ""), 0);
	assert_int_equal(buf_add_byte(&b, 'x'), -EMSGSIZE);
	assert_string_equal(buf_str(&b), "");
}

static void a_queue_gives_its_bytes_back_in_order(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(1000);
	unsigned put = 0, got = 0;
	uint8_t bytes[7];
	size_t i;

	(void)state;
	while (got < 100000) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)put++;
		assert_int_equal(buf_add(&b, bytes, sizeof(bytes)), 0);
		for (i = 0; i < 5 + (b.length > 500) * 100; i++) {
			assert_int_equal(b.data[0], (uint8_t)got++);
			buf_consume(&b, 1);
		}
	}
	/* A queue that never holds more than 1000 bytes never has many more. */
	assert_in_range(b.capacity, 1, 2048);
}

static void a_truncated_buffer_keeps_its_start(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);

	(void)state;
	assert_int_equal(buf_add_str(&b, "hello world"), 0);
	buf_consume(&b, 6);
	buf_truncate(&b, 2);
	assert_string_equal(buf_str(&b), "wo");
}

static void taken_memory_is_the_callers(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	_cleanup_free_ char *empty = NULL, *text = NULL;
	size_t length = 99;

	(void)state;
	empty = buf_take(&b, &length);
	assert_string_equal(empty, "");
	assert_int_equal(length, 0);
	assert_int_equal(buf_add_str(&b, "xhello"), 0);
	buf_consume(&b, 1);
	text = buf_take(&b, &length);
	assert_string_equal(text, "hello");
	assert_int_equal(length, 5);
	assert_int_equal(b.length, 0);
	assert_int_equal(buf_add_str(&b, "again"), 0);
}

static void bytes_travel_through_a_socket(void **state)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(100), in = BUF_INIT(8);
	int fds[2];

	(void)state;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(buf_add_str(&out, "0123456789"), 0);
	assert_int_equal(buf_write(&out, fds[0]), 10);
	assert_int_equal(out.length, 0);
	assert_int_equal(buf_read(&in, fds[1], 4), 4);
	assert_int_equal(buf_read(&in, fds[1], 100), 4);
	assert_int_equal(buf_read(&in, fds[1], 100), -EMSGSIZE);
	assert_string_equal(buf_str(&in), "01234567");
	buf_clear(&in);
	assert_int_equal(buf_read(&in, fds[1], 100), 2);
	assert_int_equal(buf_read(&in, fds[1], 100), -EAGAIN);
	close_fd(&fds[0]);
	assert_int_equal(buf_read(&in, fds[1], 100), 0);
	assert_int_equal(buf_add_str(&out, "x"), 0);
	assert_int_equal(buf_write(&out, fds[1]), -EPIPE);
	close_fd(&fds[1]);
}

static void bytes_travel_through_a_pipe(void **state)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(100);
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(buf_add_str(&b, "abc"), 0);
	assert_int_equal(buf_write(&b, fds[1]), 3);
	assert_int_equal(buf_write(&b, fds[1]), 0);
	assert_int_equal(buf_read(&b, fds[0], 100), 3);
	assert_string_equal(buf_str(&b), "abc");
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_is_there_and_ends_in_a_nul),
		cmocka_unit_test(the_ceiling_is_kept_and_nothing_is_half_added),
		cmocka_unit_test(a_buffer_without_room_takes_nothing_only),
		cmocka_unit_test(a_queue_gives_its_bytes_back_in_order),
		cmocka_unit_test(a_truncated_buffer_keeps_its_start),
		cmocka_unit_test(taken_memory_is_the_callers),
		cmocka_unit_test(bytes_travel_through_a_socket),
		cmocka_unit_test(bytes_travel_through_a_pipe),
	};

	return RUN_TESTS(tests);
}
