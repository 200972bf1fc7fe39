/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256

/* One write, so that lines of several processes don't mix. */
static void report_line(const char *what, const char *why)
{
	char line[2 * LINE_MAX_BYTES];
	int n;

	n = snprintf(line, sizeof(line), "cupola-guest: %s%s%s\n", what,
		     why ? ": " : "", why ? why : "");
	if (n > 0)
		(void)!write(STDERR_FILENO, line, (size_t)n);
}

void report(const char *fmt, ...)
{
	char what[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	report_line(what, NULL);
}

int report_error(int r, const char *fmt, ...)
{
	char what[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	report_line(what, strerror(-r));
	return r;
}
