#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "vmd/vmd.h"
#include "vmd/vmd_calls.h"
#include "vmd/vmd_link.h"

/*
 * vmd is not trusted to be free of bugs, only to be ours: a message that does
 * not fit ends the connection, as a death of vmd would.
 */

struct vmd_client {
	sd_event *event;
	struct vmd_handlers handlers;
	void *userdata;
	struct vmd_link *link;
	struct calls calls;
	uint64_t serial;
	bool ready;
	struct vmd_hello hello;
	/* vmd's last words, if it refused to start; else empty */
	char refusal[VMD_MESSAGE_MAX];
};

static void client_drop_link(struct vmd_client *client)
{
	vmd_link_free(take_ptr(client->link));
	client->ready = false;
	calls_fail(&client->calls);
}

static bool pool_is_sound(const struct vmd_pool *pool)
{
	return vmd_is_string(pool->name, sizeof(pool->name)) &&
	       vmd_is_string(pool->image, sizeof(pool->image)) &&
	       vmd_is_string(pool->digest, sizeof(pool->digest)) &&
	       vmd_is_string(pool->problem, sizeof(pool->problem));
}

static bool hello_is_sound(const struct vmd_hello *hello)
{
	uint32_t i;

	if (hello->pool_count > VMD_POOLS_MAX ||
	    !vmd_is_string(hello->uri, sizeof(hello->uri)) ||
	    !vmd_is_string(hello->reason, sizeof(hello->reason)))
		return false;
	for (i = 0; i < hello->pool_count; i++)
		if (!pool_is_sound(&hello->pools[i]))
			return false;
	return true;
}

static int got_hello(struct vmd_client *client, struct vmd_packet *packet)
{
	const struct vmd_hello *hello = packet->body;

	/* The version comes first, whatever the size: it explains the size. */
	if (packet->size < sizeof(hello->version))
		return -EPROTO;
	if (hello->version != VMD_VERSION) {
		strcpy(client->refusal, "cupola-vmd is of another version "
					"than cupolad: install both anew");
		return -EPROTO;
	}
	if (packet->size != sizeof(*hello) || !hello_is_sound(hello))
		return -EPROTO;
	client->hello = *hello;
	client->ready = true;
	client->handlers.ready(&client->hello, client->userdata);
	return 0;
}

static int got_changed(struct vmd_client *client, struct vmd_packet *packet)
{
	const struct vmd_hello *hello = packet->body;

	if (packet->size != sizeof(*hello) || !hello_is_sound(hello))
		return -EPROTO;
	client->hello = *hello;
	if (client->handlers.changed)
		client->handlers.changed(&client->hello, client->userdata);
	return 0;
}

static int got_progress(struct vmd_client *client, struct vmd_packet *packet)
{
	const struct vmd_sentence *sentence = packet->body;

	if (packet->size != sizeof(*sentence) ||
	    !vmd_is_string(sentence->text, sizeof(sentence->text)))
		return -EPROTO;
	if (client->handlers.progress)
		client->handlers.progress(sentence->text, client->userdata);
	return 0;
}

static int got_refused(struct vmd_client *client, struct vmd_packet *packet)
{
	const struct vmd_sentence *sentence = packet->body;

	if (packet->size != sizeof(*sentence) ||
	    !vmd_is_string(sentence->text, sizeof(sentence->text)))
		return -EPROTO;
	memcpy(client->refusal, sentence->text, sizeof(client->refusal));
	return 0;
}

static int got_gone(struct vmd_client *client, struct vmd_packet *packet)
{
	const struct vmd_gone *gone = packet->body;

	if (packet->size != sizeof(*gone) ||
	    !vmd_is_string(gone->vm_id, sizeof(gone->vm_id)))
		return -EPROTO;
	client->handlers.vm_gone(gone, client->userdata);
	return 0;
}

static int got_item(struct vmd_client *client, struct vmd_packet *packet)
{
	struct call *call = calls_find(&client->calls, packet->serial);
	const struct vmd_vm *vm = packet->body;

	if (!call || call->type != VMD_LIST || packet->size != sizeof(*vm) ||
	    !vmd_is_string(vm->vm_id, sizeof(vm->vm_id)) ||
	    !vmd_is_string(vm->pool, sizeof(vm->pool)))
		return -EPROTO;
	call->item(vm, call->userdata);
	return 0;
}

static int got_answer(struct vmd_client *client, struct vmd_packet *packet)
{
	struct call *call;
	int r;

	if (packet->size < sizeof(struct vmd_answer))
		return -EPROTO;
	call = calls_find(&client->calls, packet->serial);
	if (!call)
		return -EPROTO;
	r = calls_check(call, packet);
	if (r < 0)
		return r;
	return calls_answer(&client->calls, packet);
}

/* What vmd may say, and whether only before HELLO or only after it. */
static const struct {
	enum vmd_type type;
	bool ready;
	int (*got)(struct vmd_client *client, struct vmd_packet *packet);
} accepted[] = {
	{ VMD_PROGRESS,	false,	got_progress },
	{ VMD_HELLO,	false,	got_hello },
	{ VMD_REFUSED,	false,	got_refused },
	{ VMD_HELLO,	true,	got_changed },
	{ VMD_ANSWER,	true,	got_answer },
	{ VMD_ITEM,	true,	got_item },
	{ VMD_GONE,	true,	got_gone },
};

static int on_client_packet(struct vmd_packet *packet, void *userdata)
{
	struct vmd_client *client = userdata;
	size_t i;

	for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
		if (accepted[i].type == packet->type &&
		    accepted[i].ready == client->ready)
			return accepted[i].got(client, packet);
	return -EPROTO;
}

static void on_client_lost(int r, void *userdata)
{
	struct vmd_client *client = userdata;

	(void)r;
	client_drop_link(client);
	client->handlers.lost(client->refusal[0] ? client->refusal : NULL,
			      client->userdata);
}

int vmd_client_new(sd_event *event, const struct vmd_handlers *handlers,
		   void *userdata, struct vmd_client **ret_client)
{
	struct vmd_client *client;

	assert(handlers->ready && handlers->vm_gone && handlers->lost);
	client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	client->event = sd_event_ref(event);
	client->handlers = *handlers;
	client->userdata = userdata;
	*ret_client = client;
	return 0;
}

void vmd_client_free(struct vmd_client *client)
{
	if (!client)
		return;
	client_drop_link(client);
	sd_event_unref(client->event);
	free(client);
}

int vmd_client_attach(struct vmd_client *client, int fd)
{
	static const struct vmd_link_handlers handlers = {
		.got = on_client_packet,
		.lost = on_client_lost,
	};
	struct vmd_link *link = NULL;
	int r;

	r = vmd_link_new(client->event, fd, &handlers, client, &link);
	if (r < 0)
		return r;
	client_drop_link(client);
	client->refusal[0] = '\0';
	client->link = link;
	return 0;
}

const struct vmd_hello *vmd_client_hello(const struct vmd_client *client)
{
	return client->ready ? &client->hello : NULL;
}

/* Sends a request and remembers who is to have its answer. */
static int client_call(struct vmd_client *client, enum vmd_type type,
		       const void *body, size_t size, const struct call *model,
		       uint64_t *ret_serial)
{
	struct call call = *model;
	int r;

	if (!client->ready)
		return -ENOTCONN;
	call.type = type;
	call.serial = ++client->serial;
	r = calls_add(&client->calls, &call);
	if (r < 0)
		return r;
	r = vmd_link_send(client->link, type, call.serial, body, size, NULL,
			  0, -1);
	if (r < 0) {
		calls_drop(&client->calls, call.serial);
		return r;
	}
	if (ret_serial)
		*ret_serial = call.serial;
	return 0;
}

/* The id as it goes on the wire: the rest of the array is zero. */
static int put_id(char to[VMD_ID_MAX], const char *vm_id)
{
	size_t length = strlen(vm_id);

	if (length == 0 || length >= VMD_ID_MAX)
		return -EINVAL;
	memset(to, 0, VMD_ID_MAX);
	memcpy(to, vm_id, length);
	return 0;
}

/* A request that names a VM and says no more. */
static int client_call_name(struct vmd_client *client, enum vmd_type type,
			    const char *vm_id, const struct call *model)
{
	struct vmd_name name;

	if (put_id(name.vm_id, vm_id) < 0)
		return -EINVAL;
	return client_call(client, type, &name, sizeof(name), model, NULL);
}

int vmd_client_create(struct vmd_client *client, const struct vmd_create *vm,
		      void (*done)(int r, const struct vmd_created *created,
				   const struct error *err, void *userdata),
		      void *userdata)
{
	const struct call model = { .done.create = done,
				    .userdata = userdata };

	if (vm->vm_id[0] == '\0' || !vmd_is_string(vm->vm_id, sizeof(vm->vm_id)))
		return -EINVAL;
	return client_call(client, VMD_CREATE, vm, sizeof(*vm), &model, NULL);
}

int vmd_client_destroy(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const struct error *err,
				    void *userdata),
		       void *userdata)
{
	const struct call model = { .done.plain = done, .userdata = userdata };

	return client_call_name(client, VMD_DESTROY, vm_id, &model);
}

int vmd_client_set_deadline(struct vmd_client *client, const char *vm_id,
			    uint64_t deadline_usec,
			    void (*done)(int r, const struct error *err,
					 void *userdata),
			    void *userdata)
{
	const struct call model = { .done.plain = done, .userdata = userdata };
	struct vmd_deadline deadline = { .deadline_usec = deadline_usec };

	if (put_id(deadline.vm_id, vm_id) < 0)
		return -EINVAL;
	return client_call(client, VMD_DEADLINE, &deadline, sizeof(deadline),
			   &model, NULL);
}

int vmd_client_dial(struct vmd_client *client, const char *vm_id,
		    uint64_t deadline_usec,
		    void (*done)(int r, int fd, const struct error *err,
				 void *userdata),
		    void *userdata, uint64_t *ret_call)
{
	const struct call model = { .done.fd = done, .userdata = userdata };
	struct vmd_dial dial = { .deadline_usec = deadline_usec };

	if (put_id(dial.vm_id, vm_id) < 0)
		return -EINVAL;
	return client_call(client, VMD_DIAL, &dial, sizeof(dial), &model,
			   ret_call);
}

void vmd_client_cancel_dial(struct vmd_client *client, uint64_t serial)
{
	struct call *call = calls_find(&client->calls, serial);
	const struct vmd_cancel cancel = { .serial = serial };

	if (!call || call->type != VMD_DIAL)
		return;
	/* It stays in the list: an answer is coming, with a descriptor maybe. */
	call->cancelled = true;
	/* If this cannot be sent, the dial ends at its deadline. */
	(void)vmd_link_send(client->link, VMD_CANCEL, ++client->serial,
			    &cancel, sizeof(cancel), NULL, 0, -1);
}

int vmd_client_list(struct vmd_client *client,
		    void (*item)(const struct vmd_vm *vm, void *userdata),
		    void (*done)(int r, const struct error *err,
				 void *userdata),
		    void *userdata)
{
	const struct call model = { .done.plain = done, .item = item,
				    .userdata = userdata };

	return client_call(client, VMD_LIST, NULL, 0, &model, NULL);
}

int vmd_client_inspect(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const struct vmd_details *details,
				    const struct error *err, void *userdata),
		       void *userdata)
{
	const struct call model = { .done.inspect = done,
				    .userdata = userdata };

	return client_call_name(client, VMD_INSPECT, vm_id, &model);
}

int vmd_client_console(struct vmd_client *client, const char *vm_id,
		       void (*done)(int r, const void *data, uint64_t length,
				    uint64_t total, const struct error *err,
				    void *userdata),
		       void *userdata)
{
	const struct call model = { .done.console = done,
				    .userdata = userdata };

	return client_call_name(client, VMD_CONSOLE, vm_id, &model);
}

int vmd_client_nmi(struct vmd_client *client, const char *vm_id,
		   void (*done)(int r, const struct error *err,
				void *userdata),
		   void *userdata)
{
	const struct call model = { .done.plain = done, .userdata = userdata };

	return client_call_name(client, VMD_NMI, vm_id, &model);
}

int vmd_client_probe(struct vmd_client *client, uint32_t pool,
		     enum vmd_accelerator accelerator,
		     void (*done)(int r, const struct vmd_probed *probed,
				  const struct error *err, void *userdata),
		     void *userdata)
{
	const struct call model = { .done.probe = done, .userdata = userdata };
	const struct vmd_probe probe = {
		.generation = client->hello.generation,
		.pool = pool,
		.accelerator = accelerator,
	};

	return client_call(client, VMD_PROBE, &probe, sizeof(probe), &model,
			   NULL);
}

int vmd_client_manifest(struct vmd_client *client, uint32_t pool,
			void (*done)(int r, int fd, const struct error *err,
				     void *userdata),
			void *userdata)
{
	const struct call model = { .done.fd = done, .userdata = userdata };
	const struct vmd_pool_at at = {
		.generation = client->hello.generation,
		.pool = pool,
	};

	return client_call(client, VMD_MANIFEST, &at, sizeof(at), &model,
			   NULL);
}

int vmd_client_reload(struct vmd_client *client,
		      void (*done)(int r, const struct error *err,
				   void *userdata),
		      void *userdata)
{
	const struct call model = { .done.plain = done, .userdata = userdata };

	return client_call(client, VMD_RELOAD, NULL, 0, &model, NULL);
}
