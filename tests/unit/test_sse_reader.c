#include "test.h"

#include <errno.h>

#include "base/buf.h"
#include "base/sse_reader.h"

enum { EVENT_MAX = 1 << 20 };

struct fixture {
	struct sse_reader *sse;
	struct buf seen; /* "type|data|id\n" for each event */
	int answer;
};

static int on_event(const struct sse_event *event, void *userdata)
{
	struct fixture *fx = userdata;

	assert_int_equal(strlen(event->data), event->length);
	assert_int_equal(buf_printf(&fx->seen, "%s|%s|%s\n", event->type,
				    event->data, event->id),
			 0);
	return fx->answer;
}

static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	fx->seen = BUF_INIT(65536);
	*state = fx;
	return sse_reader_new(EVENT_MAX, on_event, fx, &fx->sse);
}

static int teardown(void **state)
{
	struct fixture *fx = *state;

	sse_reader_free(fx->sse);
	buf_done(&fx->seen);
	free(fx);
	return 0;
}

static int feed(struct fixture *fx, const char *text)
{
	return sse_reader_feed(fx->sse, text, strlen(text));
}

static void an_event_ends_at_the_empty_line(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(feed(fx, "event: a\ndata: {\"x\":1}\nid: 7\n"), 0);
	assert_string_equal(buf_str(&fx->seen), "");
	assert_int_equal(feed(fx, "\n"), 0);
	assert_string_equal(buf_str(&fx->seen), "a|{\"x\":1}|7\n");
	assert_string_equal(sse_reader_last_id(fx->sse), "7");
}

static void lines_may_end_in_any_of_three_ways(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(feed(fx, "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"), 0);
	assert_string_equal(buf_str(&fx->seen),
			    "message|1|\nmessage|2|\nmessage|3|\n");
}

static void bytes_may_come_one_by_one(void **state)
{
	static const char text[] =
		"\xef\xbb\xbf"
		"event: b\r\ndata: one\r\ndata:two\r\nid:9\r\n\r\n: kept alive"
		"\r\n\r\ndata\r\n\r\n";
	struct fixture *fx = *state;
	size_t i;

	for (i = 0; i < strlen(text); i++)
		assert_int_equal(sse_reader_feed(fx->sse, text + i, 1), 0);
	assert_string_equal(buf_str(&fx->seen), "b|one\ntwo|9\nmessage||9\n");
}

static void comments_and_unknown_fields_are_passed_over(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(feed(fx, ": hello\nretry: 5\nnonsense\n\n"), 0);
	assert_int_equal(feed(fx, "event: x\n\n"), 0);
	assert_string_equal(buf_str(&fx->seen), "");
	/* The name went with the event that had no data. */
	assert_int_equal(feed(fx, "data: y\n\n"), 0);
	assert_string_equal(buf_str(&fx->seen), "message|y|\n");
}

static void an_event_cut_short_does_not_count_after_a_restart(void **state)
{
	struct fixture *fx = *state;

	assert_int_equal(feed(fx, "id: 1\ndata: a\n\nid: 2\ndata: b\nda"), 0);
	sse_reader_restart(fx->sse);
	assert_string_equal(sse_reader_last_id(fx->sse), "1");
	assert_int_equal(feed(fx, "id: 2\ndata: b\n\n"), 0);
	assert_string_equal(buf_str(&fx->seen), "message|a|1\nmessage|b|2\n");
}

static void what_the_callback_returns_ends_the_feeding(void **state)
{
	struct fixture *fx = *state;

	fx->answer = -EPIPE;
	assert_int_equal(feed(fx, "data: 1\n\ndata: 2\n\n"), -EPIPE);
	assert_string_equal(buf_str(&fx->seen), "message|1|\n");
}

static void an_id_with_a_nul_or_too_long_is_not_kept(void **state)
{
	static const char nul[] = "id: a\0b\ndata: 1\n\n";
	struct fixture *fx = *state;
	char longer[400];

	assert_int_equal(sse_reader_feed(fx->sse, nul, sizeof(nul) - 1), 0);
	snprintf(longer, sizeof(longer), "id: %0300d\ndata: 2\n\n", 1);
	assert_int_equal(feed(fx, longer), 0);
	assert_string_equal(buf_str(&fx->seen), "message|1|\nmessage|2|\n");
}

static void an_event_without_end_is_refused(void **state)
{
	struct fixture *fx = *state;
	char chunk[65536];
	size_t i;
	int r = 0;

	memset(chunk, 'x', sizeof(chunk));
	for (i = 0; i <= EVENT_MAX / sizeof(chunk) && r == 0; i++)
		r = sse_reader_feed(fx->sse, chunk, sizeof(chunk));
	assert_int_equal(r, -EMSGSIZE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_ends_at_the_empty_line),
		TEST(lines_may_end_in_any_of_three_ways),
		TEST(bytes_may_come_one_by_one),
		TEST(comments_and_unknown_fields_are_passed_over),
		TEST(an_event_cut_short_does_not_count_after_a_restart),
		TEST(what_the_callback_returns_ends_the_feeding),
		TEST(an_id_with_a_nul_or_too_long_is_not_kept),
		TEST(an_event_without_end_is_refused),
	};

	return RUN_TESTS(tests);
}
