#ifndef VMD_CALLS_H
#define VMD_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "vmd/vmd_link.h"
#include "vmd/vmd_proto.h"

/*
 * The calls of a client that wait for their answer, and how each kind of
 * answer is handed to its callback. Private to the client side.
 *
 * They are a list in the order of asking. Answers come mostly in that order
 * too, so that a search ends at once.
 */

/* Each type of call has its own callback; the request's type says which. */
union call_done {
	void (*plain)(int r, const struct error *err, void *userdata);
	void (*create)(int r, const struct vmd_created *created,
		       const struct error *err, void *userdata);
	void (*fd)(int r, int fd, const struct error *err, void *userdata);
	void (*inspect)(int r, const struct vmd_details *details,
			const struct error *err, void *userdata);
	void (*console)(int r, const void *data, uint64_t length,
			uint64_t total, const struct error *err,
			void *userdata);
	void (*probe)(int r, const struct vmd_probed *probed,
		      const struct error *err, void *userdata);
};

struct call {
	struct call *next;
	uint64_t serial;
	enum vmd_type type;
	bool cancelled;
	union call_done done;
	void (*item)(const struct vmd_vm *vm, void *userdata);
	void *userdata;
};

struct calls {
	struct call *first, *last;
	size_t count;
};

/**
 * calls_add() - Remember a call
 * @model:	Copied, but for @next
 *
 * Return: 0, -EAGAIN with VMD_CALLS_MAX in the list, or -ENOMEM
 */
int calls_add(struct calls *calls, const struct call *model);

/** calls_find() - The call with a serial, or NULL */
struct call *calls_find(struct calls *calls, uint64_t serial);

/** calls_drop() - Forget a call without a word */
void calls_drop(struct calls *calls, uint64_t serial);

/**
 * calls_answer() - Hand an answer to its call, which ends with it
 * @packet:	VMD_ANSWER, at least as big as struct vmd_answer
 *
 * Return: 0, or -EPROTO if it fits no call
 */
int calls_answer(struct calls *calls, struct vmd_packet *packet);

/** calls_check() - Whether an answer fits its call: 0 or -EPROTO */
int calls_check(const struct call *call, const struct vmd_packet *packet);

/**
 * calls_fail() - Answer all calls with -ECONNRESET
 *
 * The list is empty when the first callback runs, so that calls made by
 * callbacks are not among them.
 */
void calls_fail(struct calls *calls);

#endif
