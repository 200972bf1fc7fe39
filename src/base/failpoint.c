/* Built without the switch, too: who does not call it does not link it. */
#ifndef ENABLE_FAILPOINTS
#define ENABLE_FAILPOINTS 1
#endif

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failpoint.h"

enum {
	FAILPOINT_FILE_MAX = 4096,
};

/* What follows "name:" in the list, or NULL. */
static const char *find_action(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (list && *list != '\0') {
		if (strncmp(list, name, length) == 0 && list[length] == ':')
			return list + length + 1;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return NULL;
}

static void wait_msec(long msec)
{
	struct timespec ts = {
		.tv_sec = msec / 1000,
		.tv_nsec = msec % 1000 * 1000000,
	};

	(void)nanosleep(&ts, NULL);
}

/* A file that is not there, or too long, arms nothing. */
static const char *read_list(const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size);

	if (n < 0 || (size_t)n == size)
		return NULL;
	ret[n] = '\0';
	return ret;
}

int failpoint(const char *name)
{
	const char *list = getenv("CUPOLA_FAILPOINT"), *file = NULL, *action;
	char text[FAILPOINT_FILE_MAX];

	if (list && list[0] == '@') {
		file = list + 1;
		list = read_list(file, text, sizeof(text));
	}
	action = find_action(list, name);
	if (!action)
		return 0;
	/* Whoever removes the file is the one. */
	if (strncmp(action, "kill9", 5) == 0 && (!file || unlink(file) == 0))
		(void)raise(SIGKILL);
	if (strncmp(action, "sleep=", 6) == 0)
		wait_msec(strtol(action + 6, NULL, 10));
	if (strncmp(action, "error=", 6) == 0)
		return -(int)strtol(action + 6, NULL, 10);
	return 0;
}
