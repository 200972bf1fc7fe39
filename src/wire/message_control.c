/* SPDX-License-Identifier: Apache-2.0 */

/* Messages about a connection, and the daemon's about executions. */

#include "wire/message.h"

#include "wire/cursor.h"

ssize_t message_encode_open(uint8_t *buf, size_t size, uint32_t call,
			    const struct message_open *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->version, 2);
	put_int(&p, m->purpose, 1);
	return put_end(&p, WIRE_OPEN, call);
}

/*
 * The version comes first and alone decides: what follows it is known only for
 * our own, so another version's rest is not looked at.
 */
int message_decode_open(const struct frame *f, struct message_open *ret)
{
	struct get g = get_begin(f);

	*ret = (struct message_open){ .version = (uint16_t)get_int(&g, 2) };
	if (!g.bad && ret->version != WIRE_VERSION)
		return 0;
	ret->purpose = (enum wire_purpose)get_int(&g, 1);
	get_require(&g, ret->purpose >= WIRE_CONTROL &&
			ret->purpose <= WIRE_BULK_PUT);
	return get_end(&g);
}

ssize_t message_encode_hello(uint8_t *buf, size_t size, uint32_t call,
			     const struct message_hello *m)
{
	struct put p = put_begin(buf, size);
	size_t i;

	put_int(&p, m->version, 2);
	put_int(&p, m->flags, 1);
	put_bytes(&p, m->build, WIRE_BUILD_MAX, 1);
	put_int(&p, m->kernel_epoch, 4);
	put_int(&p, m->count, 1);
	for (i = 0; i < m->count && i < WIRE_RETAINED_MAX; i++) {
		put_int(&p, m->exec[i].call, 4);
		put_int(&p, m->exec[i].finished, 1);
		put_bytes(&p, m->exec[i].id, WIRE_EXEC_ID_MAX, 1);
	}
	return put_end(&p, WIRE_HELLO, call);
}

int message_decode_hello(const struct frame *f, struct message_hello *ret)
{
	struct get g = get_begin(f);
	size_t i;

	*ret = (struct message_hello){ .version = (uint16_t)get_int(&g, 2) };
	if (!g.bad && ret->version != WIRE_VERSION)
		return 0;
	ret->flags = get_flags(&g, WIRE_HELLO_FLAGS);
	ret->build = get_bytes(&g, WIRE_BUILD_MAX, 1);
	ret->kernel_epoch = (uint32_t)get_int(&g, 4);
	ret->count = get_enum(&g, WIRE_RETAINED_MAX + 1);
	for (i = 0; i < ret->count; i++) {
		ret->exec[i].call = (uint32_t)get_int(&g, 4);
		ret->exec[i].finished = get_enum(&g, 2);
		ret->exec[i].id = get_bytes(&g, WIRE_EXEC_ID_MAX, 1);
		get_require(&g, ret->exec[i].call != 0 &&
				wire_exec_id_valid(ret->exec[i].id));
	}
	return get_end(&g);
}

ssize_t message_encode_configure(uint8_t *buf, size_t size, uint32_t call,
				 const struct message_configure *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->flags, 1);
	put_int(&p, m->wall_usec, 8);
	put_int(&p, m->memory_max_bytes, 8);
	put_int(&p, m->pids_max, 4);
	put_bytes(&p, m->hostname, WIRE_HOSTNAME_MAX, 1);
	put_raw(&p, m->entropy, sizeof(m->entropy));
	return put_end(&p, WIRE_CONFIGURE, call);
}

int message_decode_configure(const struct frame *f,
			     struct message_configure *ret)
{
	struct get g = get_begin(f);

	ret->flags = get_flags(&g, WIRE_CONFIGURE_FLAGS);
	ret->wall_usec = get_int(&g, 8);
	ret->memory_max_bytes = get_int(&g, 8);
	ret->pids_max = (uint32_t)get_int(&g, 4);
	ret->hostname = get_bytes(&g, WIRE_HOSTNAME_MAX, 1);
	get_raw(&g, ret->entropy, sizeof(ret->entropy));
	get_require(&g, wire_hostname_valid(ret->hostname));
	get_require(&g, ret->pids_max > 0);
	return get_end(&g);
}

ssize_t message_encode_ready(uint8_t *buf, size_t size, uint32_t call,
			     const struct message_ready *m)
{
	struct put p = put_begin(buf, size);
	size_t i;

	put_int(&p, m->kernel_epoch, 4);
	for (i = 0; i < WIRE_STAGE_COUNT; i++)
		put_int(&p, m->stage_usec[i], 8);
	return put_end(&p, WIRE_READY, call);
}

int message_decode_ready(const struct frame *f, struct message_ready *ret)
{
	struct get g = get_begin(f);
	size_t i;

	ret->kernel_epoch = (uint32_t)get_int(&g, 4);
	for (i = 0; i < WIRE_STAGE_COUNT; i++)
		ret->stage_usec[i] = get_int(&g, 8);
	return get_end(&g);
}

ssize_t message_encode_ping(uint8_t *buf, size_t size, enum wire_type type,
			    const struct message_ping *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->sequence, 4);
	return put_end(&p, type, 0);
}

int message_decode_ping(const struct frame *f, struct message_ping *ret)
{
	struct get g = get_begin(f);

	ret->sequence = (uint32_t)get_int(&g, 4);
	return get_end(&g);
}

ssize_t message_encode_exec(uint8_t *buf, size_t size, uint32_t call,
			    const struct message_exec *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->flags, 1);
	put_int(&p, m->timeout_usec, 8);
	put_int(&p, m->head_max, 4);
	put_int(&p, m->tail_max, 4);
	put_int(&p, m->spill_max, 8);
	put_int(&p, m->output_max, 8);
	put_int(&p, m->source_size, 4);
	put_int(&p, m->stdin_size, 4);
	put_bytes(&p, m->id, WIRE_EXEC_ID_MAX, 1);
	if (m->flags & WIRE_EXEC_TRACE)
		put_rest(&p, m->trace, WIRE_TRACE_SIZE);
	return put_end(&p, WIRE_EXEC, call);
}

int message_decode_exec(const struct frame *f, struct message_exec *ret)
{
	struct get g = get_begin(f);

	ret->flags = get_flags(&g, WIRE_EXEC_FLAGS);
	ret->timeout_usec = get_int(&g, 8);
	ret->head_max = (uint32_t)get_int(&g, 4);
	ret->tail_max = (uint32_t)get_int(&g, 4);
	ret->spill_max = get_int(&g, 8);
	ret->output_max = get_int(&g, 8);
	ret->source_size = (uint32_t)get_int(&g, 4);
	ret->stdin_size = (uint32_t)get_int(&g, 4);
	ret->id = get_bytes(&g, WIRE_EXEC_ID_MAX, 1);
	ret->trace = (struct bytes){ 0 };
	if (ret->flags & WIRE_EXEC_TRACE) {
		ret->trace = get_rest(&g, WIRE_TRACE_SIZE);
		get_require(&g, wire_trace_valid(ret->trace));
	}

	get_require(&g, ret->head_max <= WIRE_HEAD_MAX &&
			ret->tail_max <= WIRE_TAIL_MAX &&
			ret->spill_max <= WIRE_SPILL_MAX &&
			ret->output_max <= WIRE_OUTPUT_MAX);
	get_require(&g, ret->timeout_usec > 0 && ret->source_size > 0 &&
			ret->source_size <= WIRE_SOURCE_MAX &&
			ret->stdin_size <= WIRE_STDIN_MAX);
	get_require(&g, wire_exec_id_valid(ret->id));
	return get_end(&g);
}

ssize_t message_encode_attach(uint8_t *buf, size_t size, uint32_t call,
			      const struct message_attach *m)
{
	struct put p = put_begin(buf, size);
	size_t i;

	for (i = 0; i < WIRE_STREAM_COUNT; i++)
		put_int(&p, m->position[i], 8);
	return put_end(&p, WIRE_ATTACH, call);
}

int message_decode_attach(const struct frame *f, struct message_attach *ret)
{
	struct get g = get_begin(f);
	size_t i;

	for (i = 0; i < WIRE_STREAM_COUNT; i++)
		ret->position[i] = get_int(&g, 8);
	return get_end(&g);
}

ssize_t message_encode_bare(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call)
{
	struct put p = put_begin(buf, size);

	return put_end(&p, type, call);
}

int message_decode_bare(const struct frame *f)
{
	struct get g = get_begin(f);

	return get_end(&g);
}
