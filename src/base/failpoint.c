/* Built without the switch, too: who does not call it does not link it. */
#ifndef ENABLE_FAILPOINTS
#define ENABLE_FAILPOINTS 1
#endif

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/failpoint.h"

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

int failpoint(const char *name)
{
	const char *action = find_action(getenv("CUPOLA_FAILPOINT"), name);

	if (!action)
		return 0;
	if (strncmp(action, "kill9", 5) == 0)
		(void)raise(SIGKILL);
	if (strncmp(action, "sleep=", 6) == 0)
		wait_msec(strtol(action + 6, NULL, 10));
	if (strncmp(action, "error=", 6) == 0)
		return -(int)strtol(action + 6, NULL, 10);
	return 0;
}
