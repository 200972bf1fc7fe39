/* SPDX-License-Identifier: Apache-2.0 */
#include "core_fixture.h"

/* Which files clients may give, and what they are then taken for. */

/* Return: the error's code, or ERR_NONE */
static enum error_code give(struct fixture *fx, const char *container,
			    const char *name, const char *purpose,
			    const char *data, struct answer *ret)
{
	const struct file_spec spec = { .filename = name, .purpose = purpose };
	struct core_upload *upload;
	int r;

	*ret = (struct answer){ .called = false };
	assert_int_equal(core_upload_new(fx->core, &fx->who, container,
					 UINT64_MAX, NULL, NULL, &upload,
					 &ret->err),
			 0);
	assert_int_equal(
		core_upload_write(upload, data, strlen(data), &ret->err), 0);
	if (container)
		r = core_cfile_create(fx->core, &fx->who, container, name,
				      upload, on_cfile, ret, &ret->err);
	else
		r = core_file_create(fx->core, &fx->who, &spec, upload,
				     on_file, ret, &ret->err);
	if (r < 0)
		core_upload_free(upload);
	else
		RUN_UNTIL(fx, ret->called);
	return ret->err.code;
}

#define GIF "GIF89a\x01\x01\x01\x01"

static void strict_types_are_those_of_the_hosted_service(void **state)
{
	static const struct {
		const char *name;
		const char *purpose;
		const char *data;
		enum error_code code;
		const char *param;
	} files[] = {
		{ "a.csv", "assistants", "1,2\n", ERR_NONE, "" },
		{ "a.PNG", "assistants", GIF, ERR_NONE, "" },
		{ "a.jpg", "assistants", GIF, ERR_NONE, "" },
		{ "a.txt", "assistants", "", ERR_NONE, "" },
		{ "a.json", "assistants", "%PDF-1.4\n", ERR_BAD_REQUEST,
		  "file" },
		{ "a.csv", "assistants", GIF, ERR_BAD_REQUEST, "file" },
		{ "a.png", "assistants", "text", ERR_BAD_REQUEST, "file" },
		{ "a.zip", "assistants", "%PDF-1.4\n", ERR_BAD_REQUEST,
		  "file" },
		{ "a.exe", "assistants", "MZ", ERR_BAD_REQUEST, "file" },
		{ "csv", "assistants", "1,2\n", ERR_BAD_REQUEST, "file" },
		{ "a.csv", "user_data", "1,2\n", ERR_BAD_REQUEST, "purpose" },
	};
	struct fixture *fx = *state;
	struct answer a;
	char c[ID_SIZE];
	size_t i;

	fixture_set(fx, "files.strict_types=yes");
	fixture_start(fx);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(give(fx, NULL, files[i].name,
				      files[i].purpose, files[i].data, &a),
				 files[i].code);
		assert_string_equal(a.err.param, files[i].param);
		if (strcmp(files[i].param, "file") == 0)
			assert_non_null(strstr(a.err.message, ".xlsx .xml"));
	}
	/* A container's own files have no purpose. */
	fixture_session(fx, c);
	assert_int_equal(give(fx, c, "a.exe", NULL, "MZ", &a), ERR_BAD_REQUEST);
	assert_int_equal(give(fx, c, "a.csv", NULL, GIF, &a), ERR_BAD_REQUEST);
	assert_int_equal(give(fx, c, "a.csv", NULL, "1,2", &a), ERR_NONE);
}

static void normally_any_file_is_taken_and_typed_by_its_name(void **state)
{
	struct fixture *fx = *state;
	struct store_file row;
	struct answer a;

	fixture_start(fx);
	assert_int_equal(give(fx, NULL, "a.csv", "user_data", "{}", &a),
			 ERR_NONE);
	assert_int_equal(
		store_file_get(fx->store, fx->who.tenant, a.id, &row), 0);
	assert_string_equal(row.media_type, "application/csv");
	assert_int_equal(give(fx, NULL, "a.csv", "user_data", GIF, &a),
			 ERR_NONE);
	assert_int_equal(
		store_file_get(fx->store, fx->who.tenant, a.id, &row), 0);
	assert_string_equal(row.media_type, "image/gif");
	assert_int_equal(give(fx, NULL, "x.exe", "evals", "MZ", &a),
			 ERR_NONE);
}

int main(void)
{
#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(strict_types_are_those_of_the_hosted_service),
		TEST(normally_any_file_is_taken_and_typed_by_its_name),
	};

	return RUN_TESTS(tests);
}
