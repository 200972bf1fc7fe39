/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "turn/upstream_reader.h"

/*
 * What a model's server may send, in the protocol that the first byte chooses,
 * as a stream in pieces of the size that the second one chooses, and as one
 * object. Whatever it is: pieces are UTF-8, a call begins before its arguments,
 * with an id and a name that can be sent back, and calls come one by one.
 */

struct heard {
	unsigned calls;
};

static void check_text(const char *data, size_t size)
{
	if (size == 0 || !utf8_is_valid(data, size))
		abort();
}

static void on_text(void *userdata, const char *data, size_t size)
{
	(void)userdata;
	check_text(data, size);
}

static void on_call(void *userdata, unsigned index, const char *call_id,
		    const char *name)
{
	struct heard *h = userdata;

	if (index != h->calls || !*name || !*call_id ||
	    strlen(call_id) > ID_MAX)
		abort();
	check_text(name, strlen(name));
	check_text(call_id, strlen(call_id));
	h->calls++;
}

static void on_arguments(void *userdata, unsigned index, const char *data,
			 size_t size)
{
	struct heard *h = userdata;

	if (index + 1 != h->calls)
		abort();
	check_text(data, size);
}

static const struct upstream_events events = {
	.text = on_text,
	.refusal = on_text,
	.reasoning = on_text,
	.encrypted = on_text,
	.call = on_call,
	.arguments = on_arguments,
};

/* @piece: 0: not as a stream */
static void read_all(const struct upstream_target *target, const uint8_t *data,
		     size_t size, size_t piece)
{
	struct upstream_answer answer;
	struct upstream_reader reader;
	struct heard heard = { 0 };
	int r = 0;
	size_t n;

	upstream_answer_init(&answer, &events, &heard);
	if (upstream_reader_init(&reader, target, "sesame", &answer) < 0)
		abort();
	if (piece == 0)
		r = upstream_reader_object(&reader, data, size);
	for (; piece > 0 && size > 0 && r == 0; data += n, size -= n) {
		n = size < piece ? size : piece;
		r = upstream_reader_feed(&reader, data, n);
	}
	if (r == 0)
		r = upstream_reader_end(&reader);
	if ((r < 0) != error_is_set(&reader.failure.error))
		abort();
	if (r < 0 && !utf8_is_valid(reader.failure.error.message,
				    strlen(reader.failure.error.message)))
		abort();
	upstream_reader_done(&reader);
	upstream_answer_done(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct upstream_target target = { .key = NULL };

	if (size < 2)
		return 0;
	target.protocol = data[0] & 1 ? UPSTREAM_RESPONSES : UPSTREAM_CHAT;
	read_all(&target, data + 2, size - 2, 1 + data[1]);
	read_all(&target, data + 2, size - 2, 0);
	return 0;
}
