#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/name.h"

/* What would have gone to the journal, one field in a line. */
static char journal[4096];
static int journal_result;

int __wrap_journal_send(const struct iovec *fields, size_t count);

int __wrap_journal_send(const struct iovec *fields, size_t count)
{
	size_t used = 0;
	size_t i;

	for (i = 0; i < count; i++)
		used += (size_t)snprintf(journal + used, sizeof(journal) - used,
					 "%.*s\n", (int)fields[i].iov_len,
					 (const char *)fields[i].iov_base);
	return journal_result;
}

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
	log_set_level_name("error");
	log_warning(NULL, 0, "z");
	assert_string_equal(logged(fx), "");
	log_set_level_name("debug");
	log_debug(NULL, "d");
	assert_string_equal(logged(fx), "test debug: d\n");
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

/* What is plain is cut to the byte; an escape goes as a whole or not at all. */
static void a_message_is_cut_where_its_room_ends(void **state)
{
	static const char mark[] = "\xe2\x80\xa6\n";
	char big[LOG_MESSAGE_MAX];
	struct fixture *fx = *state;
	size_t size, kept, most = 0;
	const char *text;

	memset(big, 'x', sizeof(big));
	for (size = LOG_MESSAGE_MAX / 2; size < LOG_MESSAGE_MAX - 1; size++) {
		log_info(NULL, "%.*s\n", (int)size, big);
		text = strstr(logged(fx), "x");
		assert_non_null(text);
		kept = strspn(text, "x");
		if (kept == size && most == 0 && text[kept] == '\\') {
			assert_string_equal(text + kept, "\\n\n");
			continue;
		}
		assert_string_equal(text + kept, mark);
		if (most == 0)
			most = kept + 1;
		assert_int_equal(kept, size < most ? size : most);
	}
	assert_in_range(most, LOG_MESSAGE_MAX / 2, LOG_MESSAGE_MAX);
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

/* Makes stderr what systemd says the journal is. */
static void become_journal(struct fixture *fx)
{
	struct stat st;
	char stream[64];

	assert_int_equal(fstat(fx->pipe[1], &st), 0);
	(void)snprintf(stream, sizeof(stream), "%llu:%llu",
		       (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	journal[0] = '\0';
	journal_result = 0;
	log_init("test");
}

static void in_the_journal_an_entry_has_fields(void **state)
{
	static const sd_id128_t id = SD_ID128_MAKE(
		01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f, 10);
	const struct log_scope scope = { .request_id = "req_1",
					 .session_id = "cntr_1",
					 .exec_id = "exec_1",
					 .vm_name = "vm_1" };
	struct fixture *fx = *state;

	become_journal(fx);
	log_event(&scope, LOG_NOTICE, id, "Session %s", "opened");
	assert_string_equal(logged(fx), "");
	assert_non_null(strstr(journal, "MESSAGE=Session opened\n"
					"PRIORITY=5\n"
					"SYSLOG_IDENTIFIER=test\n"
					"CODE_FILE="));
	assert_non_null(strstr(journal,
			       "CODE_FUNC=in_the_journal_an_entry_has_fields\n"
			       "MESSAGE_ID=0102030405060708090a0b0c0d0e0f10\n"
			       "REQUEST_ID=req_1\nSESSION_ID=cntr_1\n"
			       "EXEC_ID=exec_1\nVM_NAME=vm_1\n"));
	(void)log_error(NULL, -ENOENT, "x");
	assert_non_null(strstr(journal, "MESSAGE=x: No such file or directory\n"
					"PRIORITY=3\n"));
	assert_non_null(strstr(journal, "ERRNO=2\n"));
}

static void what_was_done_is_noted_whatever_the_level(void **state)
{
	const struct log_scope scope = { .exec_id = "exec_1",
					 .trace_id = "0af7" };
	const struct log_field fields[] = {
		{ "TENANT", "acme" },
		{ "KEY_ID", NULL },
		{ "UID", "" },
		{ "OBJECT", "a\nKEY_ID=b" },
	};
	struct fixture *fx = *state;

	log_set_level(LOG_ERR);
	log_audit(&scope, "key_revoke", fields, 4);
	assert_string_equal(logged(fx),
			    "cupola-audit notice: key_revoke tenant=acme "
			    "object=a\\nKEY_ID=b exec=exec_1 trace=0af7\n");

	become_journal(fx);
	log_audit(&scope, "key_revoke", fields, 4);
	assert_non_null(strstr(journal, "SYSLOG_IDENTIFIER=cupola-audit\n"));
	assert_non_null(strstr(journal,
			       "EXEC_ID=exec_1\nTRACE_ID=0af7\n"
			       "AUDIT=key_revoke\nTENANT=acme\n"
			       "OBJECT=a\nKEY_ID=b\n"));
}

static void a_journal_that_takes_nothing_is_told_how_much_it_missed(void **state)
{
	struct fixture *fx = *state;
	const uint64_t before = log_lost(LOG_KIND_LOG);

	become_journal(fx);
	journal_result = -EAGAIN;
	log_error(NULL, 0, "one");
	log_error(NULL, 0, "two");
	assert_int_equal(log_lost(LOG_KIND_LOG), before + 2);
	assert_string_equal(logged(fx), "");
	journal_result = 0;
	log_error(NULL, 0, "three");
	assert_non_null(strstr(journal, "did not take 2 lines"));
	log_error(NULL, 0, "four");
	assert_non_null(strstr(journal, "MESSAGE=four\n"));
}

/* Who was held to account by it has to know, so it is counted and told apart. */
static void what_the_audit_log_lacks_is_told_by_itself(void **state)
{
	const struct log_field field = { "TENANT", "acme" };
	const uint64_t log = log_lost(LOG_KIND_LOG);
	const uint64_t audit = log_lost(LOG_KIND_AUDIT);
	struct fixture *fx = *state;

	become_journal(fx);
	journal_result = -EAGAIN;
	log_audit(NULL, "key_revoke", &field, 1);
	assert_int_equal(log_lost(LOG_KIND_LOG), log);
	assert_int_equal(log_lost(LOG_KIND_AUDIT), audit + 1);
	journal_result = 0;
	log_audit(NULL, "key_revoke", &field, 1);
	assert_non_null(strstr(journal, "The audit log lacks 1 entries"));
	assert_non_null(strstr(journal, "PRIORITY=3\n"));
	log_info(NULL, "four");
	assert_non_null(strstr(journal, "MESSAGE=four\n"));
}

static void a_stderr_that_takes_nothing_is_not_waited_for(void **state)
{
	const struct log_field field = { "TENANT", "acme" };
	const uint64_t before = log_lost(LOG_KIND_LOG);
	const uint64_t audit = log_lost(LOG_KIND_AUDIT);
	int pair[2], i;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(dup2(pair[0], STDERR_FILENO) >= 0);
	for (i = 0; i < 100000 && log_lost(LOG_KIND_LOG) == before; i++)
		log_error(NULL, 0, "line %d", i);
	assert_true(log_lost(LOG_KIND_LOG) > before);
	log_audit(NULL, "key_revoke", &field, 1);
	assert_int_equal(log_lost(LOG_KIND_AUDIT), audit + 1);
	close_fd(&pair[0]);
	close_fd(&pair[1]);
}

static void without_a_journal_the_line_is_not_lost(void **state)
{
	struct fixture *fx = *state;

	become_journal(fx);
	journal_result = -ENOBUFS;
	log_info(NULL, "x");
	assert_string_equal(logged(fx), "test info: x\n");
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
		with_fixture(a_message_is_cut_where_its_room_ends),
		with_fixture(a_guest_can_say_so_much_and_no_more),
		with_fixture(guests_are_silent_above_debug),
		with_fixture(in_the_journal_an_entry_has_fields),
		with_fixture(what_was_done_is_noted_whatever_the_level),
		with_fixture(a_journal_that_takes_nothing_is_told_how_much_it_missed),
		with_fixture(what_the_audit_log_lacks_is_told_by_itself),
		with_fixture(a_stderr_that_takes_nothing_is_not_waited_for),
		with_fixture(without_a_journal_the_line_is_not_lost),
	};

	return RUN_TESTS(tests);
}
