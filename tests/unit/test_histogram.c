/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>

#include "base/histogram.h"

static const struct histogram_scale scale = {
	.count = 2,
	.bounds = { USEC_PER_MSEC, USEC_PER_SEC },
};

static const struct family family = { "x", "histogram", "Times" };

static void on_figure(void *userdata, const struct family *of,
		      const char *suffix, const char *labels, double value)
{
	char(*all)[1024] = userdata;
	size_t used = strlen(*all);

	assert_ptr_equal(of, &family);
	(void)snprintf(*all + used, sizeof(*all) - used, "x%s{%s} %g\n", suffix,
		       labels, value);
}

static void a_time_is_in_every_bucket_it_does_not_exceed(void **state)
{
	struct histogram h = { .count = 0 };
	char all[1024] = "";

	(void)state;
	histogram_add(&h, &scale, 0);
	histogram_add(&h, &scale, USEC_PER_MSEC);
	histogram_add(&h, &scale, USEC_PER_MSEC + 1);
	histogram_add(&h, &scale, 2 * USEC_PER_SEC);
	histogram_emit(&h, &scale, &family, "a=\"b\"", on_figure, &all);
	assert_string_equal(all, "x_bucket{a=\"b\",le=\"0.001\"} 2\n"
				 "x_bucket{a=\"b\",le=\"1\"} 3\n"
				 "x_bucket{a=\"b\",le=\"+Inf\"} 4\n"
				 "x_sum{a=\"b\"} 2.002\n"
				 "x_count{a=\"b\"} 4\n");
}

static void without_labels_there_is_the_bound_alone(void **state)
{
	const struct histogram h = { .count = 0 };
	char all[1024] = "";

	(void)state;
	histogram_emit(&h, &scale, &family, "", on_figure, &all);
	assert_string_equal(all, "x_bucket{le=\"0.001\"} 0\n"
				 "x_bucket{le=\"1\"} 0\n"
				 "x_bucket{le=\"+Inf\"} 0\n"
				 "x_sum{} 0\n"
				 "x_count{} 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_in_every_bucket_it_does_not_exceed),
		cmocka_unit_test(without_labels_there_is_the_bound_alone),
	};

	return RUN_TESTS(tests);
}
