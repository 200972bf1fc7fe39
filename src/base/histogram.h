/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

/*
 * How long things took, in the form that Prometheus reads.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define HISTOGRAM_BOUNDS_MAX 16

/**
 * struct family - What figures of one name have in common
 * @type:	"counter", "gauge" or "histogram"
 */
struct family {
	const char *name;
	const char *type;
	const char *help;
};

/**
 * figure_fn - Takes one figure for operators
 * @family:	Whose figures come all in a row
 * @suffix:	What a histogram appends to the name, or ""
 * @labels:	As they are written, without braces; may be empty
 */
typedef void (*figure_fn)(void *userdata, const struct family *family,
			  const char *suffix, const char *labels,
			  double value);

/** struct histogram_scale - Upper bounds, lowest first */
struct histogram_scale {
	size_t count;
	usec_t bounds[HISTOGRAM_BOUNDS_MAX];
};

/** struct histogram - All zero at first; used with one scale only */
struct histogram {
	uint64_t below[HISTOGRAM_BOUNDS_MAX];
	uint64_t count;
	usec_t sum_usec;
};

void histogram_add(struct histogram *h, const struct histogram_scale *scale,
		   usec_t usec);

/**
 * histogram_emit() - Tell its buckets, sum and count, in seconds
 * @family:	Of type "histogram"
 */
void histogram_emit(const struct histogram *h,
		    const struct histogram_scale *scale,
		    const struct family *family, const char *labels,
		    figure_fn emit, void *userdata);

#endif
