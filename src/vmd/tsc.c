#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "vmd/tsc.h"

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull

/* Between the two readings of a sample we may lose the CPU; not so each time. */
#define TRIES 8

/* At an error of a microsecond in each sample: one in ten thousand. */
#define SPAN_MIN_NSEC (20 * NSEC_PER_MSEC)

static uint64_t now_nsec(void)
{
	struct timespec t = {};

	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t now_ticks(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

struct tsc_sample tsc_sample(void)
{
	struct tsc_sample best = {};
	uint64_t shortest = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = now_nsec();
		uint64_t ticks = now_ticks();
		uint64_t took = now_nsec() - before;

		if (took >= shortest)
			continue;
		shortest = took;
		best.ticks = ticks;
		best.nsec = before + took / 2;
	}
	return best;
}

uint32_t tsc_khz(const struct tsc_sample *since)
{
	struct tsc_sample now = tsc_sample();
	const struct timespec nap = { .tv_nsec = SPAN_MIN_NSEC };

	while (now.nsec - since->nsec < SPAN_MIN_NSEC) {
		(void)nanosleep(&nap, NULL);
		now = tsc_sample();
	}
	return (uint32_t)((double)(now.ticks - since->ticks) * NSEC_PER_MSEC /
			  (double)(now.nsec - since->nsec));
}
