#ifndef CUPOLA_BASE_ID_H
#define CUPOLA_BASE_ID_H

/*
 * Ids and random bytes.
 *
 * An id is a prefix that tells the kind and at least 128 random bits, in
 * letters, digits, '_' and '-', and never longer than 64 characters. It is not
 * guessable, but it is no secret either: what protects an object is its tenant.
 *
 * Those that are long enough have the second in which they were made before the
 * random bits, as the ids of hosted services do. So new rows of a table lie beside
 * each other in its index by id: a write touches one page of it, and not a page
 * for each row, however many rows there are. Nothing reads the time out of an id.
 */

#include <stdbool.h>
#include <stddef.h>

/** enum id_kind - What an id stands for */
enum id_kind {
	ID_FILE,           /* file- */
	ID_UPLOAD,         /* upload_: a file that arrives in parts */
	ID_PART,           /* part_ */
	ID_CONTAINER,      /* cntr_ */
	ID_CONTAINER_FILE, /* cfile_ */
	ID_EXEC,           /* exec_ */
	ID_VM,             /* vm_; short, because it is part of socket paths */
	ID_REQUEST,        /* req_ */
	ID_TOOLBOX,         /* tbx_ */
	ID_TOOLBOX_VERSION, /* tbxv_ */
	ID_AGENT,           /* agt_ */
	ID_AGENT_VERSION,   /* agtv_ */
	ID_MCP_SESSION,     /* mcp_: 256 random bits, since it is a secret */
	ID_TENANT,         /* tnt_ */
	ID_RESPONSE,       /* resp_ */
	ID_CONVERSATION,   /* conv_ */
	ID_MESSAGE,        /* msg_: an item, as the following */
	ID_CODE_CALL,      /* ci_ */
	ID_FUNCTION_CALL,  /* fc_ */
	ID_FUNCTION_OUTPUT, /* fco_ */
	ID_REASONING,      /* rs_ */
	ID_KEY,            /* key_: names an API key in lists */
	ID_KEY_SECRET,     /* ck- : the API key itself, 256 random bits */

	ID_KIND_COUNT,
};

enum {
	ID_MAX = 64,
	ID_SIZE = ID_MAX + 1,
};

/**
 * id_new() - Draw a new id
 * @kind:	What for
 * @ret_id:	The id
 *
 * Return: 0, or a negative errno if the kernel has no random bytes
 */
int id_new(enum id_kind kind, char ret_id[ID_SIZE]);

/**
 * id_is() - Whether a string has exactly the form of such an id
 * @kind:	What it should be
 * @id:		Any string, of a client for example
 *
 * What is not of the form cannot exist, so it need not be looked up.
 */
bool id_is(enum id_kind kind, const char *id);

/** id_prefix() - What the ids of a kind begin with, as in "cntr_" */
const char *id_prefix(enum id_kind kind);

/**
 * random_bytes() - Bytes that nobody can foresee
 * @ret_data:	Room for them
 * @size:	How many
 *
 * Return: 0 or a negative errno
 */
int random_bytes(void *ret_data, size_t size);

#endif
