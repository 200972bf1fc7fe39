#ifndef CUPOLA_BASE_FAILPOINT_H
#define CUPOLA_BASE_FAILPOINT_H

/*
 * Places where tests make the program fail or die.
 *
 * The environment says which, as a list separated by commas:
 *
 *	CUPOLA_FAILPOINT=store-before-commit:kill9,blob-after-rename:sleep=100
 *
 *	name:kill9	the process kills itself with SIGKILL
 *	name:sleep=N	the calling thread waits N milliseconds
 *	name:error=N	failpoint() returns -N, an errno
 *
 * "@PATH" instead of a list is a file with such a list, read anew each time, so
 * that a test can arm a process that runs. A death uses the file up: of all
 * processes that share it one dies, once.
 *
 * Compiled in by ./configure --enable-failpoints, and in the libraries that
 * unit tests make for themselves; elsewhere nothing of it exists.
 */

#ifdef ENABLE_FAILPOINTS

/**
 * failpoint() - Fail here if the environment says so
 * @name:	Of this place, unique in the tree
 *
 * Return: 0, or the negative errno that was asked for
 */
int failpoint(const char *name);

#else

static inline int failpoint(const char *name)
{
	(void)name;
	return 0;
}

#endif

#endif
