#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"

/*
 * A clock is the kernel's time plus what clock_advance() added; a manual one
 * has a fixed time in place of the kernel's. The watches are a ring with the
 * clock's own as its head, so that taking one out needs no clock.
 */
struct clock {
	bool manual;
	usec_t boot;
	usec_t wall;
	usec_t offset;
	struct clock_watch watches;
};

static usec_t kernel_time(clockid_t id)
{
	struct timespec ts;

	/* Cannot fail for the two clocks that are asked for. */
	if (clock_gettime(id, &ts) < 0)
		abort();
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

int clock_new(struct clock **ret_clock)
{
	struct clock *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->watches.next = &c->watches;
	c->watches.prev = &c->watches;
	*ret_clock = c;
	return 0;
}

int clock_new_manual(usec_t boot, usec_t wall, struct clock **ret_clock)
{
	struct clock *c;
	int r = clock_new(&c);

	if (r < 0)
		return r;
	c->manual = true;
	c->boot = boot;
	c->wall = wall;
	*ret_clock = c;
	return 0;
}

void clock_set_wall(struct clock *c, usec_t wall)
{
	assert(c->manual);
	c->wall = wall - c->offset;
}

void clock_free(struct clock *c)
{
	if (!c)
		return;
	assert(c->watches.next == &c->watches);
	free(c);
}

void clock_freep(struct clock **c)
{
	clock_free(*c);
}

usec_t clock_boot(const struct clock *c)
{
	return c->offset + (c->manual ? c->boot : kernel_time(CLOCK_BOOTTIME));
}

usec_t clock_wall(const struct clock *c)
{
	return c->offset + (c->manual ? c->wall : kernel_time(CLOCK_REALTIME));
}

usec_t clock_wall_of(const struct clock *c, usec_t boot)
{
	usec_t now_boot = clock_boot(c), now_wall = clock_wall(c);

	if (boot == USEC_INFINITY)
		return USEC_INFINITY;
	if (boot >= now_boot)
		return usec_add(now_wall, boot - now_boot);
	return usec_sub(now_wall, now_boot - boot);
}

void clock_advance(struct clock *c, usec_t by)
{
	struct clock_watch *watch, *next;

	c->offset += by;
	for (watch = c->watches.next; watch != &c->watches; watch = next) {
		next = watch->next;
		watch->moved(watch);
	}
}

usec_t clock_kernel_boot(const struct clock *c, usec_t boot)
{
	if (boot == USEC_INFINITY)
		return USEC_INFINITY;
	if (c->manual)
		return boot <= clock_boot(c) ? 0 : USEC_INFINITY;
	return usec_sub(boot, c->offset);
}

void clock_watch(struct clock *c, struct clock_watch *watch)
{
	assert(watch->moved && !watch->next);
	watch->next = &c->watches;
	watch->prev = c->watches.prev;
	watch->prev->next = watch;
	c->watches.prev = watch;
}

struct clock_watch *clock_next_watch(struct clock *c,
				     struct clock_watch *watch)
{
	struct clock_watch *next = watch ? watch->next : c->watches.next;

	return next == &c->watches ? NULL : next;
}

void clock_unwatch(struct clock_watch *watch)
{
	if (!watch->next)
		return;
	watch->prev->next = watch->next;
	watch->next->prev = watch->prev;
	watch->next = NULL;
	watch->prev = NULL;
}

/* The kernel writes a UUID: digits in groups, with dashes between. */
int clock_boot_id(char ret_id[CLOCK_BOOT_ID_SIZE])
{
	_cleanup_close_ int fd = -1;
	char text[64], id[CLOCK_BOOT_ID_SIZE];
	uint8_t bytes[16];
	size_t used = 0;
	ssize_t n, i;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return -errno;
	for (i = 0; i < n && text[i] != '\n'; i++)
		if (text[i] != '-' && used < sizeof(id) - 1)
			id[used++] = text[i];
	id[used] = '\0';
	if (hex_decode(id, bytes, sizeof(bytes)) < 0)
		return -EINVAL;
	memcpy(ret_id, id, sizeof(id));
	return 0;
}
