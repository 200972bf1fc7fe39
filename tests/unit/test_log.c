#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/name.h"

/* Stderr is a pipe while a test runs, and what came out is in text. */
struct fixture {
	int saved;
	int pipe[2];
	struct buf text;
};

static int fixture_begin(void **state)
{
	static struct fixture fx;

	fx.text = BUF_INIT(1 << 20);
	fx.saved = dup(STDERR_FILENO);
	assert_int_equal(pipe2(fx.pipe, O_NONBLOCK | O_CLOEXEC), 0);
	assert_true(dup2(fx.pipe[1], STDERR_FILENO) >= 0);
	(void)unsetenv("JOURNAL_STREAM");
	log_init("test");
	log_set_level(LOG_DEBUG);
	*state = &fx;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fx = *state;

	(void)dup2(fx->saved, STDERR_FILENO);
	close_fd(&fx->saved);
	close_fd(&fx->pipe[0]);
	close_fd(&fx->pipe[1]);
	buf_done(&fx->text);
	return 0;
}

/* What was logged since the last call, without the dates. */
static const char *logged(struct fixture *fx)
{
	buf_clear(&fx->text);
	while (buf_read(&fx->text, fx->pipe[0], 65536) > 0)
		;
	return fx->text.length > 25 ? buf_str(&fx->text) + 25 : "";
}

static void a_line_says_level_message_reason_and_whom(void **state)
{
	const struct log_scope scope = { .session_id = "cntr_1",
					 .vm_name = "vm_2" };
	struct fixture *fx = *state;

	errno = EXDEV;
	assert_int_equal(log_error(&scope, -ENOENT, "Cannot %s", "start"),
			 -ENOENT);
	assert_int_equal(errno, EXDEV);
	assert_string_equal(logged(fx),
			    "test error: Cannot start: No such file or "
			    "directory session=cntr_1 vm=vm_2\n");
	log_info(NULL, "100%%");
	assert_string_equal(logged(fx), "test info: 100%\n");
}

static void what_is_below_the_level_is_dropped(void **state)
{
	struct fixture *fx = *state;

	log_set_level(LOG_WARNING);
	log_info(NULL, "x");
	log_debug(NULL, "x");
	assert_string_equal(logged(fx), "");
	log_warning(NULL, 0, "y");
	assert_string_equal(logged(fx), "test warning: y\n");
}

static void data_cannot_forge_a_line(void **state)
{
	struct fixture *fx = *state;

	log_info(NULL, "%s",
		 "a\nb\r\x1b[2J\\ \xff \xe2\x80\xae \xc2\x9b \xc3\xa9");
	assert_string_equal(logged(fx),
			    "test info: a\\nb\\x0d\\x1b[2J\\\\ \\xff \\u202e "
			    "\\x9b \xc3\xa9\n");
}

static void a_long_message_is_cut_and_keeps_its_reason(void **state)
{
	struct fixture *fx = *state;
	char big[3 * LOG_MESSAGE_MAX];
	const char *text;

	memset(big, '\n', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	(void)log_error(NULL, -EIO, "%s", big);
	text = logged(fx);
	assert_non_null(strstr(text, "\xe2\x80\xa6: Input/output error\n"));
	assert_in_range(strlen(text), LOG_MESSAGE_MAX / 2,
			LOG_MESSAGE_MAX + 100);
	assert_true(utf8_is_valid(text, strlen(text)));
}

static void a_guest_can_say_so_much_and_no_more(void **state)
{
	struct log_quota quota = { 0 };
	struct fixture *fx = *state;
	unsigned i, lines = 0;
	const char *at;

	for (i = 0; i < 3 * LOG_QUOTA_LINES; i++)
		log_data(NULL, &quota, "console", "a\0b\n", 4);
	for (at = logged(fx); (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, LOG_QUOTA_LINES);
	assert_non_null(
		strstr(buf_str(&fx->text), "console debug: a\\x00b\\n\n"));

	/* A window later it is told how much is missing. */
	quota.window_began -= (LOG_QUOTA_WINDOW_SEC + 1) * USEC_PER_SEC;
	log_data(NULL, &quota, "console", "z", 1);
	assert_string_equal(logged(fx),
			    "console debug: (100 lines dropped) z\n");
}

static void guests_are_silent_above_debug(void **state)
{
	struct log_quota quota = { 0 };
	struct fixture *fx = *state;

	log_set_level(LOG_INFO);
	log_data(NULL, &quota, "console", "z", 1);
	assert_string_equal(logged(fx), "");
}

#define with_fixture(test) \
	cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(a_line_says_level_message_reason_and_whom),
		with_fixture(what_is_below_the_level_is_dropped),
		with_fixture(data_cannot_forge_a_line),
		with_fixture(a_long_message_is_cut_and_keeps_its_reason),
		with_fixture(a_guest_can_say_so_much_and_no_more),
		with_fixture(guests_are_silent_above_debug),
	};

	return RUN_TESTS(tests);
}
