#ifndef CUPOLA_BASE_CLEANUP_H
#define CUPOLA_BASE_CLEANUP_H

/*
 * Ownership that the compiler keeps.
 *
 * Every owning local carries _cleanup_() and is initialised on the line that
 * declares it, so each path out of the function releases it. What is to live
 * on is handed over with take_ptr() or take_fd(), which leave nothing behind
 * for the cleanup.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** _cleanup_() - Call @func with the variable's address when it goes away */
#define _cleanup_(func) __attribute__((cleanup(func)))

/**
 * DEFINE_FREEP() - Make FREE##p(), which _cleanup_() can call, out of FREE()
 * @type:	What FREE() takes a pointer to
 * @free_func:	Its end; takes NULL
 */
#define DEFINE_FREEP(type, free_func)             \
	static inline void free_func##p(type **p) \
	{                                         \
		free_func(*p);                    \
	}                                         \
	struct cleanup_swallow_semicolon

/** take_ptr() - The pointer's value; the variable is NULL from here on */
#define take_ptr(ptr)                                            \
	({                                                       \
		__typeof__(ptr) *take_ptr_from = &(ptr);         \
		__typeof__(ptr) take_ptr_value = *take_ptr_from; \
		*take_ptr_from = NULL;                           \
		take_ptr_value;                                  \
	})

/**
 * take_fd_from() - The descriptor's value; the variable is -1 from here on
 * @fd:		Where it is kept
 *
 * Return: the descriptor
 */
static inline int take_fd_from(int *fd)
{
	int value = *fd;

	*fd = -1;
	return value;
}

/** take_fd() - take_fd_from() for a variable, as take_ptr() is for pointers */
#define take_fd(fd) take_fd_from(&(fd))

/**
 * close_fd() - Close a descriptor and forget it
 * @fd:		The variable, which becomes -1; nothing happens if it is
 *
 * The only place that closes descriptors. Keeps errno. An error of close() is
 * not reported: who must know that data reached the disk calls fsync() before.
 */
void close_fd(int *fd);

/** _cleanup_close_ - For a local that owns a descriptor */
#define _cleanup_close_ _cleanup_(close_fd)

static inline void freep(void *p)
{
	free(*(void **)p);
}

/** _cleanup_free_ - For a local that owns memory of malloc() */
#define _cleanup_free_ _cleanup_(freep)

static inline void fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline void closedirp(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#endif
