/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pressure.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	PRESSURE_FILE_MAX = 512,
};

int pressure_parse(const char *text)
{
	int hundredths;

	/* The first line's first figure: "some avg10=1.23 avg60=..." */
	if (sscanf(text, "some avg10=%d", &hundredths) != 1 || hundredths < 0)
		return -1;
	return hundredths;
}

int pressure_cpu(void)
{
	_cleanup_close_ int fd =
		open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
	char text[PRESSURE_FILE_MAX];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	return pressure_parse(text);
}
