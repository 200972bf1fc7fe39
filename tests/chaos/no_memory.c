/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * For LD_PRELOAD: the n-th allocation of a program from now on fails, its
 * libraries' included, and all others succeed.
 *
 * A program is told by its file, $CUPOLA_NO_MEMORY/NAME, if there is one, which
 * holds a struct control; memory.py writes it while the program runs. Children
 * have other names and are left alone.
 */

enum {
	TRACE_DEPTH = 24,
	TRACE_SIZE = 4096 - 24,
};

/** struct control - What memory.py and a program share */
struct control {
	/* Allocations that succeed until one fails, plus one; 0: none fails */
	_Atomic int64_t left;
	_Atomic int64_t failed; /* how many did, ever */
	_Atomic int64_t asked;  /* how many there were, ever */
	char trace[TRACE_SIZE]; /* where the last one was, a line per caller */
};
_Static_assert(sizeof(struct control) == 4096, "memory.py has a page for it");

static struct control *control;

/* What tells of a failure allocates as well. */
static _Thread_local bool telling;

/* Also loads what backtrace() needs, which must not happen inside of malloc(). */
__attribute__((constructor)) static void set_up(void)
{
	const char *directory = getenv("CUPOLA_NO_MEMORY");
	void *unused[1], *mapped;
	char path[256];
	int fd;

	if (!directory)
		return;
	(void)backtrace(unused, 1);
	(void)snprintf(path, sizeof(path), "%s/%s", directory,
		       program_invocation_short_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	mapped = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	(void)close(fd);
	if (mapped != MAP_FAILED)
		control = mapped;
}

static void tell(void *const *frames, int count)
{
	size_t at = 0;
	Dl_info info;
	int i, n;

	for (i = 0; i < count; i++) {
		if (!dladdr(frames[i], &info) || !info.dli_fname)
			continue;
		n = snprintf(control->trace + at, TRACE_SIZE - at,
			     "%s %#lx %s\n", info.dli_fname,
			     (unsigned long)((char *)frames[i] -
					     (char *)info.dli_fbase),
			     info.dli_sname ? info.dli_sname : "?");
		if (n < 0 || (size_t)n >= TRACE_SIZE - at)
			break;
		at += (size_t)n;
	}
	control->trace[at] = '\0';
}

/*
 * libmagic, and regcomp() for it, do not survive what blob_sniff.c has a word
 * about, nor does a sanitizer that asks where a thread's stack is. Whoever would
 * be refused after them is refused instead.
 */
static bool is_spared(void *const *frames, int count)
{
	Dl_info info;
	int i;

	for (i = 0; i < count; i++)
		if (dladdr(frames[i], &info) && info.dli_fname &&
		    (strstr(info.dli_fname, "/libmagic.so") ||
		     (info.dli_sname &&
		      strcmp(info.dli_sname, "pthread_getattr_np") == 0)))
			return true;
	return false;
}

/* Return: whether this one, whose turn it is, fails. */
static bool must_fail(void)
{
	void *frames[TRACE_DEPTH];
	int count;
	bool spared;

	telling = true;
	count = backtrace(frames, TRACE_DEPTH);
	spared = is_spared(frames, count);
	if (!spared)
		tell(frames, count);
	telling = false;
	return !spared;
}

static bool may_have(void)
{
	if (!control || telling)
		return true;
	atomic_fetch_add(&control->asked, 1);
	/* Read first: who asks for nothing must not run below zero. */
	if (atomic_load(&control->left) <= 0 ||
	    atomic_fetch_sub(&control->left, 1) != 1)
		return true;
	if (!must_fail()) {
		atomic_store(&control->left, 1);
		return true;
	}
	atomic_fetch_add(&control->failed, 1);
	errno = ENOMEM;
	return false;
}

/*
 * The next library's, which may be a sanitizer's. Loaded by name at the end: clang
 * calls nothing that is still atomic.
 */
#define REAL(name)                                                           \
	({                                                                   \
		static _Atomic(__typeof__(&(name))) real;                    \
                                                                             \
		if (!real)                                                   \
			real = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name); \
		atomic_load(&real);                                          \
	})

void *malloc(size_t size)
{
	return may_have() ? REAL(malloc)(size) : NULL;
}

void *calloc(size_t count, size_t size)
{
	return may_have() ? REAL(calloc)(count, size) : NULL;
}

void *realloc(void *old, size_t size)
{
	return may_have() ? REAL(realloc)(old, size) : NULL;
}

void *reallocarray(void *old, size_t count, size_t size)
{
	return may_have() ? REAL(reallocarray)(old, count, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return may_have() ? REAL(aligned_alloc)(alignment, size) : NULL;
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	return may_have() ? REAL(posix_memalign)(ret, alignment, size) : ENOMEM;
}

/*
 * The C library's own call malloc(), but a sanitizer's do not, and what calls
 * twice is only one more that fails.
 */
char *strdup(const char *text)
{
	return may_have() ? REAL(strdup)(text) : NULL;
}

char *strndup(const char *text, size_t size)
{
	return may_have() ? REAL(strndup)(text, size) : NULL;
}
