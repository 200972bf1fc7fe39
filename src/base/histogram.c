/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include <stdio.h>

/* A label may be as long as a model's name with every character escaped. */
#define LABELS_MAX 640

void histogram_add(struct histogram *h, const struct histogram_scale *scale,
		   usec_t usec)
{
	size_t i;

	for (i = 0; i < scale->count; i++)
		h->below[i] += usec <= scale->bounds[i];
	h->count++;
	h->sum_usec = usec_add(h->sum_usec, usec);
}

void histogram_emit(const struct histogram *h,
		    const struct histogram_scale *scale,
		    const struct family *family, const char *labels,
		    figure_fn emit, void *userdata)
{
	const char *comma = *labels ? "," : "";
	char all[LABELS_MAX];
	size_t i;

	for (i = 0; i < scale->count; i++) {
		(void)snprintf(all, sizeof(all), "%s%sle=\"%g\"", labels, comma,
			       (double)scale->bounds[i] / USEC_PER_SEC);
		emit(userdata, family, "_bucket", all, (double)h->below[i]);
	}
	(void)snprintf(all, sizeof(all), "%s%sle=\"+Inf\"", labels, comma);
	emit(userdata, family, "_bucket", all, (double)h->count);
	emit(userdata, family, "_sum", labels,
	     (double)h->sum_usec / USEC_PER_SEC);
	emit(userdata, family, "_count", labels, (double)h->count);
}
