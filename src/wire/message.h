/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_WIRE_MESSAGE_H
#define CUPOLA_WIRE_MESSAGE_H

/*
 * What the frames carry.
 *
 * For each frame X with a payload there is a struct message_x, an encoder and
 * a decoder.
 *
 * message_encode_x(buf, size, call, m) writes the whole frame, header
 * included. Return: its bytes, -ENOBUFS if @size is too small, -EMSGSIZE if a
 * field is above its ceiling in wire.h. WIRE_FRAME_MAX bytes are always enough.
 *
 * message_decode_x(f, ret) reads the payload of @f, whose type the caller has
 * looked at. Byte strings in @ret point into the frame and are not terminated.
 * Return: 0, or -EPROTO if the payload is anything but exactly right: a field
 * short, bytes left over, a number out of its enum, an unknown flag, a string
 * above its ceiling. Whether text is UTF-8 is not looked at: texts are user
 * data, for whose display the receiver must care.
 *
 * Frames without a payload (RELEASE, INTERRUPT, STAT, QUIESCE, SHUTDOWN,
 * CONFIGURED) are written by message_encode_bare() and checked by
 * message_decode_bare().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/frame.h"
#include "wire/wire.h"

/* Bytes of the peer's or the caller's, not terminated. */
struct bytes {
	const uint8_t *data;
	size_t size;
};

/**
 * struct message_open - What the connection is for
 * @version:	WIRE_VERSION of the daemon; a guest of another version answers
 *		HELLO with its own and closes
 */
struct message_open {
	uint16_t version;
	enum wire_purpose purpose;
};

struct message_hello_exec {
	uint32_t call;
	bool finished;
	struct bytes id;
};

/**
 * struct message_hello - Who answers, and what it still keeps
 * @version:		WIRE_VERSION of the agent; if it is not ours, nothing
 *			else was decoded and the guest closes
 * @flags:		WIRE_HELLO_…
 * @build:		Printable build of the agent
 * @kernel_epoch:	Of the kernel that runs or would run next; begins at 1
 * @count:		Executions that run or are retained; each is sent on this
 *			connection only after ATTACH
 */
struct message_hello {
	uint16_t version;
	uint8_t flags;
	struct bytes build;
	uint32_t kernel_epoch;
	size_t count;
	struct message_hello_exec exec[WIRE_RETAINED_MAX];
};

/**
 * struct message_configure - What makes a booted guest a session
 * @flags:		WIRE_CONFIGURE_…
 * @wall_usec:		CLOCK_REALTIME to set
 * @memory_max_bytes:	Of the kernel's cgroup; 0 or too large means all but
 *			the agent's reserve
 * @pids_max:		Of the kernel's cgroup
 * @hostname:		1 to WIRE_HOSTNAME_MAX of [a-z0-9-], no hyphen at the ends
 * @entropy:		Credited to the guest's pool
 */
struct message_configure {
	uint8_t flags;
	uint64_t wall_usec;
	uint64_t memory_max_bytes;
	uint32_t pids_max;
	struct bytes hostname;
	uint8_t entropy[WIRE_ENTROPY_SIZE];
};

struct message_ready {
	uint32_t kernel_epoch;
	uint64_t stage_usec[WIRE_STAGE_COUNT];	/* 0: not reached */
};

/* PING and PONG. */
struct message_ping {
	uint32_t sequence;
};

/**
 * struct message_exec - Run this
 * @flags:		WIRE_EXEC_…
 * @timeout_usec:	Wall time from the moment the kernel has the source
 * @head_max:		Bytes kept of a stream's beginning, at most WIRE_HEAD_MAX
 * @tail_max:		Bytes kept of its end, at most WIRE_TAIL_MAX
 * @spill_max:		Bytes of a stream's file, at most WIRE_SPILL_MAX
 * @output_max:		Bytes of a stream that end the execution as
 *			output_limit, at most WIRE_OUTPUT_MAX
 * @source_size:	Bytes of source that INPUT frames will bring, 1 to
 *			WIRE_SOURCE_MAX
 * @stdin_size:		Bytes of stdin that follow them, up to WIRE_STDIN_MAX
 * @id:			The execution's public id, 1 to WIRE_EXEC_ID_MAX of
 *			[A-Za-z0-9_-]: it names the files of figures and spills
 * @trace:		With WIRE_EXEC_TRACE, WIRE_TRACE_SIZE of [0-9a-f-]; it
 *			goes to the code's environment
 *
 * INPUT frames follow until source_size + stdin_size bytes came; no other
 * EXEC may come between. REFUSED may be answered at once or after the last
 * INPUT; INPUT of a refused call is read and dropped.
 */
struct message_exec {
	uint8_t flags;
	uint64_t timeout_usec;
	uint32_t head_max;
	uint32_t tail_max;
	uint64_t spill_max;
	uint64_t output_max;
	uint32_t source_size;
	uint32_t stdin_size;
	struct bytes id;
	struct bytes trace;
};

/* INPUT and DATA: 1 to WIRE_CHUNK_MAX bytes. */
struct message_data {
	struct bytes data;
};

/**
 * struct message_attach - Go on with an execution on this connection
 * @position:	Per stream, what comes next: bytes of stdout and stderr, items
 *		of display. Output before it is not sent again; ERROR, CHANGED
 *		and DONE always are, when it has finished
 */
struct message_attach {
	uint64_t position[WIRE_STREAM_COUNT];
};

/* DELETE and GET: a path that wire_path_valid() accepts. */
struct message_path {
	struct bytes path;
};

/**
 * struct message_output - Part of stdout or stderr
 * @stream:	WIRE_STDOUT or WIRE_STDERR
 * @offset:	Where it begins in all that was written. It never goes back;
 *		where it jumps, bytes were omitted
 * @data:	1 to WIRE_CHUNK_MAX bytes, any
 */
struct message_output {
	enum wire_stream stream;
	uint64_t offset;
	struct bytes data;
};

/**
 * struct message_display - One representation of one result
 * @flags:	WIRE_DISPLAY_FILE: @data is the path, below /mnt/data, of a file
 *		that the execution made (images, and whatever is too large)
 * @item:	Counts from 0 within the execution; may jump where items were
 *		omitted
 * @bundle:	Items of one result share it; it never goes down
 * @mime:	1 to WIRE_MIME_MAX printable ASCII bytes, as "text/plain"
 * @data:	Up to WIRE_DISPLAY_DATA_MAX bytes
 */
struct message_display {
	uint8_t flags;
	uint32_t item;
	uint32_t bundle;
	struct bytes mime;
	struct bytes data;
};

/* What the exception said; the runner's words, so user data. */
struct message_error {
	struct bytes name;
	struct bytes value;
	struct bytes traceback;
};

/**
 * struct message_changed_entry - A file below /mnt/data, new or changed
 * @skip:	WIRE_SKIP_NONE if it can be fetched
 * @size:	When it was looked at
 * @name:	Relative to /mnt/data, raw bytes. Accepted by wire_path_valid()
 *		if @skip is WIRE_SKIP_NONE; else may be cut, or empty
 */
struct message_changed_entry {
	enum wire_skip skip;
	uint64_t size;
	struct bytes name;
};

/**
 * struct message_changed - Entries, to be read by message_changed_next()
 *
 * Of an execution at most WIRE_CHANGED_MAX entries come, in any number of
 * frames, after its last output; what is beyond is only counted.
 */
struct message_changed {
	uint16_t count;
	struct bytes entries;
};

/**
 * struct message_done - The end of an execution
 * @flags:		WIRE_DONE_STATE_LOST: the variables from before this
 *			execution, or from within it, are gone
 * @signal:		What the kernel died of, or 0
 * @exit_code:		What the kernel exited with, if it did
 * @execution_count:	This execution's number within its kernel's life, from 1
 * @kernel_epoch:	Counts kernels from 1. With STATE_LOST, that of the
 *			kernel that is there now
 * @wall_usec:		From the moment the kernel had the source
 * @cpu_usec:		Of the kernel's cgroup
 * @memory_peak_bytes:	Of the kernel's cgroup, during this execution
 * @total:		What was written, per stream: bytes, bytes, items
 * @omitted:		What of it was not kept for OUTPUT and DISPLAY
 * @spilled:		Bytes kept in stdout-<id>.txt and stderr-<id>.txt; 0 if
 *			there is no such file
 * @changed:		Entries told by CHANGED
 * @unlisted:		Further changes, beyond WIRE_CHANGED_MAX: they count as
 *			told (skipped as too_many) until they change again
 */
struct message_done {
	enum wire_status status;
	uint8_t flags;
	uint8_t signal;
	uint8_t exit_code;
	uint32_t execution_count;
	uint32_t kernel_epoch;
	uint64_t wall_usec;
	uint64_t cpu_usec;
	uint64_t memory_peak_bytes;
	uint64_t total[WIRE_STREAM_COUNT];
	uint64_t omitted[WIRE_STREAM_COUNT];
	uint64_t spilled[2];
	uint32_t changed;
	uint32_t unlisted;
};

struct message_refused {
	enum wire_refusal why;
};

/**
 * struct message_status - Answer to STAT
 * @memory_total_bytes:	Of the guest
 * @memory_used_bytes:	Of the kernel's cgroup
 * @cpu_usec:		Of the kernel's cgroup, ever
 * @disk_total_bytes:	Of the scratch disk
 * @uptime_usec:	Since the guest's kernel started
 * @processes:		In the kernel's cgroup
 */
struct message_status {
	uint64_t memory_total_bytes;
	uint64_t memory_used_bytes;
	uint64_t cpu_usec;
	uint64_t disk_total_bytes;
	uint64_t disk_free_bytes;
	uint64_t uptime_usec;
	uint32_t processes;
	uint32_t kernel_epoch;
};

/* Answer to QUIESCE: @changed and @unlisted as in DONE. */
struct message_quiesced {
	uint32_t changed;
	uint32_t unlisted;
};

/* Answer to DELETE. */
struct message_result {
	enum wire_file_status status;
};

/* Answer to GET: @size bytes of DATA and END follow if @status is OK. */
struct message_file {
	enum wire_file_status status;
	uint64_t size;
};

/**
 * struct message_put - Write this file
 * @mode:	Permission bits, at most 0777; it will belong to the sandbox user
 * @size:	Bytes of DATA that follow
 * @sha256:	Of them
 * @path:	Directories on the way are made as needed
 *
 * Written under a temporary name and renamed, so that readers see the old file
 * or the new one. END is answered after the rename, without waiting for the
 * disk: the scratch disk does not outlive the VM. The file does not count as
 * changed.
 */
struct message_put {
	uint32_t mode;
	uint64_t size;
	uint8_t sha256[WIRE_SHA256_SIZE];
	struct bytes path;
};

/*
 * Last frame of GET and PUT; @sha256 is of the bytes sent if @status is OK or
 * GROWN, else zero.
 */
struct message_end {
	enum wire_file_status status;
	uint8_t sha256[WIRE_SHA256_SIZE];
};

#define MESSAGE(x)                                                             \
	ssize_t message_encode_##x(uint8_t *buf, size_t size, uint32_t call,   \
				   const struct message_##x *m);               \
	int message_decode_##x(const struct frame *f, struct message_##x *ret)

MESSAGE(open);
MESSAGE(hello);
MESSAGE(configure);
MESSAGE(ready);
MESSAGE(exec);
MESSAGE(attach);
MESSAGE(output);
MESSAGE(display);
MESSAGE(error);
MESSAGE(changed);
MESSAGE(done);
MESSAGE(refused);
MESSAGE(status);
MESSAGE(quiesced);
MESSAGE(result);
MESSAGE(file);
MESSAGE(put);
MESSAGE(end);

#undef MESSAGE

/* These serve two frames each, so their encoders are told which. */
ssize_t message_encode_ping(uint8_t *buf, size_t size, enum wire_type type,
			    const struct message_ping *m);
int message_decode_ping(const struct frame *f, struct message_ping *ret);

ssize_t message_encode_data(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call, const struct message_data *m);
int message_decode_data(const struct frame *f, struct message_data *ret);

ssize_t message_encode_path(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call, const struct message_path *m);
int message_decode_path(const struct frame *f, struct message_path *ret);

ssize_t message_encode_bare(uint8_t *buf, size_t size, enum wire_type type,
			    uint32_t call);
int message_decode_bare(const struct frame *f);

/**
 * message_changed_next() - Take the next entry
 * @m:		Decoded; loses the entry. All entries were checked by the
 *		decoder
 * @ret:	The entry
 *
 * Return: 1, or 0 if there is none left
 */
int message_changed_next(struct message_changed *m,
			 struct message_changed_entry *ret);

/**
 * message_changed_add() - Append an entry to encoded entries
 * @buf:	Where the entry is written
 * @size:	Room there
 * @e:		The entry
 *
 * Return: bytes written, -ENOBUFS or -EMSGSIZE as the encoders
 */
ssize_t message_changed_add(uint8_t *buf, size_t size,
			    const struct message_changed_entry *e);

/**
 * wire_path_valid() - Whether a path names a file below /mnt/data
 * @path:	Relative, components parted by single slashes
 *
 * Refused: empty, absolute, a NUL, "." or ".." or an empty component, a
 * component above WIRE_PATH_NAME_MAX, a path above WIRE_PATH_MAX, more
 * components than WIRE_PATH_DEPTH_MAX. Any other byte is a file name's right;
 * whether the client can be told such a name is for the daemon.
 */
bool wire_path_valid(struct bytes path);

/* The rules of message_exec.id, message_configure.hostname and of MIME types. */
bool wire_exec_id_valid(struct bytes id);
bool wire_trace_valid(struct bytes trace);
bool wire_hostname_valid(struct bytes name);
bool wire_mime_valid(struct bytes mime);

#endif
