/* SPDX-License-Identifier: Apache-2.0 */
#include "scripted_guest.h"

/* What a scripted guest says on its control connection when a test wants it. */

#define SAY(guest, encode, ...)                                         \
	do {                                                            \
		uint8_t *say_frame = malloc(WIRE_FRAME_MAX);            \
		ssize_t say_n;                                          \
		assert_non_null(say_frame);                             \
		say_n = encode(say_frame, WIRE_FRAME_MAX, __VA_ARGS__); \
		assert_true(say_n > 0);                                 \
		guest_say_raw(guest, say_frame, (size_t)say_n);         \
		free(say_frame);                                        \
	} while (0)

void guest_say_output(struct scripted_guest *g, uint32_t call,
		      enum wire_stream stream, uint64_t offset,
		      const char *text)
{
	const struct message_output m = {
		.stream = stream,
		.offset = offset,
		.data = { (const uint8_t *)text, strlen(text) },
	};

	SAY(g, message_encode_output, call, &m);
}

void guest_say_display(struct scripted_guest *g, uint32_t call, uint32_t item,
		       uint32_t bundle, const char *mime, const char *data,
		       bool is_file)
{
	const struct message_display m = {
		.flags = is_file ? WIRE_DISPLAY_FILE : 0,
		.item = item,
		.bundle = bundle,
		.mime = { (const uint8_t *)mime, strlen(mime) },
		.data = { (const uint8_t *)data, strlen(data) },
	};

	SAY(g, message_encode_display, call, &m);
}

void guest_say_error(struct scripted_guest *g, uint32_t call, const char *name,
		     const char *value)
{
	const struct message_error m = {
		.name = { (const uint8_t *)name, strlen(name) },
		.value = { (const uint8_t *)value, strlen(value) },
		.traceback = { (const uint8_t *)"tb", 2 },
	};

	SAY(g, message_encode_error, call, &m);
}

void guest_say_changed(struct scripted_guest *g, uint32_t call,
		       const char *path, uint64_t size, enum wire_skip skip)
{
	const struct message_changed_entry entry = {
		.skip = skip,
		.size = size,
		.name = { (const uint8_t *)path, strlen(path) },
	};
	uint8_t entries[2048];
	struct message_changed m = { .count = 1 };
	ssize_t n = message_changed_add(entries, sizeof(entries), &entry);

	assert_true(n > 0);
	m.entries = (struct bytes){ entries, (size_t)n };
	SAY(g, message_encode_changed, call, &m);
}

void guest_say_done(struct scripted_guest *g, uint32_t call,
		    const struct message_done *done)
{
	size_t i;

	for (i = 0; i < g->kept_count; i++)
		if (g->kept[i].call == call)
			g->kept[i].finished = true;
	SAY(g, message_encode_done, call, done);
}

void guest_say_quiesced(struct scripted_guest *g, uint32_t changed)
{
	const struct message_quiesced m = { .changed = changed };

	SAY(g, message_encode_quiesced, g->quiesce_call, &m);
}

void guest_finish(struct scripted_guest *g, enum wire_status status,
		  uint32_t changed)
{
	const struct message_done done = {
		.status = status,
		.execution_count = g->execs,
		.kernel_epoch = g->kernel_epoch,
		.wall_usec = 8000,
		.cpu_usec = 5000,
		.memory_peak_bytes = 1234567,
		.changed = changed,
	};

	guest_say_done(g, g->call, &done);
}

/* -------------------------------------------------------- what it has */

const struct guest_file *guest_file(struct scripted_guest *g, const char *path)
{
	size_t i;

	for (i = 0; i < g->file_count; i++)
		if (strcmp(g->files[i].path, path) == 0)
			return &g->files[i];
	return NULL;
}

void guest_write(struct scripted_guest *g, const char *path, const void *data,
		 size_t size)
{
	struct guest_file *f = (struct guest_file *)guest_file(g, path);

	if (!f) {
		assert_true(g->file_count < GUEST_FILES_MAX);
		f = &g->files[g->file_count++];
		assert_true(strlen(path) < sizeof(f->path));
		strcpy(f->path, path);
	}
	free(f->data);
	f->data = malloc(size + 1);
	assert_non_null(f->data);
	memcpy(f->data, data, size);
	f->size = size;
}

void guest_keep(struct scripted_guest *g, uint32_t call, const char *id,
		bool finished)
{
	size_t i;

	for (i = 0; i < g->kept_count && g->kept[i].call != call; i++)
		;
	assert_true(i < WIRE_RETAINED_MAX);
	strcpy(g->kept_id[i], id);
	g->kept[i] = (struct message_hello_exec){
		.call = call,
		.finished = finished,
		.id = { (const uint8_t *)g->kept_id[i], strlen(id) },
	};
	if (i == g->kept_count)
		g->kept_count++;
}
