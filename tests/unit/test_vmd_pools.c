#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tiny_image.h"
#include "vmd/pools.h"

/* Pools of these settings; NULL ends them. */
static struct pools *load(const char *const *assignments)
{
	_cleanup_(settings_freep) struct settings *settings = NULL;
	struct pools *pools = NULL;
	struct error err = ERROR_INIT;

	assert_int_equal(settings_new(settings_table, settings_table_count,
				      &settings), 0);
	for (; *assignments; assignments++)
		assert_int_equal(settings_set(settings, *assignments, &err), 0);
	assert_int_equal(pools_load(settings, "/nowhere", &pools, &err), 0);
	return pools;
}

#define LOAD(...) load((const char *const[]){ __VA_ARGS__, NULL })

static void an_image_is_found_by_name_and_by_pin(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;

	(void)state;
	tiny_image_wish("");
	p = LOAD("pool.default.image=tiny", "pool.pin.image=" TINY_IMAGE,
		 "pool.other.image=tiny@ffffffffffff", "pool.cut.image=tiny@0123",
		 "pool.none.image=none");
	assert_int_equal(p->count, 5);
	assert_string_equal(p->pool[0].image.digest, "sha256:" TINY_IMAGE_DIGEST);
	assert_string_equal(p->pool[0].image.cmdline, "quiet");
	assert_string_equal(p->pool[1].image.digest, "sha256:" TINY_IMAGE_DIGEST);
	assert_string_equal(p->pool[1].problem, "");
	assert_non_null(strstr(p->pool[2].problem, "'tiny@ffffffffffff'"));
	assert_non_null(strstr(p->pool[3].problem, "12 digits"));
	assert_non_null(strstr(p->pool[4].problem, "images/build none"));
}

/* A link that leads elsewhere does not make another image of a pin. */
static void a_pin_is_held_to_the_digest(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;
	char link[PATH_MAX];

	(void)state;
	tiny_image_wish("");
	(void)snprintf(link, sizeof(link), "%s/tiny@ffffffffffff", tiny_image_directory);
	assert_int_equal(symlink(TINY_IMAGE, link), 0);
	p = LOAD("pool.default.image=tiny@ffffffffffff");
	assert_int_equal(unlink(link), 0);
	assert_non_null(strstr(p->pool[0].problem, "another digest"));
}

static void a_pool_has_what_its_image_wishes(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;

	(void)state;
	tiny_image_wish(",\"pool\":{\"memory\":\"640M\",\"disk\":\"1G\",\"vcpus\":\"3\"}");
	p = LOAD("pool.default.image=tiny", "pool.set.image=tiny",
		 "pool.set.memory=1G", "pool.set.vcpus=1");
	assert_int_equal(p->pool[0].memory_mib, 640);
	assert_int_equal(p->pool[0].disk_bytes, 1 << 30);
	assert_int_equal(p->pool[0].vcpus, 3);
	/* Also where the default is what is set. */
	assert_int_equal(p->pool[1].memory_mib, 1024);
	assert_int_equal(p->pool[1].disk_bytes, 1 << 30);
	assert_int_equal(p->pool[1].vcpus, 1);
}

static void what_no_pool_has_is_the_pools_problem(void **state)
{
	static const char *const wrong[] = {
		"{\"memory\":\"1M\"}", "{\"memory\":\"9999T\"}",
		"{\"disk\":\"1K\"}", "{\"vcpus\":\"0\"}",
		"{\"vcpus\":\"65\"}", "{\"memory\":\"lots\"}",
		"{\"memory\":1}", "{\"memory\":\"1111111111111111111111111\"}",
		"[]", "7",
	};
	char text[96];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		_cleanup_(pools_freep) struct pools *p = NULL;

		(void)snprintf(text, sizeof(text), ",\"pool\":%s", wrong[i]);
		tiny_image_wish(text);
		p = LOAD("pool.default.image=tiny");
		assert_non_null(strstr(p->pool[0].problem, "image 'tiny'"));
		assert_string_equal(p->pool[0].image.digest, "");
		assert_int_equal(p->pool[0].memory_mib, 1024);
	}
}

/* As cupolactl images rm asks. */
static void an_image_is_held_as_long_as_a_pool_has_it(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;
	char path[PATH_MAX];
	_cleanup_close_ int fd = -1;

	(void)state;
	tiny_image_wish("");
	(void)snprintf(path, sizeof(path), "%s/" TINY_IMAGE, tiny_image_directory);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p = LOAD("pool.default.image=tiny");
	assert_true(flock(fd, LOCK_EX | LOCK_NB) < 0);
	pools_free(take_ptr(p));
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	tiny_image_wish(",\"pool\":{\"vcpus\":\"0\"}");
	p = LOAD("pool.default.image=tiny");
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_is_found_by_name_and_by_pin),
		cmocka_unit_test(a_pin_is_held_to_the_digest),
		cmocka_unit_test(a_pool_has_what_its_image_wishes),
		cmocka_unit_test(what_no_pool_has_is_the_pools_problem),
		cmocka_unit_test(an_image_is_held_as_long_as_a_pool_has_it),
	};

	return cmocka_run_group_tests(tests, tiny_image_make, tiny_image_remove);
}
