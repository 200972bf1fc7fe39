/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_SCRIPTED_GUEST_H
#define CUPOLA_TESTS_SCRIPTED_GUEST_H

/*
 * A guest without a VM: it speaks the protocol on a socketpair and does what
 * the test says. By itself it proves, greets, takes files and gives those it
 * has; executions wait until the test answers them.
 */

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "test.h"
#include "wire/message.h"

#define GUEST_FILES_MAX 64

struct guest_line;

struct guest_file {
	char path[128];
	char *data;
	size_t size;
};

struct scripted_guest {
	sd_event *event;
	char vm_id[64];
	uint8_t nonce[WIRE_NONCE_SIZE];
	struct guest_line *control;
	LIST_HEAD(, guest_line) lines;

	/* What it is */
	bool configured;
	bool knows_no_traces; /* as agents before did not */
	uint32_t kernel_epoch;
	struct message_hello_exec kept[WIRE_RETAINED_MAX];
	char kept_id[WIRE_RETAINED_MAX][WIRE_EXEC_ID_MAX + 1];
	size_t kept_count;
	struct guest_file files[GUEST_FILES_MAX];
	size_t file_count;

	/* Who answers executions instead of the test; NULL: nobody */
	void (*heard)(struct scripted_guest *g, uint32_t type, uint32_t call,
		      void *userdata);
	void *userdata;

	/* How it misbehaves */
	bool mute; /* says nothing at all */
	bool never_ready;
	bool wrong_proof;
	bool wrong_digest; /* of files it gives */
	bool file_twice;   /* begins each file it gives a second time */
	bool busy_late;    /* is busy at the end of a file it gives */
	bool no_end;       /* of files it gives */
	bool one_file_each; /* and then says no more on that connection */
	unsigned changing; /* so many files change while it gives them */
	bool growing;      /* and what else it gives grows */
	enum wire_file_status put_status; /* of files it is given */
	bool no_pong;
	bool deaf;               /* reads nothing any more */
	bool hangs_up;           /* once it was told what a line is for */
	bool replays_proof;      /* says again what it said on its first line */
	const struct buf *bulk;  /* says this where it is asked for a file */

	/* What it was told last, and how often */
	uint32_t call;
	char exec_id[WIRE_EXEC_ID_MAX + 1];
	char trace[WIRE_TRACE_SIZE + 1]; /* "": none */
	struct message_exec exec;
	struct buf input;
	unsigned execs, interrupts, releases, attaches, deletes, quiesces;
	unsigned puts, gets, get_lines, pings, links;
	uint32_t quiesce_call, released;
	uint64_t position[WIRE_STREAM_COUNT];
	char deleted[WIRE_PATH_MAX + 1];

	/* What it said first, to be replayed */
	bool has_proved;
	uint8_t first_challenge[WIRE_CHALLENGE_SIZE];
	uint8_t first_proof[WIRE_PROOF_SIZE];
};

struct scripted_guest *guest_new(sd_event *event, const char *vm_id,
				 const uint8_t nonce[WIRE_NONCE_SIZE]);
void guest_free(struct scripted_guest *g);

/** guest_connect() - Somebody dialled; @fd is the guest's end */
void guest_connect(struct scripted_guest *g, int fd);

/** guest_hang_up() - Drop every connection */
void guest_hang_up(struct scripted_guest *g);

/** guest_shutdown() - Half of the control connection, as shutdown(2) */
void guest_shutdown(struct scripted_guest *g, int how);

/** guest_keep() - Be running, or keep, an execution that HELLO tells of */
void guest_keep(struct scripted_guest *g, uint32_t call, const char *id,
		bool finished);

/** guest_write() - Have a file below /mnt/data */
void guest_write(struct scripted_guest *g, const char *path, const void *data,
		 size_t size);
const struct guest_file *guest_file(struct scripted_guest *g, const char *path);

/* What it says on the control connection. */
void guest_say_raw(struct scripted_guest *g, const void *data, size_t size);
/** guest_say_bulk() - On the connection that was made last, a file's */
void guest_say_bulk(struct scripted_guest *g, const void *data, size_t size);
void guest_say_output(struct scripted_guest *g, uint32_t call,
		      enum wire_stream stream, uint64_t offset,
		      const char *text);
void guest_say_display(struct scripted_guest *g, uint32_t call, uint32_t item,
		       uint32_t bundle, const char *mime, const char *data,
		       bool is_file);
void guest_say_error(struct scripted_guest *g, uint32_t call, const char *name,
		     const char *value);
void guest_say_changed(struct scripted_guest *g, uint32_t call,
		       const char *path, uint64_t size, enum wire_skip skip);
void guest_say_done(struct scripted_guest *g, uint32_t call,
		    const struct message_done *done);
void guest_say_quiesced(struct scripted_guest *g, uint32_t changed);

/** guest_finish() - DONE with a status and so many changed files */
void guest_finish(struct scripted_guest *g, enum wire_status status,
		  uint32_t changed);

#endif
