#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "vmd/vmd_calls.h"

int calls_add(struct calls *calls, const struct call *model)
{
	struct call *call;

	if (calls->count >= VMD_CALLS_MAX)
		return -EAGAIN;
	call = malloc(sizeof(*call));
	if (!call)
		return -ENOMEM;
	*call = *model;
	call->next = NULL;
	if (calls->last)
		calls->last->next = call;
	else
		calls->first = call;
	calls->last = call;
	calls->count++;
	return 0;
}

/* Unlinks and returns the call, or NULL. */
static struct call *calls_take(struct calls *calls, uint64_t serial)
{
	struct call **at, *previous = NULL, *call;

	for (at = &calls->first; (call = *at); at = &call->next) {
		if (call->serial == serial)
			break;
		previous = call;
	}
	if (!call)
		return NULL;
	*at = call->next;
	if (calls->last == call)
		calls->last = previous;
	calls->count--;
	return call;
}

void calls_drop(struct calls *calls, uint64_t serial)
{
	free(calls_take(calls, serial));
}

struct call *calls_find(struct calls *calls, uint64_t serial)
{
	struct call *call;

	for (call = calls->first; call; call = call->next)
		if (call->serial == serial)
			return call;
	return NULL;
}

/*
 * What each answer carries, and how its callback is called. fd is a pointer so
 * that a callback which takes the descriptor can leave -1.
 */

static void end_plain(struct call *call, int r, const struct error *err,
		      const void *body, int *fd)
{
	(void)body;
	(void)fd;
	call->done.plain(r, err, call->userdata);
}

static void end_create(struct call *call, int r, const struct error *err,
		       const void *body, int *fd)
{
	(void)fd;
	call->done.create(r, r < 0 ? NULL : body, err, call->userdata);
}

static void end_fd(struct call *call, int r, const struct error *err,
		   const void *body, int *fd)
{
	(void)body;
	call->done.fd(r, r < 0 ? -1 : take_fd(*fd), err, call->userdata);
}

static void end_inspect(struct call *call, int r, const struct error *err,
			const void *body, int *fd)
{
	(void)fd;
	call->done.inspect(r, r < 0 ? NULL : body, err, call->userdata);
}

static void end_console(struct call *call, int r, const struct error *err,
			const void *body, int *fd)
{
	const struct vmd_console *console = body;
	void *data = NULL;
	size_t length = 0;

	if (r >= 0 && console->length > 0) {
		length = console->length;
		data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, *fd, 0);
		if (data == MAP_FAILED) {
			struct error mine = ERROR_INIT;

			r = error_set_errno(&mine, -errno,
					    "Cannot map the console");
			call->done.console(r, NULL, 0, 0, &mine,
					   call->userdata);
			return;
		}
	}
	call->done.console(r, data, length, r < 0 ? 0 : console->total, err,
			   call->userdata);
	if (data)
		(void)munmap(data, length);
}

static void end_probe(struct call *call, int r, const struct error *err,
		      const void *body, int *fd)
{
	(void)fd;
	call->done.probe(r, r < 0 ? NULL : body, err, call->userdata);
}

static const struct {
	size_t body_size;
	bool fd;
	void (*end)(struct call *call, int r, const struct error *err,
		    const void *body, int *fd);
} kinds[] = {
	[VMD_CREATE]	= { sizeof(struct vmd_created), false, end_create },
	[VMD_DESTROY]	= { 0, false, end_plain },
	[VMD_DEADLINE]	= { 0, false, end_plain },
	[VMD_DIAL]	= { sizeof(struct vmd_dialled), true, end_fd },
	[VMD_LIST]	= { 0, false, end_plain },
	[VMD_INSPECT]	= { sizeof(struct vmd_details), false, end_inspect },
	[VMD_CONSOLE]	= { sizeof(struct vmd_console), true, end_console },
	[VMD_PROBE]	= { sizeof(struct vmd_probed), false, end_probe },
	[VMD_RELOAD]	= { 0, false, end_plain },
	[VMD_NMI]	= { 0, false, end_plain },
	[VMD_MANIFEST]	= { 0, true, end_fd },
};

static void call_end(struct call *call, int r, const struct error *err,
		     const void *body, int *fd)
{
	if (!call->cancelled)
		kinds[call->type].end(call, r, err, body, fd);
	free(call);
}

/* Whether an answer fits its call; its body begins after struct vmd_answer. */
int calls_check(const struct call *call, const struct vmd_packet *packet)
{
	const struct vmd_answer *answer = packet->body;
	const struct vmd_details *details;
	const struct vmd_probed *probed;
	const void *body = answer + 1;
	bool good = answer->result >= 0;

	if (packet->size != sizeof(*answer) + kinds[call->type].body_size ||
	    !vmd_is_string(answer->message, sizeof(answer->message)) ||
	    answer->code >= ERR_CODE_COUNT || good != (answer->code == 0) ||
	    (good && kinds[call->type].fd) != (packet->fd >= 0))
		return -EPROTO;
	if (call->type == VMD_CONSOLE)
		return ((const struct vmd_console *)body)->length >
		       VMD_CONSOLE_SIZE ? -EPROTO : 0;
	if (call->type == VMD_INSPECT && good) {
		details = body;
		return vmd_is_string(details->image, sizeof(details->image)) &&
		       vmd_is_string(details->digest, sizeof(details->digest)) &&
		       vmd_is_string(details->vm.vm_id, VMD_ID_MAX) &&
		       vmd_is_string(details->vm.pool, VMD_NAME_MAX) ? 0 : -EPROTO;
	}
	if (call->type == VMD_PROBE && good) {
		probed = body;
		return vmd_is_string(probed->reason, sizeof(probed->reason)) ?
			0 : -EPROTO;
	}
	return 0;
}

int calls_answer(struct calls *calls, struct vmd_packet *packet)
{
	const struct vmd_answer *answer = packet->body;
	struct error err = ERROR_INIT;
	struct call *call;

	call = calls_take(calls, packet->serial);
	if (!call)
		return -EPROTO;
	if (answer->result < 0)
		(void)error_set(&err, answer->code, "%s", answer->message);
	call_end(call, answer->result, &err, answer + 1, &packet->fd);
	return 0;
}

void calls_fail(struct calls *calls)
{
	struct call *call, *next = calls->first;
	struct error err = ERROR_INIT;
	int fd = -1;

	(void)error_set(&err, ERR_HYPERVISOR,
			"the connection to the hypervisor process was lost");
	*calls = (struct calls){};
	while ((call = next)) {
		next = call->next;
		call_end(call, -ECONNRESET, &err, NULL, &fd);
	}
}
