#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/blob_impl.h"

#define MIB (1024 * 1024)
#define LARGE_BYTES (100 * (uint64_t)MIB)

/* What the daemon may grow by at most when it takes in a file of this size. */
#define GROWTH_MAX_KIB (16 * 1024)

struct watched {
	bool done;
	bool room;
	int r;
	struct blob_info info;
};

static void on_room(void *userdata)
{
	struct watched *watched = userdata;

	watched->room = true;
}

static void on_done(void *userdata, int r, const struct blob_info *info)
{
	struct watched *watched = userdata;

	assert_false(watched->done);
	watched->done = true;
	watched->r = r;
	if (info)
		watched->info = *info;
}

static struct blob_spec spec_for(struct watched *watched)
{
	return (struct blob_spec){
		.expected_bytes = BLOB_LENGTH_UNKNOWN,
		.max_bytes = UINT64_MAX,
		.room = on_room,
		.done = on_done,
		.userdata = watched,
	};
}

static void run_until(struct fixture *fx, const bool *flag)
{
	while (!*flag)
		assert_true(sd_event_run(fx->event, UINT64_MAX) >= 0);
}

/* Lets the blob threads finish what is under way and clean up. */
static void settle(struct fixture *fx)
{
	worker_drain(fx->blobs->worker);
}

static void write_all(struct fixture *fx, struct blob_writer *writer,
		      struct watched *watched, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = blob_writer_append(writer, data, size);

		assert_true(n >= 0);
		data += n;
		size -= (size_t)n;
		if (size == 0)
			break;
		watched->room = false;
		run_until(fx, &watched->room);
	}
}

static void a_blob_is_found_under_its_digest(void **state)
{
	struct fixture *fx = *state;
	struct blob_info info;
	uint8_t expected[HASH_SIZE];
	uint64_t size;
	char text[8];
	int fd;

	assert_int_equal(hash_sha256("hello", 5, expected), 0);
	assert_int_equal(fixture_write_blob(fx, "hello", 5, NULL, &info), 0);
	assert_memory_equal(info.sha256, expected, HASH_SIZE);
	assert_int_equal(info.bytes, 5);
	assert_string_equal(info.media_type, "text/plain");
	assert_int_equal(blob_open(fx->blobs, expected, &fd, &size), 0);
	assert_int_equal(size, 5);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_memory_equal(text, "hello", 5);
	close_fd(&fd);
	expected[0] ^= 1;
	assert_int_equal(blob_open(fx->blobs, expected, &fd, &size), -ENOENT);
}

static void an_empty_blob_is_a_blob(void **state)
{
	struct fixture *fx = *state;
	struct blob_info info;
	uint64_t size;
	int fd;

	assert_int_equal(fixture_write_blob(fx, "", 0, NULL, &info), 0);
	assert_int_equal(info.bytes, 0);
	assert_int_equal(blob_open(fx->blobs, info.sha256, &fd, &size), 0);
	assert_int_equal(size, 0);
	close_fd(&fd);
}

static long rss_kib(void)
{
	long pages = 0, ignored;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &ignored, &pages), 2);
	(void)fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void a_large_blob_needs_little_memory(void **state)
{
	struct blob_info first;
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	uint8_t *chunk = malloc(MIB);
	struct blob_writer *writer;
	long before, grown;
	uint64_t i;

	assert_non_null(chunk);
	memset(chunk, 0x5a, MIB);
	assert_int_equal(fixture_write_blob(fx, "first", 5, NULL, &first), 0);
	before = rss_kib();
	spec.expected_bytes = LARGE_BYTES;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	for (i = 0; i < LARGE_BYTES / MIB; i++)
		write_all(fx, writer, &watched, chunk, MIB);
	assert_int_equal(blob_writer_finish(writer), 0);
	run_until(fx, &watched.done);
	grown = rss_kib() - before;
	blob_writer_free(writer);
	free(chunk);

	assert_int_equal(watched.r, 0);
	assert_int_equal(watched.info.bytes, LARGE_BYTES);
	print_message("# grown by %ld KiB\n", grown);
	assert_true(grown < GROWTH_MAX_KIB);
}

/* On all threads at once: their folders are new, and half of them are equal. */
static void many_writers_end_at_once(void **state)
{
	enum { COUNT = 256 };
	struct blob_writer *writers[COUNT];
	struct watched watched[COUNT] = { 0 };
	struct fixture *fx = *state;
	unsigned i;

	for (i = 0; i < COUNT; i++) {
		const struct blob_spec spec = spec_for(&watched[i]);
		unsigned content = i / 2;

		assert_int_equal(blob_writer_new(fx->blobs, &spec, &writers[i]),
				 0);
		write_all(fx, writers[i], &watched[i], (uint8_t *)&content,
			  sizeof(content));
		assert_int_equal(blob_writer_finish(writers[i]), 0);
	}
	for (i = 0; i < COUNT; i++) {
		_cleanup_close_ int fd = -1;
		uint64_t bytes;

		run_until(fx, &watched[i].done);
		assert_int_equal(watched[i].r, 0);
		assert_int_equal(blob_open(fx->blobs, watched[i].info.sha256,
					   &fd, &bytes),
				 0);
		assert_int_equal(bytes, sizeof(unsigned));
	}
	assert_int_equal(fixture_count_blobs(fx), COUNT / 2);
	for (i = 0; i < COUNT; i++)
		blob_writer_free(writers[i]);
}

static void an_abandoned_blob_leaves_nothing(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	uint8_t *chunk = calloc(1, BLOB_CHUNK_SIZE);
	struct blob_writer *writer;

	assert_non_null(chunk);
	settle(fx);
	/* While the thread is writing, */
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	write_all(fx, writer, &watched, chunk, BLOB_CHUNK_SIZE);
	blob_writer_free(writer);
	/* and while it is not. */
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	write_all(fx, writer, &watched, chunk, BLOB_CHUNK_SIZE);
	settle(fx);
	blob_writer_free(writer);
	settle(fx);
	free(chunk);

	assert_false(watched.done);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void expect_failure(struct fixture *fx, const struct blob_spec *spec,
			   const char *text)
{
	struct watched *watched = spec->userdata;
	struct blob_writer *writer;

	assert_int_equal(blob_writer_new(fx->blobs, spec, &writer), 0);
	write_all(fx, writer, watched, (const uint8_t *)text, strlen(text));
	assert_int_equal(blob_writer_finish(writer), 0);
	run_until(fx, &watched->done);
	assert_int_equal(watched->r, -EBADMSG);
	assert_int_equal(blob_writer_append(writer, "x", 0), -EBADMSG);
	blob_writer_free(writer);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void another_digest_than_announced_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	uint8_t expected[HASH_SIZE];

	assert_int_equal(hash_sha256("hello", 5, expected), 0);
	spec.expected_sha256 = expected;
	expect_failure(fx, &spec, "hellO");
}

static void another_length_than_announced_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	struct blob_writer *writer;

	spec.expected_bytes = 3;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, "1234", 4), -EBADMSG);
	run_until(fx, &watched.done);
	assert_int_equal(watched.r, -EBADMSG);
	blob_writer_free(writer);

	watched.done = false;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, "12", 2), 2);
	assert_int_equal(blob_writer_finish(writer), -EBADMSG);
	run_until(fx, &watched.done);
	assert_int_equal(watched.r, -EBADMSG);
	blob_writer_free(writer);

	/* Freed at once, it says nothing more. */
	watched.done = false;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, "1234", 4), -EBADMSG);
	blob_writer_free(writer);
	settle(fx);
	assert_false(watched.done);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

/* The failure is found while the thread still writes an earlier chunk. */
static void a_failure_in_the_middle_is_told_once(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	uint8_t *chunk = calloc(1, BLOB_CHUNK_SIZE);
	struct blob_writer *writer;

	assert_non_null(chunk);
	spec.max_bytes = BLOB_CHUNK_SIZE;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	write_all(fx, writer, &watched, chunk, BLOB_CHUNK_SIZE);
	assert_int_equal(blob_writer_append(writer, chunk, 1), -EFBIG);
	assert_false(watched.done);
	run_until(fx, &watched.done);
	assert_int_equal(watched.r, -EFBIG);
	blob_writer_free(writer);
	settle(fx);
	assert_int_equal(fixture_count_blobs(fx), 0);
	free(chunk);
}

static void more_than_the_maximum_is_refused(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	struct blob_writer *writer;

	spec.max_bytes = 4;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, "1234", 4), 4);
	assert_int_equal(blob_writer_append(writer, "5", 1), -EFBIG);
	blob_writer_free(writer);
	spec.expected_bytes = 5;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), -EFBIG);
}

static void the_floor_of_free_space_is_not_touched(void **state)
{
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	struct blob_writer *writer;
	uint64_t free_bytes;

	fixture_close(fx);
	fixture_open(fx, INT64_MAX);
	assert_int_equal(blobs_free_bytes(fx->blobs, &free_bytes), 0);
	assert_int_equal(free_bytes, 0);
	spec.expected_bytes = 1;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), -ENOSPC);

	/* Of unknown length: refused when the first bytes are there. */
	spec.expected_bytes = BLOB_LENGTH_UNKNOWN;
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	assert_int_equal(blob_writer_append(writer, "1", 1), 1);
	assert_int_equal(blob_writer_finish(writer), 0);
	run_until(fx, &watched.done);
	assert_int_equal(watched.r, -ENOSPC);
	blob_writer_free(writer);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void what_a_crash_left_half_written_is_removed(void **state)
{
	struct fixture *fx = *state;
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/tmp/7", fx->blob_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "half", 4), 4);
	close_fd(&fd);
	assert_int_equal(fixture_count_blobs(fx), 1);
	fixture_close(fx);
	fixture_open(fx, 0);
	assert_int_equal(fixture_count_blobs(fx), 0);
}

static void the_type_is_told_from_name_and_content(void **state)
{
	static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
				  "\x08\6\0\0\0";
	struct fixture *fx = *state;
	struct watched watched = { .done = false };
	struct blob_spec spec = spec_for(&watched);
	struct blob_writer *writer;

	spec.name = "report.csv";
	assert_int_equal(blob_writer_new(fx->blobs, &spec, &writer), 0);
	write_all(fx, writer, &watched, (const uint8_t *)png, sizeof(png));
	assert_int_equal(blob_writer_finish(writer), 0);
	run_until(fx, &watched.done);
	blob_writer_free(writer);
	assert_string_equal(watched.info.media_type, "image/png");
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_blob_is_found_under_its_digest),
		TEST(an_empty_blob_is_a_blob),
		TEST(a_large_blob_needs_little_memory),
		TEST(many_writers_end_at_once),
		TEST(an_abandoned_blob_leaves_nothing),
		TEST(another_digest_than_announced_is_refused),
		TEST(another_length_than_announced_is_refused),
		TEST(a_failure_in_the_middle_is_told_once),
		TEST(more_than_the_maximum_is_refused),
		TEST(the_floor_of_free_space_is_not_touched),
		TEST(what_a_crash_left_half_written_is_removed),
		TEST(the_type_is_told_from_name_and_content),
	};

	return RUN_TESTS(tests);
}
