/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Files that arrive in parts. */

/** struct told - What a callback of core_parts_…() said */
struct told {
	bool called;
	bool failed;
	struct error err;
	char id[ID_SIZE];
	char file_id[ID_SIZE];
	enum parts_status status;
};

static void on_upload(void *userdata, const struct parts_view *upload,
		      const struct error *err)
{
	struct told *t = userdata;

	t->called = true;
	t->failed = err != NULL;
	if (err) {
		t->err = *err;
		return;
	}
	strcpy(t->id, upload->id);
	t->status = upload->status;
	strcpy(t->file_id, upload->file ? upload->file->id : "");
}

static void on_part(void *userdata, const struct part_view *part,
		    const struct error *err)
{
	struct told *t = userdata;

	t->called = true;
	t->failed = err != NULL;
	if (err)
		t->err = *err;
	else
		strcpy(t->id, part->id);
}

static void begin(struct fixture *fx, uint64_t bytes, char ret[ID_SIZE])
{
	const struct file_spec spec = { .filename = "big.csv",
					.purpose = "assistants" };
	struct told t = { .called = false };

	assert_int_equal(core_parts_begin(fx->core, &fx->who, &spec, bytes,
					  on_upload, &t, &t.err),
			 0);
	RUN_UNTIL(fx, t.called);
	assert_false(t.failed);
	assert_int_equal(t.status, PARTS_PENDING);
	strcpy(ret, t.id);
}

static void add(struct fixture *fx, const char *id, const void *data,
		size_t size, struct told *ret)
{
	struct core_upload *upload;

	*ret = (struct told){ .called = false };
	assert_int_equal(core_upload_new(fx->core, &fx->who, NULL, UINT64_MAX,
					 NULL, NULL, &upload, &ret->err),
			 0);
	assert_int_equal(core_upload_write(upload, data, size, &ret->err), 0);
	if (core_parts_add(fx->core, &fx->who, id, upload, on_part, ret,
			   &ret->err) < 0) {
		core_upload_free(upload);
		ret->failed = true;
		return;
	}
	RUN_UNTIL(fx, ret->called);
}

static void complete(struct fixture *fx, const char *id,
		     const char *const *parts, size_t count, const void *md5,
		     struct told *ret)
{
	const struct parts_choice choice = { parts, count, md5 };

	*ret = (struct told){ .called = false };
	if (core_parts_complete(fx->core, &fx->who, id, &choice, on_upload,
				ret, &ret->err) < 0)
		ret->failed = true;
	else
		RUN_UNTIL(fx, ret->called);
}

static void check_content(struct fixture *fx, const char *file_id,
			  const void *data, size_t size)
{
	_cleanup_close_ int fd = -1;
	struct error err = ERROR_INIT;
	struct file_view file;
	char *got = malloc(size + 1);

	assert_int_equal(core_file_open(fx->core, &fx->who, file_id, &file,
					&fd, &err),
			 0);
	assert_int_equal(file.bytes, size);
	assert_string_equal(file.filename, "big.csv");
	assert_int_equal(read(fd, got, size + 1), size);
	assert_memory_equal(got, data, size);
	free(got);
}

static void parts_become_one_file_in_the_order_that_is_said(void **state)
{
	struct fixture *fx = *state;
	struct told one, two, t;
	const char *parts[2];
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, 12, id);
	add(fx, id, " second", 7, &two);
	add(fx, id, "first", 5, &one);
	parts[0] = one.id;
	parts[1] = two.id;
	complete(fx, id, parts, 2, NULL, &t);
	assert_false(t.failed);
	assert_int_equal(t.status, PARTS_COMPLETED);
	check_content(fx, t.file_id, "first second", 12);

	/* Once only. */
	complete(fx, id, parts, 2, NULL, &t);
	assert_true(t.failed);
	assert_int_equal(t.err.code, ERR_BAD_REQUEST);
	add(fx, id, "x", 1, &one);
	assert_true(one.failed);
	assert_int_equal(one.err.code, ERR_BAD_REQUEST);
}

static void large_parts_are_copied_whole(void **state)
{
	struct fixture *fx = *state;
	const size_t size = 700001;
	uint8_t *data = malloc(3 * size);
	char ids[3][ID_SIZE];
	const char *parts[3];
	struct told t;
	char id[ID_SIZE];
	size_t i;

	for (i = 0; i < 3 * size; i++)
		data[i] = (uint8_t)(i * 2654435761u >> 13);
	fixture_start(fx);
	begin(fx, 3 * size, id);
	for (i = 0; i < 3; i++) {
		add(fx, id, data + i * size, size, &t);
		assert_false(t.failed);
		strcpy(ids[i], t.id);
		parts[i] = ids[i];
	}
	complete(fx, id, parts, 3, NULL, &t);
	assert_false(t.failed);
	check_content(fx, t.file_id, data, 3 * size);
	free(data);
}

static void what_does_not_fit_is_refused_and_may_be_repeated(void **state)
{
	struct fixture *fx = *state;
	static const uint8_t wrong[CORE_MD5_SIZE] = { 1 };
	/* echo -n abc | md5sum */
	static const uint8_t right[CORE_MD5_SIZE] = {
		0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0,
		0xd6, 0x96, 0x3f, 0x7d, 0x28, 0xe1, 0x7f, 0x72,
	};
	const char *unknown = "part_00000000000000000000000000000000";
	struct told part, other, t;
	const char *parts[2];
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, 3, id);
	add(fx, id, "abc", 3, &part);
	add(fx, id, "x", 1, &other);
	parts[0] = part.id;
	parts[1] = other.id;
	complete(fx, id, parts, 2, NULL, &t);
	assert_true(t.failed);
	assert_string_equal(t.err.param, "part_ids");
	complete(fx, id, &unknown, 1, NULL, &t);
	assert_true(t.failed);
	assert_string_equal(t.err.param, "part_ids[0]");
	complete(fx, id, parts, 1, wrong, &t);
	assert_true(t.failed);
	assert_string_equal(t.err.param, "md5");
	complete(fx, id, parts, 1, right, &t);
	assert_false(t.failed);
}

static void a_part_is_taken_once(void **state)
{
	struct fixture *fx = *state;
	const char *parts[2];
	struct told part, t;
	char id[ID_SIZE];

	fixture_start(fx);
	/* Even where the bytes would add up. */
	begin(fx, 6, id);
	add(fx, id, "abc", 3, &part);
	parts[0] = part.id;
	parts[1] = part.id;
	complete(fx, id, parts, 2, NULL, &t);
	assert_true(t.failed);
	assert_string_equal(t.err.param, "part_ids[1]");
}

static void a_cancelled_one_is_over_and_holds_nothing(void **state)
{
	struct fixture *fx = *state;
	struct store_totals totals;
	struct told part, t = { .called = false };
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, 3, id);
	add(fx, id, "abc", 3, &part);
	assert_int_equal(store_tenant_totals(fx->store, "default", &totals), 0);
	assert_int_equal(totals.file_bytes, 3);
	assert_int_equal(core_parts_cancel(fx->core, &fx->who, id, on_upload,
					   &t, &t.err),
			 0);
	RUN_UNTIL(fx, t.called);
	assert_int_equal(t.status, PARTS_CANCELLED);
	assert_int_equal(store_tenant_totals(fx->store, "default", &totals), 0);
	assert_int_equal(totals.file_bytes, 0);
	add(fx, id, "abc", 3, &part);
	assert_true(part.failed);
}

static void after_an_hour_it_has_expired_and_is_swept(void **state)
{
	struct fixture *fx = *state;
	struct store_totals totals;
	struct store_upload row;
	struct told part;
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, 3, id);
	add(fx, id, "abc", 3, &part);
	clock_advance(fx->clock, USEC_PER_HOUR);
	add(fx, id, "abc", 3, &part);
	assert_true(part.failed);
	assert_int_equal(part.err.code, ERR_BAD_REQUEST);
	assert_non_null(strstr(part.err.message, "expired"));
	/* A sweep that is due while another is under way comes a minute later. */
	RUN_UNTIL(fx,
		  (clock_advance(fx->clock, USEC_PER_MINUTE),
		   store_tenant_totals(fx->store, "default", &totals) == 0 &&
			   totals.file_bytes == 0));
	clock_advance(fx->clock, 24 * USEC_PER_HOUR);
	RUN_UNTIL(fx, (clock_advance(fx->clock, USEC_PER_MINUTE),
		       store_upload_get(fx->store, "default", id, &row) ==
			       -ENOENT));
}

static void another_tenant_sees_none_of_it(void **state)
{
	struct fixture *fx = *state;
	const struct principal other = { .tenant = "other",
					 .scopes = CORE_SCOPE_ALL };
	struct told t = { .called = false };
	char id[ID_SIZE];

	fixture_start(fx);
	begin(fx, 3, id);
	assert_int_equal(core_parts_cancel(fx->core, &other, id, on_upload, &t,
					   &t.err),
			 -ENOENT);
	assert_int_equal(t.err.code, ERR_NOT_FOUND);
}

static void limits_are_told_with_numbers(void **state)
{
	struct fixture *fx = *state;
	const struct file_spec spec = { .filename = "big.csv",
					.purpose = "assistants" };
	struct told t = { .called = false };

	fixture_set(fx, "store.max_file=1M");
	fixture_start(fx);
	assert_true(core_parts_begin(fx->core, &fx->who, &spec, 1048577,
				     on_upload, &t, &t.err) < 0);
	assert_int_equal(t.err.code, ERR_TOO_LARGE);
	assert_string_equal(t.err.param, "bytes");
	assert_non_null(strstr(t.err.message, "1048577"));
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(parts_become_one_file_in_the_order_that_is_said),
		TEST(large_parts_are_copied_whole),
		TEST(what_does_not_fit_is_refused_and_may_be_repeated),
		TEST(a_part_is_taken_once),
		TEST(a_cancelled_one_is_over_and_holds_nothing),
		TEST(after_an_hour_it_has_expired_and_is_swept),
		TEST(another_tenant_sees_none_of_it),
		TEST(limits_are_told_with_numbers),
	};

	return RUN_TESTS(tests);
}
