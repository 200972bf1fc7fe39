/* SPDX-License-Identifier: Apache-2.0 */
#include "knob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int knob_write(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	(void)close(fd);
	return r;
}
