/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_WIRE_H
#define CUPOLA_WIRE_H

/*
 * The protocol between the daemon and the agent in the guest.
 *
 * This file is the definition: what is not here is not on the wire. It is
 * compiled into both programs and into the fuzzers, so it needs nothing but
 * fixed-width integers and memory. doc/guest-protocol.md tells the same story
 * in prose, frame by frame.
 *
 *	daemon				guest
 *	  |  connect to the VM, WIRE_PORT |	the guest has nowhere to
 *	  |------------------------------>|	connect to
 *	  |	     32 random bytes (G)  |	raw bytes, no frames yet:
 *	  |<------------------------------|	both prove the boot nonce
 *	  |  32 random bytes (H), proof	  |
 *	  |------------------------------>|
 *	  |			   proof  |
 *	  |<------------------------------|
 *	  |  OPEN control, version	  |
 *	  |------------------------------>|
 *	  |	HELLO version, state	  |	which executions it knows
 *	  |<------------------------------|
 *	  |  CONFIGURE			  |	once in a guest's life
 *	  |------------------------------>|
 *	  |	       CONFIGURED, READY  |
 *	  |<------------------------------|
 *	  |  EXEC call=7, INPUT call=7	  |
 *	  |------------------------------>|
 *	  |  OUTPUT, DISPLAY call=7	  |	any number
 *	  |<------------------------------|
 *	  |  ERROR, CHANGED, DONE call=7  |	exactly one DONE, the last
 *	  |<------------------------------|	frame about the execution
 *	  |  RELEASE call=7		  |	the guest forgets it
 *	  |------------------------------>|
 *
 * A frame that breaks a rule ends the connection, and with it the VM: there is
 * no resynchronising with a peer that may be hostile.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The agent listens here; below 1024, so that user code cannot bind it. */
#define WIRE_PORT		1023
#define WIRE_VERSION		1

/* Ceilings of frames. */
#define WIRE_PAYLOAD_MAX	(256u * 1024)
#define WIRE_FRAME_MAX		(sizeof(struct wire_header) + WIRE_PAYLOAD_MAX)
/* Bytes of user data in one OUTPUT, INPUT or DATA frame. */
#define WIRE_CHUNK_MAX		(128u * 1024)

/*
 * Of any number: the sum of two of them still fits the signed 64 bits that a
 * data base, a file and JSON have for it.
 */
#define WIRE_NUMBER_MAX		((1ull << 62) - 1)

/* Ceilings of what frames carry. */
#define WIRE_EXEC_ID_MAX	64u
#define WIRE_TRACE_SIZE		55u	/* of a traceparent */
#define WIRE_SOURCE_MAX		(512u * 1024)
#define WIRE_STDIN_MAX		(4u * 1024 * 1024)
#define WIRE_HEAD_MAX		(768u * 1024)
#define WIRE_TAIL_MAX		(256u * 1024)
#define WIRE_SPILL_MAX		(64ull * 1024 * 1024)
#define WIRE_OUTPUT_MAX		(1024ull * 1024 * 1024)
#define WIRE_DISPLAY_MAX	(1024u * 1024)	/* of one execution */
#define WIRE_DISPLAY_DATA_MAX	(192u * 1024)	/* of one item */
#define WIRE_DISPLAY_ITEMS_MAX	1024u	/* of one execution */
#define WIRE_MIME_MAX		127u
#define WIRE_ERROR_NAME_MAX	256u
#define WIRE_ERROR_VALUE_MAX	(32u * 1024)
#define WIRE_TRACEBACK_MAX	(128u * 1024)
#define WIRE_PATH_MAX		1024u	/* relative to /mnt/data */
#define WIRE_PATH_DEPTH_MAX	16u
#define WIRE_PATH_NAME_MAX	255u
#define WIRE_CHANGED_MAX	512u	/* entries of one execution */
#define WIRE_CHANGED_BYTES_MAX	(512u * 1024)
#define WIRE_RETAINED_MAX	4u	/* executions, the running one included */
#define WIRE_BUILD_MAX		64u
#define WIRE_HOSTNAME_MAX	63u
#define WIRE_ENTROPY_SIZE	64u
#define WIRE_SHA256_SIZE	32u

/* The mutual proof: see proof.h. */
#define WIRE_NONCE_SIZE		32u
#define WIRE_CHALLENGE_SIZE	32u
#define WIRE_PROOF_SIZE		32u

/*
 * Little-endian integers as bytes. They have no alignment, so structures of
 * them have no padding and need no packing, and they are not integers, so a
 * forgotten conversion does not compile.
 */
typedef struct { uint8_t byte[2]; } le16;
typedef struct { uint8_t byte[4]; } le32;
typedef struct { uint8_t byte[8]; } le64;

static inline uint16_t le16_get(le16 v)
{
	return (uint16_t)(v.byte[0] | v.byte[1] << 8);
}

static inline uint32_t le32_get(le32 v)
{
	return (uint32_t)v.byte[0] | (uint32_t)v.byte[1] << 8 |
	       (uint32_t)v.byte[2] << 16 | (uint32_t)v.byte[3] << 24;
}

static inline uint64_t le64_get(le64 v)
{
	uint64_t n = 0;
	int i;

	for (i = 7; i >= 0; i--)
		n = n << 8 | v.byte[i];
	return n;
}

static inline le16 le16_put(uint16_t n)
{
	return (le16){ { (uint8_t)n, (uint8_t)(n >> 8) } };
}

static inline le32 le32_put(uint32_t n)
{
	return (le32){ { (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
			 (uint8_t)(n >> 24) } };
}

static inline le64 le64_put(uint64_t n)
{
	le64 v;
	int i;

	for (i = 0; i < 8; i++, n >>= 8)
		v.byte[i] = (uint8_t)n;
	return v;
}

/**
 * struct wire_header - What every frame starts with
 * @length:	Bytes of payload that follow, at most WIRE_PAYLOAD_MAX
 * @type:	enum wire_type
 * @reserved:	Zero
 * @call:	What this frame is about: an execution or a request, numbered by
 *		the daemon; never zero, and for EXEC none that the guest still
 *		keeps. Zero in the frames that wire_types[] (frame.c) says are
 *		about the connection as a whole
 */
struct wire_header {
	le32 length;
	le16 type;
	le16 reserved;
	le32 call;
};
static_assert(sizeof(struct wire_header) == 12, "wire_header is not 12 bytes");

/**
 * enum wire_type - The frames
 *
 * 0x01xx are the daemon's on the control connection, 0x02xx the guest's there,
 * 0x03xx belong to the bulk connections. Numbers are never reused. Frames
 * marked * carry a call; struct message_x of message.h is the payload of X.
 */
enum wire_type {
	WIRE_OPEN	= 0x0101,	/* what this connection is for; first on each */
	WIRE_CONFIGURE	= 0x0102,	/* limits, time, entropy; once in a guest's life */
	WIRE_PING	= 0x0103,	/* answered by PONG with the same sequence */
	WIRE_EXEC	= 0x0104,	/* * begin an execution; INPUT follows */
	WIRE_INPUT	= 0x0105,	/* * source, then stdin, in pieces */
	WIRE_RELEASE	= 0x0106,	/* * forget this finished execution */
	WIRE_ATTACH	= 0x0107,	/* * send me this execution, from here on */
	WIRE_INTERRUPT	= 0x0108,	/* * SIGINT, if it still runs */
	WIRE_STAT	= 0x0109,	/* * answered by STATUS */
	WIRE_QUIESCE	= 0x010a,	/* * sync, list what changed: CHANGED, QUIESCED */
	WIRE_DELETE	= 0x010b,	/* * remove a file: RESULT */
	WIRE_SHUTDOWN	= 0x010c,	/* power off; no answer */

	WIRE_HELLO	= 0x0201,	/* answer to OPEN control */
	WIRE_CONFIGURED	= 0x0202,	/* answer to CONFIGURE */
	WIRE_READY	= 0x0203,	/* the kernel takes executions; once a connection */
	WIRE_PONG	= 0x0204,
	WIRE_OUTPUT	= 0x0205,	/* * bytes of stdout or stderr */
	WIRE_DISPLAY	= 0x0206,	/* * one representation of one result */
	WIRE_ERROR	= 0x0207,	/* * the exception that ended it, at most one */
	WIRE_CHANGED	= 0x0208,	/* * files that are new or changed */
	WIRE_DONE	= 0x0209,	/* * it has ended; exactly one, the last */
	WIRE_REFUSED	= 0x020a,	/* * this EXEC or ATTACH cannot be */
	WIRE_STATUS	= 0x020b,	/* * answer to STAT */
	WIRE_QUIESCED	= 0x020c,	/* * answer to QUIESCE, after its CHANGED */
	WIRE_RESULT	= 0x020d,	/* * answer to DELETE */

	WIRE_GET	= 0x0301,	/* daemon: which file */
	WIRE_FILE	= 0x0302,	/* guest: status, length; DATA follows */
	WIRE_PUT	= 0x0303,	/* daemon: which file; DATA follows */
	WIRE_DATA	= 0x0304,	/* either: bytes of the file, in order */
	WIRE_END	= 0x0305,	/* guest: status, SHA-256; the last frame */
};

/* What a connection is for. */
enum wire_purpose {
	WIRE_CONTROL = 1,
	WIRE_BULK_GET = 2,
	WIRE_BULK_PUT = 3,
};

/**
 * enum wire_status - How an execution ended, as the guest agent saw it
 *
 * All but OK and ERROR are the agent's own observation. OK and ERROR are what
 * the runner says, in whose process user code lives. session_lost is missing
 * because only the daemon can say it.
 */
enum wire_status {
	WIRE_STATUS_OK,
	WIRE_STATUS_ERROR,		/* an exception, told by ERROR */
	WIRE_STATUS_TIMEOUT,
	WIRE_STATUS_INTERRUPTED,
	WIRE_STATUS_OUTPUT_LIMIT,
	WIRE_STATUS_OOM,
	WIRE_STATUS_KERNEL_DIED,

	WIRE_STATUS_COUNT,
};

/* Streams of an execution; @display counts items, the others bytes. */
enum wire_stream {
	WIRE_STDOUT,
	WIRE_STDERR,
	WIRE_DISPLAYS,

	WIRE_STREAM_COUNT,
};

/* Answers about one file. */
enum wire_file_status {
	WIRE_FILE_OK,
	WIRE_FILE_NOT_FOUND,
	WIRE_FILE_NOT_REGULAR,	/* a link, directory, fifo, device, socket */
	WIRE_FILE_BAD_PATH,	/* wire_path_valid() says no */
	WIRE_FILE_DENIED,	/* the sandbox user may not */
	WIRE_FILE_NO_SPACE,	/* the scratch disk is full */
	WIRE_FILE_MISMATCH,	/* PUT: length or SHA-256 differ; nothing was changed */
	WIRE_FILE_CHANGED,	/* GET: it changed while it was sent, and what came
				 * is of no moment */
	WIRE_FILE_BUSY,		/* too many bulk connections; try again */
	WIRE_FILE_IO,		/* anything else */
	WIRE_FILE_GROWN,	/* GET: it changed while it was sent, but what came
				 * are its first bytes as of one moment */

	WIRE_FILE_STATUS_COUNT,
};

/* Why an entry of CHANGED is told but cannot be fetched. */
enum wire_skip {
	WIRE_SKIP_NONE,		/* a regular file: fetch it with GET */
	WIRE_SKIP_SYMLINK,
	WIRE_SKIP_SPECIAL,	/* fifo, socket, device */
	WIRE_SKIP_DENIED,	/* the sandbox user took its own access away */
	WIRE_SKIP_TOO_DEEP,	/* a directory below WIRE_PATH_DEPTH_MAX */
	WIRE_SKIP_TOO_LONG,	/* a path above WIRE_PATH_MAX; cut here */
	WIRE_SKIP_TOO_MANY,	/* the table of known files is full; one entry,
				 * empty name, size: how many were not looked at */

	WIRE_SKIP_COUNT,
};

/* Why EXEC or ATTACH was refused. */
enum wire_refusal {
	WIRE_REFUSED_UNKNOWN,	/* ATTACH: no such execution (any more) */
	WIRE_REFUSED_BUSY,	/* EXEC: one is running */
	WIRE_REFUSED_FULL,	/* EXEC: WIRE_RETAINED_MAX are not released */
	WIRE_REFUSED_TWICE,	/* EXEC: this call is not released */
	WIRE_REFUSED_MEMORY,	/* EXEC: no room for source and stdin */

	WIRE_REFUSAL_COUNT,
};

/*
 * Boot trace: when each stage was over, in microseconds since the guest's
 * kernel started.
 */
enum wire_stage {
	WIRE_STAGE_AGENT,	/* the agent's main() began */
	WIRE_STAGE_MODULES,	/* kernel modules are in */
	WIRE_STAGE_NONCE,	/* the nonce is read and wiped */
	WIRE_STAGE_ROOT,	/* root, scratch and overlay are mounted */
	WIRE_STAGE_LISTEN,	/* port WIRE_PORT is open */
	WIRE_STAGE_IMPORTED,	/* the zygote has imported its list */
	WIRE_STAGE_CONFIGURED,	/* CONFIGURE was applied */
	WIRE_STAGE_KERNEL,	/* the first kernel waits for code */

	WIRE_STAGE_COUNT,
};

/* Bits of message_done.flags. */
#define WIRE_DONE_STATE_LOST	0x01u	/* variables from before are gone */
#define WIRE_DONE_FLAGS		0x01u

/* Bits of message_exec.flags. */
#define WIRE_EXEC_SPILL		0x01u	/* keep what passes the cap as a file */
#define WIRE_EXEC_TRACE		0x02u	/* its trace is told */
#define WIRE_EXEC_FLAGS		0x03u

/* Bits of message_configure.flags. */
#define WIRE_CONFIGURE_EMULATED	0x01u	/* be patient: no KVM */
#define WIRE_CONFIGURE_FLAGS	0x01u

/* Bits of message_hello.flags. */
#define WIRE_HELLO_CONFIGURED	0x01u	/* CONFIGURE is over: do not repeat it */
#define WIRE_HELLO_TRACES	0x02u	/* knows WIRE_EXEC_TRACE */
#define WIRE_HELLO_FLAGS	0x03u

/* Bits of message_display.flags. */
#define WIRE_DISPLAY_FILE	0x01u	/* data is a path below /mnt/data */
#define WIRE_DISPLAY_FLAGS	0x01u

/**
 * wire_status_name() - The API's word for a status ("output_limit")
 * @status:	Any number
 *
 * Return: a constant, or NULL for a number that is none
 */
const char *wire_status_name(enum wire_status status);
const char *wire_stream_name(enum wire_stream stream);
const char *wire_file_status_name(enum wire_file_status status);
const char *wire_skip_name(enum wire_skip skip);
const char *wire_refusal_name(enum wire_refusal refusal);
const char *wire_stage_name(enum wire_stage stage);
const char *wire_type_name(enum wire_type type);

#endif
