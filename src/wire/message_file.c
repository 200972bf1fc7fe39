/* SPDX-License-Identifier: Apache-2.0 */

/* Messages about files and about the guest as a whole. */

#include "wire/message.h"

#include "wire/cursor.h"

ssize_t message_encode_status(uint8_t *buf, size_t size, uint32_t call,
			      const struct message_status *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->memory_total_bytes, 8);
	put_int(&p, m->memory_used_bytes, 8);
	put_int(&p, m->cpu_usec, 8);
	put_int(&p, m->disk_total_bytes, 8);
	put_int(&p, m->disk_free_bytes, 8);
	put_int(&p, m->uptime_usec, 8);
	put_int(&p, m->processes, 4);
	put_int(&p, m->kernel_epoch, 4);
	return put_end(&p, WIRE_STATUS, call);
}

int message_decode_status(const struct frame *f, struct message_status *ret)
{
	struct get g = get_begin(f);

	ret->memory_total_bytes = get_int(&g, 8);
	ret->memory_used_bytes = get_int(&g, 8);
	ret->cpu_usec = get_int(&g, 8);
	ret->disk_total_bytes = get_int(&g, 8);
	ret->disk_free_bytes = get_int(&g, 8);
	ret->uptime_usec = get_int(&g, 8);
	ret->processes = (uint32_t)get_int(&g, 4);
	ret->kernel_epoch = (uint32_t)get_int(&g, 4);
	return get_end(&g);
}

ssize_t message_encode_quiesced(uint8_t *buf, size_t size, uint32_t call,
				const struct message_quiesced *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->changed, 4);
	put_int(&p, m->unlisted, 4);
	return put_end(&p, WIRE_QUIESCED, call);
}

int message_decode_quiesced(const struct frame *f,
			    struct message_quiesced *ret)
{
	struct get g = get_begin(f);

	ret->changed = (uint32_t)get_int(&g, 4);
	ret->unlisted = (uint32_t)get_int(&g, 4);
	get_require(&g, ret->changed <= WIRE_CHANGED_MAX);
	return get_end(&g);
}

ssize_t message_encode_result(uint8_t *buf, size_t size, uint32_t call,
			      const struct message_result *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->status, 1);
	return put_end(&p, WIRE_RESULT, call);
}

int message_decode_result(const struct frame *f, struct message_result *ret)
{
	struct get g = get_begin(f);

	ret->status =
		(enum wire_file_status)get_enum(&g, WIRE_FILE_STATUS_COUNT);
	return get_end(&g);
}

ssize_t message_encode_path(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call, const struct message_path *m)
{
	struct put p = put_begin(buf, size);

	put_rest(&p, m->path, WIRE_PATH_MAX);
	return put_end(&p, type, call);
}

int message_decode_path(const struct frame *f, struct message_path *ret)
{
	struct get g = get_begin(f);

	ret->path = get_rest(&g, WIRE_PATH_MAX);
	get_require(&g, wire_path_valid(ret->path));
	return get_end(&g);
}

ssize_t message_encode_file(uint8_t *buf, size_t size, uint32_t call,
			    const struct message_file *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->status, 1);
	put_int(&p, m->size, 8);
	return put_end(&p, WIRE_FILE, call);
}

int message_decode_file(const struct frame *f, struct message_file *ret)
{
	struct get g = get_begin(f);

	ret->status =
		(enum wire_file_status)get_enum(&g, WIRE_FILE_STATUS_COUNT);
	ret->size = get_int(&g, 8);
	get_require(&g, ret->size <= INT64_MAX);
	return get_end(&g);
}

ssize_t message_encode_put(uint8_t *buf, size_t size, uint32_t call,
			   const struct message_put *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->mode, 4);
	put_int(&p, m->size, 8);
	put_raw(&p, m->sha256, sizeof(m->sha256));
	put_rest(&p, m->path, WIRE_PATH_MAX);
	return put_end(&p, WIRE_PUT, call);
}

int message_decode_put(const struct frame *f, struct message_put *ret)
{
	struct get g = get_begin(f);

	ret->mode = (uint32_t)get_int(&g, 4);
	ret->size = get_int(&g, 8);
	get_raw(&g, ret->sha256, sizeof(ret->sha256));
	ret->path = get_rest(&g, WIRE_PATH_MAX);
	get_require(&g, (ret->mode & ~0777u) == 0 && ret->size <= INT64_MAX);
	get_require(&g, wire_path_valid(ret->path));
	return get_end(&g);
}

ssize_t message_encode_data(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call, const struct message_data *m)
{
	struct put p = put_begin(buf, size);

	put_rest(&p, m->data, WIRE_CHUNK_MAX);
	return put_end(&p, type, call);
}

int message_decode_data(const struct frame *f, struct message_data *ret)
{
	struct get g = get_begin(f);

	ret->data = get_rest(&g, WIRE_CHUNK_MAX);
	get_require(&g, ret->data.size > 0);
	return get_end(&g);
}

ssize_t message_encode_end(uint8_t *buf, size_t size, uint32_t call,
			   const struct message_end *m)
{
	struct put p = put_begin(buf, size);

	put_int(&p, m->status, 1);
	put_raw(&p, m->sha256, sizeof(m->sha256));
	return put_end(&p, WIRE_END, call);
}

int message_decode_end(const struct frame *f, struct message_end *ret)
{
	struct get g = get_begin(f);

	ret->status =
		(enum wire_file_status)get_enum(&g, WIRE_FILE_STATUS_COUNT);
	get_raw(&g, ret->sha256, sizeof(ret->sha256));
	return get_end(&g);
}
