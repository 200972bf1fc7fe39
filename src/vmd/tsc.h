#ifndef VMD_TSC_H
#define VMD_TSC_H

#include <stdint.h>

/*
 * How fast the host's time stamp counter runs, for emulated guests.
 *
 * QEMU passes the host's counter on to a guest that it emulates. The guest's
 * kernel measures its rate against the PIT, over a few milliseconds, and on a
 * busy host gives up ("Unable to calibrate against PIT"); left without a clock
 * it then waits for ever for a tick that a microvm does not bring. Told the
 * rate, it measures nothing.
 */

/**
 * struct tsc_sample - The counter and the clock at one moment
 */
struct tsc_sample {
	uint64_t ticks;
	uint64_t nsec;
};

/** tsc_sample() - Take one, to be compared with another later */
struct tsc_sample tsc_sample(void);

/**
 * tsc_khz() - The counter's rate since a sample
 * @since:	The longer ago, the more exact; waits until it is 20 ms
 *
 * Return: kHz, or 0 where there is no such counter
 */
uint32_t tsc_khz(const struct tsc_sample *since);

#endif
