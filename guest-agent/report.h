/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_REPORT_H
#define GUEST_REPORT_H

/*
 * Lines for the console, which the host keeps as a short ring. They are for
 * the operator; nothing that user code says is written there.
 */

/* Write one line: "cupola-guest: …". Never blocks for long, never fails. */
void report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same with ": <error>" behind it. Return: @r */
int report_error(int r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
