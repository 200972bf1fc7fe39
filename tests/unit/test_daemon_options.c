#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "daemon/dev.h"
#include "daemon/options.h"

static int parse(struct options *o, struct error *err, const char *first,
		 const char *second)
{
	char *argv[] = { (char *)"cupolad", (char *)first, (char *)second,
			 NULL };

	*err = ERROR_INIT;
	return options_parse(second ? 3 : 2, argv, o, err);
}

static void options_are_read_in_order(void **state)
{
	char *argv[] = { (char *)"cupolad",
			 (char *)"--dev",
			 (char *)"/d",
			 (char *)"--set=a.b=1",
			 (char *)"--set",
			 (char *)"c.d=2",
			 (char *)"--check-config",
			 NULL };
	struct error err = ERROR_INIT;
	struct options o;

	(void)state;
	assert_int_equal(options_parse(7, argv, &o, &err), 0);
	assert_string_equal(o.dev, "/d");
	assert_int_equal(o.set.count, 2);
	assert_string_equal(o.set.items[0], "a.b=1");
	assert_string_equal(o.set.items[1], "c.d=2");
	assert_true(o.check_config);
	assert_null(o.config);
}

static void what_is_wrong_is_named(void **state)
{
	struct error err;
	struct options o;

	(void)state;
	assert_true(parse(&o, &err, "--nonsense", NULL) < 0);
	assert_non_null(strstr(err.message, "--nonsense"));
	assert_true(parse(&o, &err, "--dev", NULL) < 0);
	assert_non_null(strstr(err.message, "--dev"));
	assert_true(parse(&o, &err, "--dev", "") < 0);
	assert_true(parse(&o, &err, "surplus", NULL) < 0);
	assert_non_null(strstr(err.message, "surplus"));
}

/* A directory with one in it that is not Cupola's. */
static void another_ones_home_is_not_taken_over(void **state)
{
	char top[64], inner[80];
	_cleanup_free_ char *path = NULL;
	struct error err = ERROR_INIT;
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	test_make_directory("dev", top, sizeof(top));
	snprintf(inner, sizeof(inner), "%s/passwd.d", top);
	assert_int_equal(mkdir(inner, 0700), 0);
	assert_true(dev_directory(top, &path, &err) < 0);
	assert_int_equal(stat(top, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, top), 0);
}

static void a_directory_of_another_user_is_refused(void **state)
{
	char top[64];
	_cleanup_free_ char *path = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	if (geteuid() != 0)
		skip();
	test_make_directory("dev", top, sizeof(top));
	assert_int_equal(chown(top, 12345, 12345), 0);
	assert_true(dev_directory(top, &path, &err) < 0);
	assert_int_equal(rmdir(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_read_in_order),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(another_ones_home_is_not_taken_over),
		cmocka_unit_test(a_directory_of_another_user_is_refused),
	};

	return RUN_TESTS(tests);
}
