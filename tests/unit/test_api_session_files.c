/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include "base/cleanup.h"

/* The files of dynamic sessions, above a fake core. */

#define OLD "api-version=2024-02-02-preview&identifier=user-1"
#define NEW "api-version=2025-02-02-preview&identifier=user-1"

static struct answer get(struct fixture *fx, const char *path)
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(8 << 10);

	buf_printf(&b, "GET %s HTTP/1.1\r\n" HOST AUTH "\r\n", path);
	return ask_bytes(fx, b.data, b.length);
}

/* ----------------------------------------------------------------- many files */

enum { MANY = 2345 };	/* more than a slice, and more than a page */

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void add_many(struct fixture *fx)
{
	char name[32];
	unsigned i;

	fx->core->named = true;
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%s%05u",
			 i % 2 ? "sub/" : "", i);
		fake_core_cfile(fx->core, name, NULL, 0);
	}
}

static void the_old_family_lists_all_files(void **state)
{
	struct fixture *fx = *state;

	add_many(fx);
	_answer_ struct answer a = get(fx, "/files?" OLD);
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_header(&a, "Content-Type"),
			    "application/json");
	assert_int_equal(count(a.body, "\"filename\":"), MANY);
	assert_int_equal(count(a.body, "\"filename\":\"02344\""), 1);
	assert_null(strstr(a.body, "nextLink"));
	assert_non_null(strstr(a.body, "],\"$id\":\"1\"}"));
	/* No turn of the loop reads more than a slice of them. */
	assert_int_equal(fx->core->lists, (MANY + 199) / 200);
}

static void the_new_family_has_a_link_to_the_next_files(void **state)
{
	struct fixture *fx = *state;
	unsigned pages = 0, files = 0;
	char path[512] = "/files?recursive=true&" NEW;

	add_many(fx);
	for (;;) {
		_answer_ struct answer a = get(fx, path);
		const char *link = strstr(a.body, "\"nextLink\":\"");

		assert_int_equal(a.status, 200);
		files += count(a.body, "\"sizeInBytes\":");
		pages++;
		if (!link)
			break;
		link += strlen("\"nextLink\":\"");
		snprintf(path, sizeof(path), "%.*s",
			 (int)strcspn(link, "\""), link);
	}
	assert_int_equal(files, MANY);
	assert_int_equal(pages, 3);
}

/* ------------------------------------------------------------ names of uploads */

static struct answer upload(struct fixture *fx, const char *path,
			    const char *name)
{
	_cleanup_(buf_done) struct buf form = BUF_INIT(4096);
	_cleanup_(buf_done) struct buf b = BUF_INIT(8192);

	buf_printf(&form,
		   "--x\r\nContent-Disposition: form-data; name=\"file\"; "
		   "filename=\"%s\"\r\n\r\nhi\r\n--x--\r\n", name);
	buf_printf(&b, "POST %s HTTP/1.1\r\n" HOST AUTH
		   "Content-Type: multipart/form-data; boundary=x\r\n"
		   "Content-Length: %zu\r\n\r\n%s", path, form.length,
		   buf_str(&form));
	return ask_bytes(fx, b.data, b.length);
}

static void an_upload_has_a_name_that_the_service_takes(void **state)
{
	static const char *const good[] = {
		"a b-_.@$&=;,#%25^()9.csv", "/mnt/data/x.txt",
		"\xe8\xa1\xa8.csv",
	};
	static const char *const bad[] = {
		"a+b", "a'b", "a*b", "[a]", "a|b", "a~", "\xf0\x9f\x98\x80",
	};
	struct fixture *fx = *state;
	size_t i;

	fx->core->named = true;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		_answer_ struct answer a = upload(fx, "/files?" NEW, good[i]);

		assert_int_equal(a.status, 200);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_answer_ struct answer flat = upload(fx, "/files?" NEW, bad[i]);
		_answer_ struct answer old =
			upload(fx, "/files/upload?" OLD, bad[i]);

		assert_int_equal(flat.status, 400);
		assert_int_equal(old.status, 400);
		assert_non_null(strstr(flat.body, "-_.@$&=;,#%^()"));
	}
	/* What a program has made is read under any name. */
	fake_core_cfile(fx->core, "a+b", "x", 1);
	_answer_ struct answer a = get(fx, "/files/a+b/content?" NEW);
	assert_int_equal(a.status, 200);
	assert_int_equal(fx->core->uploads, 0);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_old_family_lists_all_files),
		TEST(the_new_family_has_a_link_to_the_next_files),
		TEST(an_upload_has_a_name_that_the_service_takes),
	};

	return RUN_TESTS(tests);
}
