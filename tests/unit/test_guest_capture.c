/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "data.h"

static struct capture c;

static void begin(size_t head, size_t tail)
{
	capture_begin(&c, head, tail, 0, "none");
}

static void take(const char *text)
{
	capture_take(&c, (const uint8_t *)text, strlen(text));
}

/* All that can be read from a position on, with its offset in front. */
static void reads(uint64_t position, const char *expected)
{
	char all[256];
	uint8_t piece[64];
	size_t at = 0, n;

	while ((n = capture_read(&c, &position, piece, sizeof(piece))) > 0) {
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%llu:%.*s ",
				       (unsigned long long)position, (int)n,
				       piece);
		position += n;
	}
	all[at] = '\0';
	assert_string_equal(all, expected);
}

static void a_short_stream_is_kept_whole(void **state)
{
	(void)state;
	begin(4, 4);
	take("abc");
	reads(0, "0:abc ");
	take("defgh");
	/* The tail is known only at the end. */
	reads(0, "0:abcd ");
	capture_finish(&c);
	reads(0, "0:abcdefgh ");
	assert_int_equal(capture_omitted(&c), 0);
}

static void a_long_stream_loses_its_middle(void **state)
{
	(void)state;
	begin(4, 4);
	take("abcdefghijklm");
	take("nop");
	capture_finish(&c);
	reads(0, "0:abcd 12:mnop ");
	reads(2, "2:cd 12:mnop ");
	reads(4, "12:mnop ");
	reads(13, "13:nop ");
	reads(16, "");
	assert_int_equal(capture_omitted(&c), 8);
	assert_int_equal(c.total, 16);
}

static void without_a_tail_only_the_head_is_kept(void **state)
{
	(void)state;
	begin(4, 0);
	take("abcdefgh");
	capture_finish(&c);
	reads(0, "0:abcd ");
	assert_int_equal(capture_omitted(&c), 4);
	begin(0, 3);
	take("abcdefgh");
	capture_finish(&c);
	reads(0, "5:fgh ");
}

static void no_character_is_cut_in_two(void **state)
{
	(void)state;
	begin(4, 4);
	take("€€€€€");
	capture_finish(&c);
	reads(0, "0:€ 12:€ ");
	assert_int_equal(capture_omitted(&c), 9);
}

static void half_a_character_waits_for_the_rest(void **state)
{
	(void)state;
	begin(100, 100);
	take("a\xe2\x82");
	reads(0, "0:a ");
	take("\xac");
	reads(1, "1:€ ");
	take("\xe2");
	capture_finish(&c);
	reads(4, "4:\xe2 ");
}

static void bytes_that_are_no_text_are_given_as_they_are(void **state)
{
	(void)state;
	assert_int_equal(utf8_whole((const uint8_t *)"\x80\x80\x80\x80", 4), 4);
	assert_int_equal(utf8_whole((const uint8_t *)"a\xff", 2), 2);
	assert_int_equal(utf8_whole((const uint8_t *)"a\xf0\x9f\x98", 4), 1);
	assert_int_equal(utf8_whole((const uint8_t *)"", 0), 0);
}

static void the_spill_has_everything_up_to_its_limit(void **state)
{
	char dir[64], text[64] = "", path[128];
	int fd;

	(void)state;
	test_make_directory("capture", dir, sizeof(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	data_init(fd, -1);
	capture_begin(&c, 4, 4, 14, "spill.txt");
	take("abcdefgh");
	assert_int_equal(faccessat(fd, "spill.txt", F_OK, 0), -1);
	take("ijkl");
	take("mnopqrst");
	capture_finish(&c);
	assert_int_equal(c.spilled, 14);
	(void)snprintf(path, sizeof(path), "%s/spill.txt", dir);
	(void)close(fd);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 14);
	assert_string_equal(text, "abcdefghijklmn");
	(void)close(fd);
	(void)unlink(path);
	(void)rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_stream_is_kept_whole),
		cmocka_unit_test(a_long_stream_loses_its_middle),
		cmocka_unit_test(without_a_tail_only_the_head_is_kept),
		cmocka_unit_test(no_character_is_cut_in_two),
		cmocka_unit_test(half_a_character_waits_for_the_rest),
		cmocka_unit_test(bytes_that_are_no_text_are_given_as_they_are),
		cmocka_unit_test(the_spill_has_everything_up_to_its_limit),
	};

	return RUN_TESTS(tests);
}
