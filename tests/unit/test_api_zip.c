/* SPDX-License-Identifier: Apache-2.0 */
/* All files of a container as an archive, read back by a library and by eye. */
#include "api_fixture.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <locale.h>
#include <unistd.h>

#include "api/container_zip.h"
#include "base/cleanup.h"

#define ZIP "/v1/containers/" FAKE_CONTAINER "/files.zip"
#define GET_ZIP \
	"GET " ZIP " HTTP/1.1\r\n" HOST AUTH "Connection: close\r\n\r\n"

enum { ZIP_MAX = 64 << 20 };

/* Takes the chunks off. Return: whether the last one came */
static bool dechunk(const struct answer *a, struct buf *ret)
{
	const char *at = a->body, *end = a->body + a->length;
	char *next;
	size_t size;

	while (at < end) {
		size = strtoul(at, &next, 16);
		at = next + 2;
		if (size == 0)
			return true;
		if (size > (size_t)(end - at))
			return false;
		assert_int_equal(buf_add(ret, at, size), 0);
		at += size + 2;
	}
	return false;
}

static void fetch(struct fixture *fx, struct buf *ret)
{
	_answer_ struct answer a = ask(fx, GET_ZIP);

	assert_int_equal(a.status, 200);
	assert_true(dechunk(&a, ret));
}

static struct archive *open_zip(const struct buf *zip)
{
	struct archive *archive = archive_read_new();

	assert_non_null(archive);
	assert_int_equal(archive_read_support_format_zip(archive), ARCHIVE_OK);
	assert_int_equal(archive_read_open_memory(archive, zip->data,
						  zip->length), ARCHIVE_OK);
	return archive;
}

static void check_next(struct archive *archive, const char *name,
		       const char *content)
{
	struct archive_entry *entry;
	char text[64] = "";

	assert_int_equal(archive_read_next_header(archive, &entry),
			 ARCHIVE_OK);
	assert_string_equal(archive_entry_pathname_utf8(entry), name);
	assert_int_equal(archive_entry_mode(entry), AE_IFREG | 0644);
	assert_int_equal(archive_entry_uid(entry), 0);
	assert_int_equal(archive_entry_gid(entry), 0);
	assert_int_equal(archive_entry_mtime(entry), 1790000000);
	assert_int_equal(archive_entry_size(entry), strlen(content));
	assert_int_equal(archive_read_data(archive, text, sizeof(text)),
			 strlen(content));
	assert_string_equal(text, content);
}

static void check_end(struct archive *archive)
{
	struct archive_entry *entry;

	assert_int_equal(archive_read_next_header(archive, &entry),
			 ARCHIVE_EOF);
	archive_read_free(archive);
}

static void all_files_come_in_one_archive(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf zip = BUF_INIT(ZIP_MAX);
	struct archive *archive;

	fake_core_cfile(fx->core, "a.csv", "1,2\n", 4);
	fake_core_cfile(fx->core, "plots/\xe6\x95\xb0.png", "png", 3);
	fake_core_cfile(fx->core, "empty", NULL, 0);
	fake_core_cfile(fx->core, "../../etc/cron.d/x", "evil", 4);
	fake_core_cfile(fx->core, "a\nb\xff", "b", 1);
	fake_core_cfile(fx->core, "last", "z", 1);
	fetch(fx, &zip);
	archive = open_zip(&zip);
	check_next(archive, "a.csv", "1,2\n");
	check_next(archive, "plots/\xe6\x95\xb0.png", "png");
	check_next(archive, "empty", "");
	check_next(archive, "__/__/etc/cron.d/x", "evil");
	check_next(archive, "a_b_", "b");
	check_next(archive, "last", "z");
	check_end(archive);
}

static void the_answer_says_what_it_is(void **state)
{
	struct fixture *fx = *state;
	_answer_ struct answer get = ask(fx, GET_ZIP);
	_answer_ struct answer head =
		ask(fx, "HEAD " ZIP " HTTP/1.1\r\n" HOST AUTH
			"\r\n");
	_cleanup_(buf_done) struct buf zip = BUF_INIT(ZIP_MAX);

	assert_int_equal(get.status, 200);
	assert_string_equal(answer_header(&get, "Content-Type"),
			    "application/zip");
	assert_string_equal(answer_header(&get, "Content-Disposition"),
			    "attachment; filename=\"n__me.zip\"; "
			    "filename*=UTF-8''n%C3%A4me.zip");
	assert_string_equal(answer_header(&get, "Content-Security-Policy"),
			    "sandbox");
	assert_string_equal(answer_header(&get, "X-Content-Type-Options"),
			    "nosniff");
	assert_int_equal(head.status, 200);
	assert_true(head.closed);
	assert_int_equal(head.length, 0);
	assert_string_equal(answer_header(&head, "Content-Type"),
			    "application/zip");
	/* No files at all are an archive, too. */
	assert_true(dechunk(&get, &zip));
	check_end(open_zip(&zip));
}

static void only_who_may_see_the_files_gets_them(void **state)
{
	struct fixture *fx = *state;

	expect_error(fx, "GET " ZIP " HTTP/1.1\r\n" HOST "\r\n", 401, NULL);
	expect_error(fx, "GET " ZIP " HTTP/1.1\r\n" HOST
		     "api-key: " FAKE_FILES_KEY "\r\n\r\n", 403, NULL);
	expect_error(fx, "GET /v1/containers/cntr_no/files.zip HTTP/1.1\r\n"
		     HOST AUTH "\r\n", 404, NULL);
	expect_error(fx, "DELETE " ZIP " HTTP/1.1\r\n" HOST AUTH "\r\n", 405,
		     NULL);
}

static struct fake_cfile *add_large(struct fixture *fx, size_t size)
{
	_cleanup_free_ char *content = malloc(size);

	assert_non_null(content);
	memset(content, 'x', size);
	return fake_core_cfile(fx->core, "large.bin", content, size);
}

/* Begins to fetch, and reads nothing but the head. */
static int begin(struct fixture *fx, struct buf *got)
{
	int fd = client_connect(fx);

	assert_true(client_send(fx, fd, GET_ZIP, strlen(GET_ZIP)));
	assert_true(client_read_until(fx, fd, got, "\r\n\r\n"));
	return fd;
}

static void nothing_ends_well_that_is_not_whole(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf got = BUF_INIT(ZIP_MAX);
	_cleanup_(buf_done) struct buf zip = BUF_INIT(ZIP_MAX);
	_cleanup_close_ int fd = -1;

	add_large(fx, 16 << 20);
	fake_core_cfile(fx->core, "small", "x", 1);
	fd = begin(fx, &got);
	fx->core->cfile[1].deleted = true;
	_answer_ struct answer a = client_read(fx, fd);
	assert_true(a.closed);
	assert_true(a.raw.length > 8 << 20);
	assert_false(a.raw.length > 17 << 20);
	assert_memory_not_equal(a.raw.data + a.raw.length - 7,
				"\r\n0\r\n\r\n", 7);
	/* A blob that is shorter than it should be. */
	fx->core->cfile[1].deleted = false;
	fx->core->cfile[1].bytes = 2;
	_answer_ struct answer b = ask(fx, GET_ZIP);
	assert_false(dechunk(&b, &zip));
}

static void one_tenant_fetches_only_so_many(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf got = BUF_INIT(ZIP_MAX);
	int fds[CONTAINER_ZIP_TENANT_MAX];
	int i;

	add_large(fx, 16 << 20);
	for (i = 0; i < CONTAINER_ZIP_TENANT_MAX; i++) {
		buf_clear(&got);
		fds[i] = begin(fx, &got);
	}
	expect_error(fx, GET_ZIP, 429, NULL);
	close_fd(&fds[0]);
	run_loop(fx);
	_answer_ struct answer a = ask(fx, GET_ZIP);
	assert_int_equal(a.status, 200);
	for (i = 1; i < CONTAINER_ZIP_TENANT_MAX; i++)
		close_fd(&fds[i]);
	run_loop(fx);
}

static void the_directory_of_many_files_comes_in_pieces(void **state)
{
	struct fixture *fx = *state;
	_cleanup_(buf_done) struct buf zip = BUF_INIT(ZIP_MAX);
	struct archive *archive;
	char name[32];
	int i;

	for (i = 0; i < CONTAINER_ZIP_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "part-%d.txt", i);
		fake_core_cfile(fx->core, name, NULL, 0);
	}
	fetch(fx, &zip);
	archive = open_zip(&zip);
	for (i = 0; i < CONTAINER_ZIP_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "part-%d.txt", i);
		check_next(archive, name, "");
	}
	check_end(archive);
	fake_core_cfile(fx->core, "one more", NULL, 0);
	expect_error(fx, GET_ZIP, 409, NULL);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(all_files_come_in_one_archive),
		TEST(the_answer_says_what_it_is),
		TEST(only_who_may_see_the_files_gets_them),
		TEST(nothing_ends_well_that_is_not_whole),
		TEST(one_tenant_fetches_only_so_many),
		TEST(the_directory_of_many_files_comes_in_pieces),
	};

	/* Where the library can say every name. */
	assert(setlocale(LC_CTYPE, "C.UTF-8"));
	return RUN_TESTS(tests);
}
