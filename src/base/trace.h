/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_BASE_TRACE_H
#define CUPOLA_BASE_TRACE_H

/*
 * To which trace a request belongs: the header field traceparent of W3C's Trace
 * Context. We take part as one who passes it on: the same parent goes to models
 * and into guests, and its trace id stands in the log and in executions.
 */

#include <stdbool.h>

enum {
	TRACE_ID_SIZE = 32 + 1,
	TRACE_PARENT_SIZE = 55 + 1,
};

/**
 * struct trace - Where a request comes from
 * @parent:	The whole field, as one of version 00; "" if there was none
 * @id:		The trace id in it, or ""
 */
struct trace {
	char parent[TRACE_PARENT_SIZE];
	char id[TRACE_ID_SIZE];
};

/**
 * trace_read() - Read what a client sent
 * @value:	Of the field; NULL: there was none
 *
 * What later versions append is left out. What is not valid counts as absent,
 * as the standard has it: no request fails for the sake of its trace.
 *
 * Return: whether there is one in @ret, which is filled in anyway
 */
bool trace_read(const char *value, struct trace *ret);

/** trace_parent() - To be passed on; NULL if there is none */
const char *trace_parent(const struct trace *trace);

/** trace_id() - For a log_scope; NULL if there is none */
const char *trace_id(const struct trace *trace);

#endif
