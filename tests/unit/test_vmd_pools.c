#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/pools.h"

#define DIGEST "0123456789ab0123456789ab0123456789ab0123456789ab0123456789abcdef"
#define IMAGE "tiny@0123456789ab"

static char directory[] = "/tmp/test-pools.XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_close_ int dir = open(directory, O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* The image's manifest, with what its recipe wishes. */
static void wish(const char *pool)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "{\"name\":\"tiny\",\"digest\":\"sha256:" DIGEST "\","
		       "\"cmdline\":\"quiet\"%s}", pool);
	put(IMAGE "/manifest.json", text);
}

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
	wish("");
	p = LOAD("pool.default.image=tiny", "pool.pin.image=" IMAGE,
		 "pool.other.image=tiny@ffffffffffff", "pool.cut.image=tiny@0123",
		 "pool.none.image=none");
	assert_int_equal(p->count, 5);
	assert_string_equal(p->pool[0].image.digest, "sha256:" DIGEST);
	assert_string_equal(p->pool[0].image.cmdline, "quiet");
	assert_string_equal(p->pool[1].image.digest, "sha256:" DIGEST);
	assert_string_equal(p->pool[1].problem, "");
	assert_non_null(strstr(p->pool[2].problem, "'tiny@ffffffffffff'"));
	assert_non_null(strstr(p->pool[3].problem, "12 digits"));
	assert_non_null(strstr(p->pool[4].problem, "images/build none"));
}

/* A link that leads elsewhere does not make another image of a pin. */
static void a_pin_is_held_to_the_digest(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;
	char link[sizeof(directory) + 32];

	(void)state;
	wish("");
	(void)snprintf(link, sizeof(link), "%s/tiny@ffffffffffff", directory);
	assert_int_equal(symlink(IMAGE, link), 0);
	p = LOAD("pool.default.image=tiny@ffffffffffff");
	assert_int_equal(unlink(link), 0);
	assert_non_null(strstr(p->pool[0].problem, "another digest"));
}

static void a_pool_has_what_its_image_wishes(void **state)
{
	_cleanup_(pools_freep) struct pools *p = NULL;

	(void)state;
	wish(",\"pool\":{\"memory\":\"640M\",\"disk\":\"1G\",\"vcpus\":\"3\"}");
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
		wish(text);
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
	char path[sizeof(directory) + 32];
	_cleanup_close_ int fd = -1;

	(void)state;
	wish("");
	(void)snprintf(path, sizeof(path), "%s/" IMAGE, directory);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p = LOAD("pool.default.image=tiny");
	assert_true(flock(fd, LOCK_EX | LOCK_NB) < 0);
	pools_free(take_ptr(p));
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	wish(",\"pool\":{\"vcpus\":\"0\"}");
	p = LOAD("pool.default.image=tiny");
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
}

static int make_image(void **state)
{
	_cleanup_close_ int dir = -1;

	(void)state;
	assert_non_null(mkdtemp(directory));
	dir = open(directory, O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(dir, IMAGE, 0755), 0);
	assert_int_equal(symlinkat(IMAGE, dir, "tiny"), 0);
	put(IMAGE "/vmlinux", "kernel");
	put(IMAGE "/initrd", "initrd");
	put(IMAGE "/root.erofs", "root");
	return setenv("CUPOLA_IMAGES", directory, 1);
}

static int remove_image(void **state)
{
	static const char *const names[] = {
		IMAGE "/vmlinux", IMAGE "/initrd", IMAGE "/root.erofs",
		IMAGE "/manifest.json", "tiny",
	};
	_cleanup_close_ int dir = open(directory, O_DIRECTORY | O_CLOEXEC);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)unlinkat(dir, IMAGE, AT_REMOVEDIR);
	return rmdir(directory);
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

	return cmocka_run_group_tests(tests, make_image, remove_image);
}
