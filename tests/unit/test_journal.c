/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/journal.h"

/* A journald that reads when it is told to. */
struct fixture {
	char directory[64];
	char path[80];
	int fd;
};

static void journald_start(struct fixture *fx)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, fx->path);
	fx->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(fx->fd, (const struct sockaddr *)&address,
			      sizeof(address)),
			 0);
}

static void journald_stop(struct fixture *fx)
{
	close_fd(&fx->fd);
	(void)unlink(fx->path);
}

static int fixture_begin(void **state)
{
	static struct fixture fx;

	strcpy(fx.directory, "/tmp/test-journal.XXXXXX");
	assert_non_null(mkdtemp(fx.directory));
	(void)snprintf(fx.path, sizeof(fx.path), "%s/socket", fx.directory);
	journald_start(&fx);
	journal_open(fx.path);
	*state = &fx;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fx = *state;

	journal_close();
	journald_stop(fx);
	return rmdir(fx->directory);
}

static int send_field(const void *field, size_t size)
{
	const struct iovec fields[] = {
		{ .iov_base = (void *)(uintptr_t)"A=1", .iov_len = 3 },
		{ .iov_base = (void *)(uintptr_t)field, .iov_len = size },
	};

	return journal_send(fields, 2);
}

static void expect(struct fixture *fx, const char *data, size_t size)
{
	char got[256];

	assert_int_equal(recv(fx->fd, got, sizeof(got), 0), size);
	assert_memory_equal(got, data, size);
}

static void an_entry_is_its_fields_line_by_line(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(send_field("B=x=y", 5), 0);
	expect(fx, "A=1\nB=x=y\n", 10);
}

static void a_line_end_in_a_value_forges_no_field(void **state)
{
	static const char all[] = "A=1\nB\n\5\0\0\0\0\0\0\0x\nC=2\n";
	struct fixture *fx = *state;

	assert_int_equal(send_field("B=x\nC=2", 7), 0);
	expect(fx, all, sizeof(all) - 1);
}

static void a_journal_that_reads_nothing_is_not_waited_for(void **state)
{
	struct fixture *fx = *state;
	int sent = 0, r;

	do {
		r = send_field("B=2", 3);
		sent += r == 0;
	} while (r == 0);
	assert_int_equal(r, -EAGAIN);
	while (sent-- > 0)
		expect(fx, "A=1\nB=2\n", 8);
	assert_int_equal(send_field("B=2", 3), 0);
}

static void a_journal_may_be_restarted(void **state)
{
	struct fixture *fx = *state;

	journald_stop(fx);
	assert_int_equal(send_field("B=2", 3), -ENOENT);
	journald_start(fx);
	assert_int_equal(send_field("B=2", 3), 0);
	expect(fx, "A=1\nB=2\n", 8);
}

static void what_is_no_entry_is_not_sent(void **state)
{
	static char large[JOURNAL_ENTRY_MAX] = "B=";

	(void)state;
	assert_int_equal(send_field("B", 1), -EINVAL);
	memset(large + 2, 'x', sizeof(large) - 2);
	assert_int_equal(send_field(large, sizeof(large)), -EMSGSIZE);
	journal_close();
	assert_int_equal(send_field("B=2", 3), -ENOTCONN);
}

#define with_fixture(test) \
	cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(an_entry_is_its_fields_line_by_line),
		with_fixture(a_line_end_in_a_value_forges_no_field),
		with_fixture(a_journal_that_reads_nothing_is_not_waited_for),
		with_fixture(a_journal_may_be_restarted),
		with_fixture(what_is_no_entry_is_not_sent),
	};

	return RUN_TESTS(tests);
}
