/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_ROWS_H
#define CUPOLA_STORE_ROWS_H

/*
 * What the database remembers, one struct per table.
 *
 * Rows are plain values of fixed size: copied in, copied out, nothing to free.
 * Text is UTF-8 and ends in a NUL; an empty string or a zero stands for
 * "none". Times are wall-clock microseconds since 1970 unless the name says
 * "boot": those are CLOCK_BOOTTIME and mean something only together with the
 * boot id of the row. Words (states, statuses, reasons) are core's; the store
 * keeps them without knowing them.
 *
 * Fields marked "fixed" are written by the first put of an id; a later put of
 * the same id leaves them as they are.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/media_type.h"
#include "store/hash.h"

enum {
	STORE_ID_SIZE = ID_MAX + 1,
	STORE_TENANT_SIZE = 64 + 1,
	STORE_NAME_SIZE = 256 + 1,     /* what people call a thing */
	STORE_FILENAME_SIZE = 255 + 1, /* one path component */
	/* A path in a container: "/mnt/data/" and 1024 bytes, each of which may
	 * have become a character of three. */
	STORE_PATH_SIZE = 10 + 3 * 1024 + 1,
	STORE_PATH_B64_SIZE = BASE64_SIZE(1024) + 1,
	STORE_WORD_SIZE = 32,          /* states, reasons, purposes */
	STORE_NOTE_SIZE = 64,
	STORE_TRACE_SIZE = 56,
	STORE_IMAGE_SIZE = 192,        /* "name@sha256:…" */
	STORE_NONCE_SIZE = 32,
	STORE_PROJECT_SIZE = 64 + 1,
	STORE_DEFINITION_NAME_SIZE = 63 + 1,
	STORE_DEFINITION_TEXT_SIZE = 128 * 1024, /* JSON, kept as it is */
	STORE_PROFILE_SIZE = 16 * 1024,          /* the same */
	STORE_TEXT_MAX = 8 * 1024 * 1024,
	STORE_AGENT_SIZE = 64 + 1 + 64 + 1, /* project and name */
};

/**
 * struct store_text - UTF-8 of any length up to STORE_TEXT_MAX
 *
 * Borrowed: by a put during the call, and as the function says that reads one.
 */
struct store_text {
	const char *data; /* without a NUL */
	size_t size;
};

/**
 * struct store_tenant - Who owns things; the border of every read
 * @closed_usec: When it was deleted: from then on the sweep erases what it has,
 *		and in the end this row; 0: it is in business
 *
 * The limits are core's; 0 stands for what the settings say.
 */
struct store_tenant {
	char id[STORE_TENANT_SIZE];
	usec_t created_usec; /* fixed */
	usec_t closed_usec;
	uint64_t max_sessions;
	uint64_t max_executions;
	uint64_t max_requests;
	uint64_t requests_per_minute;
	uint64_t max_bytes;
	uint64_t session_seconds_per_day;
};

/**
 * struct store_key - An API key
 * @hash:	SHA-256 of the key; the key itself is nowhere
 */
struct store_key {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* fixed */
	uint8_t hash[HASH_SIZE];        /* fixed */
	char name[STORE_NAME_SIZE];
	uint32_t scopes;
	usec_t created_usec; /* fixed */
	usec_t expires_usec;
	usec_t revoked_usec;
	usec_t last_used_usec; /* to the minute is enough */
	uint64_t max_requests; /* at a time; 0: only the tenant's limit */
	uint64_t requests_per_minute;
};

/** struct store_file - An uploaded file (file-…) */
struct store_file {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* fixed */
	char filename[STORE_FILENAME_SIZE];
	char purpose[STORE_WORD_SIZE];
	char media_type[MEDIA_TYPE_SIZE];
	uint8_t sha256[HASH_SIZE]; /* fixed; its blob */
	uint64_t bytes;            /* fixed */
	usec_t created_usec;       /* fixed */
	usec_t expires_usec;       /* 0: never */
};

/**
 * struct store_upload - A file that arrives in parts (upload_…)
 * @bytes:	What the parts have to come to
 * @expires_usec: Of the upload; its parts go then
 * @file_expires_sec: What the file is to have; 0: its purpose's default
 * @status:	Core's word
 * @file_id:	What it became; "" before
 */
struct store_upload {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE];     /* fixed */
	char filename[STORE_FILENAME_SIZE]; /* fixed */
	char purpose[STORE_WORD_SIZE];      /* fixed */
	uint64_t bytes;                     /* fixed */
	usec_t created_usec;                /* fixed */
	usec_t expires_usec;                /* fixed */
	uint64_t file_expires_sec;          /* fixed */
	char status[STORE_WORD_SIZE];
	char file_id[STORE_ID_SIZE];
};

/** struct store_part - A part of an upload (part_…); all of it is fixed */
struct store_part {
	char id[STORE_ID_SIZE];
	char upload_id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* the upload's */
	uint8_t sha256[HASH_SIZE];      /* its blob */
	uint64_t bytes;
	usec_t created_usec;
};

/**
 * struct store_container - A container (cntr_…), from accepted to forgotten
 * @state:	Core's word for where its session stands
 * @vm_id:	The VM it has or had; "" before
 * @origin:	What made it: "api", or the id of a conversation or agent
 * @kernel_epoch: Grows each time the kernel was replaced
 * @ended_usec:	When its VM was seen dead; 0: the session lives or is stopping
 * @ended_reason: Set as soon as it is stopping
 */
struct store_container {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* fixed */
	char key_id[STORE_ID_SIZE];     /* fixed; who is billed */
	char name[STORE_NAME_SIZE];
	char dialect[STORE_WORD_SIZE]; /* fixed */
	char origin[STORE_NAME_SIZE];  /* fixed */
	char pool[STORE_NAME_SIZE];
	char image[STORE_IMAGE_SIZE];
	char vm_id[STORE_ID_SIZE];
	char state[STORE_WORD_SIZE];
	uint32_t memory_mib; /* the tier that was asked for */
	uint32_t vm_memory_mib; /* what it has */
	uint32_t idle_minutes;
	uint32_t kernel_epoch;
	usec_t created_usec; /* fixed */
	usec_t last_active_usec;
	usec_t ended_usec;
	char ended_reason[STORE_WORD_SIZE];
	uint64_t usage_executions;
	uint64_t usage_assigned_usec;
	uint64_t usage_executing_usec;
	uint64_t usage_cpu_usec;
	uint64_t usage_bytes_in;
	uint64_t usage_bytes_out;
	bool deleted; /* set by store_batch_erase_container() */
};

/**
 * struct store_cfile - One version of a file in a container (cfile_…)
 * @path:	Absolute, as it is in the guest; with U+FFFD for what is not UTF-8
 * @path_b64:	Then its bytes below /mnt/data, as base64; "" if @path is exact
 * @path_nfc:	@path in Unicode's normal form C; set by the store
 * @source:	"user" or "assistant"
 * @changed_during_read: The guest's file changed while it was fetched; this is
 *		its beginning as of one moment
 * @superseded:	A newer id has the same path; set by the store
 */
struct store_cfile {
	char id[STORE_ID_SIZE];
	char container_id[STORE_ID_SIZE]; /* fixed */
	char tenant[STORE_TENANT_SIZE];   /* fixed; the container's */
	char path[STORE_PATH_SIZE];       /* fixed */
	char path_b64[STORE_PATH_B64_SIZE]; /* fixed */
	char path_nfc[STORE_PATH_SIZE];     /* fixed */
	char source[STORE_WORD_SIZE];
	char media_type[MEDIA_TYPE_SIZE];
	char exec_id[STORE_ID_SIZE]; /* fixed; who made it, or "" */
	uint8_t sha256[HASH_SIZE];   /* fixed; its blob */
	uint64_t bytes;              /* fixed */
	usec_t created_usec;         /* fixed */
	bool changed_during_read;    /* fixed */
	bool superseded;
};

/**
 * struct store_execution - One run of source (exec_…)
 * @number:	The container's n-th; fixed
 * @ended_usec:	0 while it is queued or running
 * @has_record:	Whether store_execution_record() has something; set by the
 *		store
 */
struct store_execution {
	char id[STORE_ID_SIZE];
	char container_id[STORE_ID_SIZE]; /* fixed */
	char tenant[STORE_TENANT_SIZE];   /* fixed; the container's */
	uint64_t number;                  /* fixed */
	char status[STORE_WORD_SIZE];
	usec_t created_usec; /* fixed */
	usec_t started_usec;
	usec_t ended_usec;
	usec_t duration_usec;
	usec_t cpu_usec;
	uint64_t peak_memory_bytes;
	uint64_t total_bytes;
	uint64_t omitted_bytes;
	uint32_t execution_count;
	uint32_t kernel_epoch;
	bool out_truncated;
	bool err_truncated;
	bool state_lost;
	char note[STORE_NOTE_SIZE];   /* fixed; whoever started it knows */
	char trace[STORE_TRACE_SIZE]; /* fixed; traceparent, or "" */
	bool has_record;
};

/**
 * struct store_vm - A line of the ledger: a VM that exists or is meant to
 * @container_id: Whose it is; "" while it is the pool's
 * @nonce:	Secret of the proof on every connection; fixed
 *
 * Written before anything of the VM is made, deleted when nothing of it is
 * left on the host. So after any crash the ledger covers all there can be.
 */
struct store_vm {
	char id[STORE_ID_SIZE];
	char container_id[STORE_ID_SIZE];
	char pool[STORE_NAME_SIZE];
	uint32_t pool_generation;
	char image[STORE_IMAGE_SIZE];
	char state[STORE_WORD_SIZE];
	uint32_t cid; /* fixed */
	uint32_t memory_mib;
	uint64_t disk_bytes;
	uint8_t nonce[STORE_NONCE_SIZE];
	char boot_id[CLOCK_BOOT_ID_SIZE]; /* of the host; fixed */
	usec_t created_usec;              /* fixed */
	usec_t assigned_usec;
	usec_t assigned_boot_usec;
	usec_t hard_deadline_boot_usec;
};

/**
 * struct store_usage - An event of the usage ledger, never changed
 * @response_id: That it is about, or ""
 * @kind:	"created", "assigned", "execution", "cpu", "memory", "bytes_in",
 *		"bytes_out", "ended"; of a response "response", "tokens_in",
 *		"tokens_out", "tool_calls", "held". A container has at most one
 *		"ended"
 * @amount:	In the unit of the kind: microseconds, bytes, MiB times
 *		milliseconds, or 1
 * @detail:	A word on top: the end reason, the status; or ""
 */
struct store_usage {
	char tenant[STORE_TENANT_SIZE];
	char key_id[STORE_ID_SIZE];
	char container_id[STORE_ID_SIZE];
	char vm_id[STORE_ID_SIZE];
	char exec_id[STORE_ID_SIZE];
	char response_id[STORE_ID_SIZE];
	char origin[STORE_NAME_SIZE];
	char kind[STORE_WORD_SIZE];
	char detail[STORE_WORD_SIZE];
	uint64_t amount;
	usec_t at_usec;
};

/**
 * struct store_idempotency - What was answered to an Idempotency-Key
 * @answer:	Id of the object that the first request made
 */
struct store_idempotency {
	char tenant[STORE_TENANT_SIZE];
	char key[STORE_NAME_SIZE];
	uint8_t body_sha256[HASH_SIZE];
	char answer[STORE_ID_SIZE];
	usec_t created_usec;
};

/**
 * struct store_definition - What is kept by name, in versions
 * @kind:	A word of core's: names are unique within it
 * @default_version: The one that counts where none is named
 * @last_version: The newest that there ever was: numbers are not used again
 * @profile:	What is kept beside the versions
 */
struct store_definition {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE];        /* fixed */
	char kind[STORE_WORD_SIZE];            /* fixed */
	char project[STORE_PROJECT_SIZE];      /* fixed */
	char name[STORE_DEFINITION_NAME_SIZE]; /* fixed */
	uint64_t default_version;
	uint64_t last_version;
	bool disabled;
	char profile[STORE_PROFILE_SIZE];
	usec_t created_usec; /* fixed */
	usec_t updated_usec;
};

/** struct store_definition_version - A version of one; never changed */
struct store_definition_version {
	char id[STORE_ID_SIZE];
	char definition_id[STORE_ID_SIZE];     /* fixed */
	char tenant[STORE_TENANT_SIZE];        /* fixed; the definition's */
	uint64_t version;                      /* fixed */
	bool draft;                            /* fixed */
	char text[STORE_DEFINITION_TEXT_SIZE]; /* fixed */
	usec_t created_usec;                   /* fixed */
};

/**
 * struct store_conversation - A conversation (conv_…)
 * @changed_usec: From when on it is kept
 * @items, @item_bytes: How many it has, and their size; set by the store
 * @metadata:	JSON, kept as it is
 */
struct store_conversation {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* fixed */
	usec_t created_usec;            /* fixed */
	usec_t changed_usec;
	uint64_t items;
	uint64_t item_bytes;
	struct store_text metadata;
};

/**
 * struct store_response - A response (resp_…) without its items
 * @key_id:	Who asked; "" on the Unix socket
 * @previous:	What it goes on from; need not be there any more
 * @conversation: Whose conversation its items were appended to; or ""
 * @open:	Still under way
 * @json:	Kept as it is
 */
struct store_response {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE]; /* fixed */
	char key_id[STORE_ID_SIZE];     /* fixed */
	char previous[STORE_ID_SIZE];   /* fixed */
	char conversation[STORE_ID_SIZE];
	bool open;
	usec_t created_usec; /* fixed */
	usec_t changed_usec;
	uint64_t items;
	uint64_t item_bytes;
	struct store_text json;
};

/**
 * struct store_item - An item, in a conversation or in a response
 * @id:		Of its talk's choosing: other talks may have another of it
 * @owner:	The conversation or response
 * @output, @position: Of a response: which of its two lists, and where in it
 * @json:	Kept as it is, once for all places where a tenant has it
 */
struct store_item {
	char id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE];
	char owner[STORE_ID_SIZE];
	bool output;
	uint32_t position;
	struct store_text json;
};

/** struct store_conversation_container - Where an agent of one runs its code */
struct store_conversation_container {
	char conversation_id[STORE_ID_SIZE];
	char tenant[STORE_TENANT_SIZE];
	char agent[STORE_AGENT_SIZE]; /* "": none */
	char id[STORE_ID_SIZE];       /* cntr_… */
};

#endif
