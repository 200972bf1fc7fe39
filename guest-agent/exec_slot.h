/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_EXEC_SLOT_H
#define GUEST_EXEC_SLOT_H

/*
 * An execution's memory, shared by exec.c, which lets it run, exec_runner.c,
 * which reads what the runner says, and exec_send.c, which tells the host.
 */

#include "capture.h"
#include "changed.h"
#include "exec.h"
#include "loop.h"

/* Results, as exec_runner.c writes and exec_send.c reads them. */
struct display_item {
	uint32_t item;
	uint32_t bundle;
	uint32_t data_size;
	uint8_t flags;
	uint8_t mime_size;
};

struct displays {
	uint32_t total;		/* items that came */
	uint32_t kept;
	uint32_t bundle;	/* of the last item, plus one */
	size_t size;
	uint8_t items[WIRE_DISPLAY_MAX];	/* display_item, MIME type, data */
};

struct failure {
	bool is_set;
	size_t name_size, value_size, traceback_size;
	uint8_t name[WIRE_ERROR_NAME_MAX];
	uint8_t value[WIRE_ERROR_VALUE_MAX];
	uint8_t traceback[WIRE_TRACEBACK_MAX];
};

/* What the connected host has been sent. */
struct attachment {
	bool is_on;
	bool error_sent, done_sent;
	uint64_t position[WIRE_STREAM_COUNT];
	size_t display_at;	/* offset of item position[WIRE_DISPLAYS] */
	size_t changed_at;
};

struct execution {
	enum exec_state state;
	uint32_t call;
	size_t id_size;
	char id[WIRE_EXEC_ID_MAX + 1];
	size_t trace_size;		/* 0: none was told */
	uint8_t trace[WIRE_TRACE_SIZE];
	struct message_exec limits;	/* without id and trace */
	struct capture streams[2];
	struct displays displays;
	struct failure failure;
	struct changed_list changed;
	struct message_done done;
	struct attachment sent;
};

extern struct execution exec_slots[WIRE_RETAINED_MAX];

/* Return: the slot of a call, or NULL */
struct execution *exec_find(uint32_t call);

/**
 * exec_got_message() - Take what the runner says about an execution
 * @e:		The running one
 * @data:	Message
 * @size:	Its bytes, at least 1
 * @ret_failed:	Whether user code ended by an exception
 *
 * Anything that is not a message is ignored: it spoils only its author's own
 * results. Return: whether user code has ended
 */
bool exec_got_message(struct execution *e, const uint8_t *data, size_t size,
		      bool *ret_failed);

#endif
