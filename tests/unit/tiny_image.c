/* SPDX-License-Identifier: Apache-2.0 */
#include "tiny_image.h"

#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

char tiny_image_directory[] = "/tmp/test-image.XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_close_ int dir = open(tiny_image_directory, O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

void tiny_image_wish(const char *pool)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "{\"name\":\"tiny\",\"digest\":\"sha256:" TINY_IMAGE_DIGEST "\","
		       "\"cmdline\":\"quiet\"%s}", pool);
	put(TINY_IMAGE "/manifest.json", text);
}

int tiny_image_make(void **state)
{
	_cleanup_close_ int dir = -1;

	(void)state;
	assert_non_null(mkdtemp(tiny_image_directory));
	dir = open(tiny_image_directory, O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(dir, TINY_IMAGE, 0755), 0);
	assert_int_equal(symlinkat(TINY_IMAGE, dir, "tiny"), 0);
	put(TINY_IMAGE "/vmlinux", "kernel");
	put(TINY_IMAGE "/initrd", "initrd");
	put(TINY_IMAGE "/root.erofs", "root");
	return setenv("CUPOLA_IMAGES", tiny_image_directory, 1);
}

int tiny_image_remove(void **state)
{
	static const char *const names[] = {
		TINY_IMAGE "/vmlinux", TINY_IMAGE "/initrd", TINY_IMAGE "/root.erofs",
		TINY_IMAGE "/manifest.json", "tiny",
	};
	_cleanup_close_ int dir = open(tiny_image_directory, O_DIRECTORY | O_CLOEXEC);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)unlinkat(dir, TINY_IMAGE, AT_REMOVEDIR);
	return rmdir(tiny_image_directory);
}
