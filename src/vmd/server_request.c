#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/name.h"
#include "vmd/server_private.h"

/*
 * The requests, by table. Each handler checks what the structs cannot: that an
 * id has the form of one, since it becomes part of paths, that a pool is of the
 * current table, and that a CID is free.
 */

/* CIDs below are the host's, ours for probing, or likely to be taken. */
#define CID_FIRST 0x10000

void server_answer_body(struct server *server, uint64_t serial, int r,
			const struct error *err, const void *body, size_t size,
			int fd)
{
	struct vmd_answer answer = { .result = r };

	if (r < 0) {
		answer.code = error_is_set(err) ? err->code : ERR_INTERNAL;
		memcpy(answer.message, err->message,
		       utf8_cut(err->message, strlen(err->message),
				sizeof(answer.message) - 1));
	}
	/* Without memory the peer would wait for ever: let it begin anew. */
	if (!server->link ||
	    vmd_link_send(server->link, VMD_ANSWER, serial, &answer,
			  sizeof(answer), body, size, fd) < 0) {
		close_fd(&fd);
		if (server->link)
			(void)sd_event_exit(server->host->event, EXIT_FAILURE);
	}
}

void server_answer(struct server *server, uint64_t serial, int r,
		   const struct error *err)
{
	server_answer_body(server, serial, r, err, NULL, 0, -1);
}

/* Failures answer with a body as well: zeros. */
void server_answer_zeros(struct server *server, uint64_t serial, int r,
			 const struct error *err, size_t size)
{
	static const char zeros[VMD_PACKET_MAX];

	server_answer_body(server, serial, r, err, zeros, size, -1);
}

static int no_such_vm(struct error *err, const char *vm_id)
{
	(void)error_set(err, ERR_NOT_FOUND, "There is no VM '%s'", vm_id);
	return -ENOENT;
}

/* A machine that cupolad may know of, or NULL. */
static struct machine *find(struct server *server, const char *vm_id)
{
	struct machine *m = machine_find(server->host, vm_id);

	return m && !m->record.hidden ? m : NULL;
}

static int wait_for(struct server *server, uint64_t serial, enum vmd_type type,
		    const char *vm_id)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->serial = serial;
	w->type = type;
	strcpy(w->vm_id, vm_id);
	w->next = server->waiting;
	server->waiting = w;
	return 0;
}

/* Unlinks and returns one that waits for a VM in this way, or NULL. */
static struct waiting *take_waiting(struct server *server, enum vmd_type type,
				    const char *vm_id)
{
	struct waiting **at, *w;

	for (at = &server->waiting; (w = *at); at = &w->next)
		if (w->type == type && strcmp(w->vm_id, vm_id) == 0) {
			*at = w->next;
			return w;
		}
	return NULL;
}

static void answer_destroys(struct server *server, const char *vm_id)
{
	struct waiting *w;

	while ((w = take_waiting(server, VMD_DESTROY, vm_id))) {
		server_answer(server, w->serial, 0, NULL);
		free(w);
	}
}

static void on_created(struct machine *m, int r,
		       const struct vmd_created *created,
		       const struct error *err, void *userdata)
{
	struct server *server = userdata;
	struct waiting *w;

	w = take_waiting(server, VMD_CREATE, m->record.vm_id);
	if (w && r < 0)
		server_answer_zeros(server, w->serial, r, err, sizeof(*created));
	else if (w)
		server_answer_body(server, w->serial, 0, NULL, created,
				   sizeof(*created), -1);
	else if (r < 0)
		(void)log_warning(&m->scope, 0, "%s", err->message);
	free(w);
	if (r < 0)
		answer_destroys(server, m->record.vm_id);
}

static void on_gone(struct machine *m, void *userdata)
{
	struct server *server = userdata;
	struct vmd_gone gone = {
		.reason = m->reason,
		.wait_status = m->wait_status,
		.cpu_usec = m->cpu_usec,
		.cpu_exact = m->cpu_exact,
	};

	strcpy(gone.vm_id, m->record.vm_id);
	if (server->ready)
		server_send(server, VMD_GONE, 0, &gone, sizeof(gone));
	answer_destroys(server, m->record.vm_id);
}

const struct machine_watch server_watch = {
	.created = on_created,
	.gone = on_gone,
};

static bool memory_is_offered(uint32_t memory_mib)
{
	static const uint32_t tiers[] = VMD_MEMORY_TIERS;
	size_t i;

	for (i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++)
		if (memory_mib == tiers[i])
			return true;
	return memory_mib == 0;
}

/* Whether a VM may be made as asked; gives the result and the sentence. */
static int check_create(struct server *server, const struct vmd_create *c,
			const struct pool **ret_pool, struct error *err)
{
	const struct pool *pool = pools_find(server->host->pools,
					     c->generation, c->pool);

	if (!vmd_is_string(c->vm_id, sizeof(c->vm_id)) ||
	    !id_is(ID_VM, c->vm_id) || c->cid < CID_FIRST ||
	    c->cid == UINT32_MAX || !memory_is_offered(c->memory_mib)) {
		(void)error_set(err, ERR_INTERNAL, "the request is malformed");
		return -EINVAL;
	}
	if (!pool) {
		(void)error_set(err, ERR_CONFLICT,
				"the pool table has changed");
		return -ESTALE;
	}
	if (pool->problem[0])
		return error_set(err, ERR_HYPERVISOR, "%s", pool->problem);
	if (machine_find(server->host, c->vm_id)) {
		(void)error_set(err, ERR_CONFLICT, "VM '%s' exists already",
				c->vm_id);
		return -EEXIST;
	}
	if (machine_uses_cid(server->host, c->cid)) {
		(void)error_set(err, ERR_CONFLICT, "CID %u is in use", c->cid);
		return -EADDRINUSE;
	}
	*ret_pool = pool;
	return 0;
}

static int create(struct server *server, uint64_t serial,
		  const struct vmd_create *c, struct error *err)
{
	const struct pool *pool = NULL;
	struct machine *m = NULL;
	struct record record;
	int r;

	r = check_create(server, c, &pool, err);
	if (r < 0)
		return r;
	r = record_fill(&record, server->host, pool, c->vm_id);
	if (r >= 0) {
		if (c->memory_mib)
			record.memory_mib = c->memory_mib;
		record.cid = c->cid;
		record.deadline_usec = c->deadline_usec;
		r = machine_new(server->host, &record, &server_watch, server,
				&m);
	}
	if (r >= 0)
		r = machine_create(m, pool, c->nonce);
	if (r >= 0)
		r = wait_for(server, serial, VMD_CREATE, c->vm_id);
	if (r < 0 && m && m->creating)
		machine_end(m, VMD_REASON_DESTROYED);
	else if (r < 0 && m)
		machine_free(m);
	if (r == -EAGAIN) {
		(void)error_set(err, ERR_CAPACITY,
				"too many VMs are being created");
		return r;
	}
	if (r < 0)
		return error_set_errno(err, r, "Cannot create a VM");
	return 0;
}

static int got_create(struct server *server, uint64_t serial, const void *body)
{
	struct error err = ERROR_INIT;
	int r;

	r = create(server, serial, body, &err);
	if (r < 0)
		server_answer_zeros(server, serial, r, &err,
				    sizeof(struct vmd_created));
	return 0;
}

static int got_destroy(struct server *server, uint64_t serial,
		       const void *body)
{
	const struct vmd_name *name = body;
	struct error err = ERROR_INIT;
	struct machine *m;
	int r = 0;

	m = find(server, name->vm_id);
	if (!m)
		r = no_such_vm(&err, name->vm_id);
	if (!m || m->state == VMD_STATE_GONE) {
		server_answer(server, serial, r, &err);
		return 0;
	}
	/* A client that cannot be remembered is answered by hanging up. */
	r = wait_for(server, serial, VMD_DESTROY, name->vm_id);
	if (r >= 0)
		machine_end(m, VMD_REASON_DESTROYED);
	return r;
}

static int got_deadline(struct server *server, uint64_t serial,
			const void *body)
{
	const struct vmd_deadline *deadline = body;
	struct error err = ERROR_INIT;
	struct machine *m;
	int r = 0;

	m = find(server, deadline->vm_id);
	if (!m || m->state == VMD_STATE_GONE)
		r = no_such_vm(&err, deadline->vm_id);
	else
		machine_set_deadline(m, deadline->deadline_usec);
	server_answer(server, serial, r, &err);
	return 0;
}

static void forget_dialling(struct server *server, struct dialling *dialling)
{
	struct dialling **at;

	for (at = &server->dialling; *at; at = &(*at)->next)
		if (*at == dialling) {
			*at = dialling->next;
			break;
		}
	free(dialling);
}

static void on_dialled(struct dial *dial, int r, int fd, unsigned attempts,
		       usec_t usec, void *userdata)
{
	const struct vmd_dialled body = { .attempts = attempts, .usec = usec };
	struct dialling *d = userdata;
	struct error err = ERROR_INIT;

	(void)dial;
	if (r == -ETIMEDOUT)
		(void)error_set(&err, ERR_GUEST, "the guest accepted no "
						 "connection in time");
	else if (r < 0)
		(void)error_set(&err, ERR_NOT_FOUND, "the VM has ended");
	server_answer_body(d->server, d->serial, r, &err, &body, sizeof(body), fd);
	forget_dialling(d->server, d);
}

static int got_dial(struct server *server, uint64_t serial, const void *body)
{
	const struct vmd_dial *request = body;
	struct error err = ERROR_INIT;
	struct dialling *d = NULL;
	struct machine *m;
	int r = 0;

	m = find(server, request->vm_id);
	if (!m || m->state >= VMD_STATE_STOPPING) {
		r = no_such_vm(&err, request->vm_id);
	} else {
		d = calloc(1, sizeof(*d));
		r = d ? dial_start(m, request->deadline_usec, on_dialled, d,
				   &d->dial) : -ENOMEM;
		if (r < 0)
			(void)error_set_errno(&err, r, "Cannot dial");
	}
	if (r < 0) {
		free(d);
		server_answer_zeros(server, serial, r, &err,
				    sizeof(struct vmd_dialled));
		return 0;
	}
	d->server = server;
	d->serial = serial;
	d->next = server->dialling;
	server->dialling = d;
	return 0;
}

static int got_cancel(struct server *server, uint64_t serial, const void *body)
{
	const struct vmd_cancel *cancel = body;
	struct error err = ERROR_INIT;
	struct dialling *d;

	(void)serial;
	for (d = server->dialling; d; d = d->next)
		if (d->serial == cancel->serial)
			break;
	if (!d)
		return 0;	/* answered already, and that is on its way */
	dial_cancel(d->dial);
	(void)error_set(&err, ERR_CONFLICT, "the dial was cancelled");
	server_answer_zeros(server, d->serial, -ECANCELED, &err,
			    sizeof(struct vmd_dialled));
	forget_dialling(server, d);
	return 0;
}

static int got_list(struct server *server, uint64_t serial, const void *body)
{
	struct machine *m;
	struct vmd_vm vm;

	(void)body;
	for (m = server->host->machines; m; m = m->next) {
		if (m->freed || m->record.hidden)
			continue;
		machine_describe(m, &vm);
		server_send(server, VMD_ITEM, serial, &vm, sizeof(vm));
	}
	server_answer(server, serial, 0, NULL);
	return 0;
}

static int got_inspect(struct server *server, uint64_t serial,
		       const void *body)
{
	const struct vmd_name *name = body;
	struct vmd_details details = {};
	struct error err = ERROR_INIT;
	struct machine *m;
	int r = 0;

	m = find(server, name->vm_id);
	if (m)
		machine_inspect(m, &details);
	else
		r = no_such_vm(&err, name->vm_id);
	server_answer_body(server, serial, r, &err, &details, sizeof(details), -1);
	return 0;
}

static int got_console(struct server *server, uint64_t serial,
		       const void *body)
{
	const struct vmd_name *name = body;
	struct vmd_console console = {};
	struct error err = ERROR_INIT;
	struct machine *m;
	int fd;

	m = find(server, name->vm_id);
	fd = m ? console_export(&m->console, &console) :
		 no_such_vm(&err, name->vm_id);
	if (fd < 0)
		(void)error_set_errno(&err, fd, "Cannot copy the console");
	server_answer_body(server, serial, fd < 0 ? fd : 0, &err, &console,
			   sizeof(console), fd < 0 ? -1 : fd);
	return 0;
}

static int got_nmi(struct server *server, uint64_t serial, const void *body)
{
	const struct vmd_name *name = body;
	struct error err = ERROR_INIT;
	struct machine *m;
	int r;

	m = find(server, name->vm_id);
	r = m ? machine_nmi(m) : -ENOENT;
	if (r == -ENOENT)
		r = no_such_vm(&err, name->vm_id);
	else if (r < 0)
		(void)error_set_errno(&err, r, "Cannot interrupt the VM");
	server_answer(server, serial, r, &err);
	return 0;
}

static int got_manifest(struct server *server, uint64_t serial,
			const void *body)
{
	const struct vmd_pool_at *at = body;
	const struct pool *pool = pools_find(server->host->pools,
					     at->generation, at->pool);
	struct error err = ERROR_INIT;
	int fd;

	if (!pool)
		fd = error_set(&err, ERR_CONFLICT,
			       "the pool table has changed");
	else if (pool->problem[0])
		fd = error_set(&err, ERR_HYPERVISOR, "%s", pool->problem);
	else
		fd = image_open_manifest(&pool->image, &err);
	server_answer_body(server, serial, fd < 0 ? fd : 0, &err, NULL, 0,
			   fd < 0 ? -1 : fd);
	return 0;
}

/*
 * What may be asked. A body that is @named begins with a VM's id, which has its
 * NUL by the time that a handler sees it.
 */
static const struct {
	size_t size;
	bool named;
	int (*got)(struct server *server, uint64_t serial, const void *body);
} requests[] = {
	[VMD_CREATE]	= { sizeof(struct vmd_create), false, got_create },
	[VMD_DESTROY]	= { sizeof(struct vmd_name), true, got_destroy },
	[VMD_DEADLINE]	= { sizeof(struct vmd_deadline), true, got_deadline },
	[VMD_DIAL]	= { sizeof(struct vmd_dial), true, got_dial },
	[VMD_CANCEL]	= { sizeof(struct vmd_cancel), false, got_cancel },
	[VMD_LIST]	= { 0, false, got_list },
	[VMD_INSPECT]	= { sizeof(struct vmd_name), true, got_inspect },
	[VMD_CONSOLE]	= { sizeof(struct vmd_name), true, got_console },
	[VMD_PROBE]	= { sizeof(struct vmd_probe), false, server_got_probe },
	[VMD_RELOAD]	= { 0, false, server_got_reload },
	[VMD_NMI]	= { sizeof(struct vmd_name), true, got_nmi },
	[VMD_MANIFEST]	= { sizeof(struct vmd_pool_at), false, got_manifest },
};
static_assert(offsetof(struct vmd_name, vm_id) == 0 &&
	      offsetof(struct vmd_deadline, vm_id) == 0 &&
	      offsetof(struct vmd_dial, vm_id) == 0,
	      "a named body does not begin with the id");

int server_got(struct vmd_packet *packet, void *userdata)
{
	struct server *server = userdata;

	if (!server->ready || packet->serial == 0 || packet->fd >= 0 ||
	    packet->type >= sizeof(requests) / sizeof(requests[0]) ||
	    !requests[packet->type].got ||
	    packet->size != requests[packet->type].size)
		return -EPROTO;
	if (requests[packet->type].named &&
	    !vmd_is_string(packet->body, VMD_ID_MAX))
		return -EPROTO;
	return requests[packet->type].got(server, packet->serial,
					  packet->body);
}
