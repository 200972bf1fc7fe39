#include <errno.h>

#include "base/cleanup.h"

void close_fd(int *fd)
{
	int saved = errno;

	if (*fd < 0)
		return;
	/* Linux closes it even when close() fails: never try again. */
	(void)close(*fd);
	*fd = -1;
	errno = saved;
}
