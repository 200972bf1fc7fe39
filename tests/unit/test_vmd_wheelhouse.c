#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/wheelhouse.h"

/* As much of a superblock of images/wheelhouse's making as is looked at. */
static const uint8_t begin[] = {
	0xe2, 0xe1, 0xf5, 0xe0, [48] = 0xc0, 0x90, 0x1a, 0x00, 0x00, 0x00,
	0x40, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
};

static char path[] = "/tmp/test-wheelhouse.XXXXXX";

static void write_disk(const uint8_t *block, size_t size, mode_t mode)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, block, size, 1024), (ssize_t)size);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void expect(const char *file, const char *words)
{
	struct error err = ERROR_INIT;
	int r = wheelhouse_check(file, &err);

	if (!words) {
		assert_int_equal(r, 0);
		return;
	}
	assert_true(r < 0);
	assert_non_null(strstr(err.message, words));
	/* It is told to whoever may see pools, and names no path. */
	assert_null(strstr(err.message, "/tmp"));
}

static void a_disk_of_wheels_is_known_by_its_uuid(void **state)
{
	(void)state;
	write_disk(begin, sizeof(begin), 0444);
	expect(path, NULL);
}

static void what_is_no_disk_of_wheels_is_refused(void **state)
{
	uint8_t other[sizeof(begin)];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(begin); i++) {
		if (i >= 4 && i < 48)
			continue;
		memcpy(other, begin, sizeof(other));
		other[i] ^= 1;
		write_disk(other, sizeof(other), 0444);
		expect(path, "no disk of");
	}
	write_disk(begin, sizeof(begin) - 1, 0444);
	expect(path, "no disk of");
	expect("/dev/null", "no disk of");
	expect("/tmp", "no disk of");
}

static void what_qemu_cannot_read_is_refused(void **state)
{
	(void)state;
	write_disk(begin, sizeof(begin), 0400);
	expect(path, "readable for everybody");
	expect("wheels.erofs", "absolute path");
	expect("/nowhere/wheels.erofs", "images/wheelhouse");
}

static int make_file(void **state)
{
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	if (fd < 0)
		return -1;
	return close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_of_wheels_is_known_by_its_uuid),
		cmocka_unit_test(what_is_no_disk_of_wheels_is_refused),
		cmocka_unit_test(what_qemu_cannot_read_is_refused),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
