/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"

/**
 * struct upstream_said_call - One call
 * @key:	The server's count
 * @id:		What the context will call it
 * @given:	The server's id, or ""
 * @name:	"" until it is known
 * @kept:	Arguments that were not passed on yet
 * @size:	Bytes of all
 * @told:	That it began was told
 * @complete:	Nothing more comes
 */
struct upstream_said_call {
	int64_t key;
	char id[ID_SIZE];
	char given[ID_SIZE];
	char name[UPSTREAM_NAME_MAX + 1];
	struct buf kept;
	size_t size;
	bool told;
	bool complete;
};

void upstream_answer_init(struct upstream_answer *a,
			  const struct upstream_events *events, void *userdata)
{
	*a = (struct upstream_answer){ .events = events,
				       .userdata = userdata };
}

void upstream_answer_done(struct upstream_answer *a)
{
	unsigned i;

	for (i = 0; i < a->count; i++)
		buf_done(&a->calls[i].kept);
	free(a->calls);
	a->calls = NULL;
	a->count = 0;
}

static void tell(struct upstream_answer *a,
		 void (*fn)(void *userdata, const char *data, size_t size),
		 const char *data, size_t size)
{
	if (a->closed || size == 0)
		return;
	a->spoken = true;
	fn(a->userdata, data, size);
}

void upstream_answer_text(struct upstream_answer *a, const char *data,
			  size_t size)
{
	tell(a, a->events->text, data, size);
}

void upstream_answer_refusal(struct upstream_answer *a, const char *data,
			     size_t size)
{
	tell(a, a->events->refusal, data, size);
}

void upstream_answer_reasoning(struct upstream_answer *a, const char *data,
			       size_t size)
{
	tell(a, a->events->reasoning, data, size);
}

void upstream_answer_encrypted(struct upstream_answer *a, const char *data,
			       size_t size)
{
	tell(a, a->events->encrypted, data, size);
}

/* ---------------------------------------------------------------- calls */

static struct upstream_said_call *find(const struct upstream_answer *a,
				       int64_t key)
{
	unsigned i;

	/* The newest of a key: some servers count all their calls as 0. */
	for (i = a->count; i > 0; i--)
		if (a->calls[i - 1].key == key)
			return &a->calls[i - 1];
	return NULL;
}

/*
 * Whether a piece begins another call. With a key, it does if the key or the
 * id is new; without one, if it has an id that is new, or no id and a name
 * while the call before has arguments already.
 */
static bool begins(const struct upstream_said_call *last,
		   const struct upstream_piece *piece)
{
	if (!last)
		return true;
	if (piece->id && *piece->id)
		return last->given[0] && strncmp(last->given, piece->id,
						 sizeof(last->given) - 1) != 0;
	return !piece->has_key && piece->name && *piece->name &&
	       last->name[0] && last->size > 0;
}

/* Ids become part of what clients send back, so only good ones are kept. */
static bool id_is_usable(const struct upstream_answer *a, const char *id)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	unsigned i;

	if (!id || !*id || strlen(id) > ID_MAX || id[strspn(id, good)])
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->calls[i].id, id) == 0)
			return false;
	return true;
}

static int choose_id(const struct upstream_answer *a, const char *given,
		     char id[ID_SIZE], struct error *err)
{
	uint8_t bytes[12];
	char hex[2 * sizeof(bytes) + 1];
	int r;

	if (id_is_usable(a, given)) {
		(void)snprintf(id, ID_SIZE, "%s", given);
		return 0;
	}
	r = random_bytes(bytes, sizeof(bytes));
	if (r < 0)
		return error_set_errno(err, r, "Cannot name a call");
	hex_encode(bytes, sizeof(bytes), hex);
	(void)snprintf(id, ID_SIZE, "call_%s", hex);
	return 0;
}

static struct upstream_said_call *add(struct upstream_answer *a,
				      const struct upstream_piece *piece,
				      struct error *err)
{
	struct upstream_said_call *grown, *call;

	if (a->count == UPSTREAM_CALLS_MAX) {
		error_set(err, ERR_UPSTREAM,
			  "The model made more than %d calls at once",
			  UPSTREAM_CALLS_MAX);
		return NULL;
	}
	grown = reallocarray(a->calls, a->count + 1, sizeof(*grown));
	if (!grown) {
		error_set_errno(err, -ENOMEM, "Cannot take a call");
		return NULL;
	}
	a->calls = grown;
	call = &grown[a->count];
	*call = (struct upstream_said_call){
		.key = piece->has_key ? piece->key : 0,
		.kept = BUF_INIT(UPSTREAM_CALL_BYTES_MAX),
	};
	if (choose_id(a, piece->id, call->id, err) < 0)
		return NULL;
	a->count++;
	return call;
}

static int take_names(struct upstream_said_call *call,
		      const struct upstream_piece *piece, struct error *err)
{
	if (piece->id && !call->given[0])
		(void)snprintf(call->given, sizeof(call->given), "%s",
			       piece->id);
	if (!piece->name || call->name[0])
		return 0;
	if (strlen(piece->name) > UPSTREAM_NAME_MAX)
		return error_set(err, ERR_UPSTREAM,
				 "The model called a function with a name of "
				 "more than %d bytes", UPSTREAM_NAME_MAX);
	(void)snprintf(call->name, sizeof(call->name), "%s", piece->name);
	return 0;
}

/* Tells what is known of the open call; the call may have been freed then. */
static void tell_call(struct upstream_answer *a,
		      struct upstream_said_call *call)
{
	unsigned index = (unsigned)(call - a->calls);

	if (a->closed || !call->name[0])
		return;
	if (!call->told) {
		call->told = true;
		a->spoken = true;
		a->events->call(a->userdata, index, call->id, call->name);
	}
	if (call->kept.length > 0 && !a->closed)
		a->events->arguments(a->userdata, index,
				     buf_str(&call->kept), call->kept.length);
	buf_done(&call->kept);
}

static void tell_ready(struct upstream_answer *a)
{
	while (a->open < a->count) {
		struct upstream_said_call *call = &a->calls[a->open];

		tell_call(a, call);
		/* Behind one that ended without a name none is told: it is
		 * the answer's failure. */
		if (!call->complete || !call->told || a->open + 1 == a->count)
			return;
		a->open++;
	}
}

int upstream_answer_call(struct upstream_answer *a,
			 const struct upstream_piece *piece, struct error *err)
{
	struct upstream_said_call *call = NULL;
	int r;

	if (piece->has_key)
		call = find(a, piece->key);
	else if (a->count > 0)
		call = &a->calls[a->count - 1];
	if (begins(call, piece))
		call = add(a, piece, err);
	if (!call)
		return -EIO;
	r = take_names(call, piece, err);
	if (r < 0)
		return r;
	call->size += piece->size;
	if (call->size > UPSTREAM_CALL_BYTES_MAX)
		return error_set(err, ERR_UPSTREAM,
				 "The model called a function with more than "
				 "%d bytes", UPSTREAM_CALL_BYTES_MAX);
	r = buf_add(&call->kept, piece->arguments, piece->size);
	if (r < 0)
		return error_set_errno(err, r, "Cannot take a call");
	tell_ready(a);
	return 0;
}

size_t upstream_answer_call_size(const struct upstream_answer *a, int64_t key)
{
	const struct upstream_said_call *call = find(a, key);

	return call ? call->size : 0;
}

static int check_name(const struct upstream_said_call *call, struct error *err)
{
	if (call->name[0])
		return 0;
	return error_set(err, ERR_UPSTREAM,
			 "The model called a function without a name");
}

int upstream_answer_call_end(struct upstream_answer *a, int64_t key,
			     struct error *err)
{
	struct upstream_said_call *call = find(a, key);

	if (!call)
		return 0;
	call->complete = true;
	tell_ready(a);
	return check_name(call, err);
}

void upstream_answer_finish(struct upstream_answer *a,
			    enum upstream_finish finish)
{
	a->finished = true;
	a->finish = finish;
}

int upstream_answer_end(struct upstream_answer *a, struct error *err)
{
	unsigned i;
	int r;

	for (i = a->open; i < a->count && !a->closed; i++) {
		r = check_name(&a->calls[i], err);
		if (r < 0)
			return r;
		a->open = i;
		tell_call(a, &a->calls[i]);
	}
	return 0;
}
