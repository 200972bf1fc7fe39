/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container.h"

#include <errno.h>
#include <string.h>

#include "core/vm.h"

/*
 * Whose turn it is.
 *
 * One execution runs at a time, up to CORE_QUEUE_MAX wait. The guest keeps what
 * it finished until it is released, which happens once the record is on our
 * disk; it keeps at most WIRE_RETAINED_MAX, so with a slow disk the next one
 * waits for that too.
 *
 * A link that was lost changes nothing here: the guest goes on, and when it
 * greets again the two sides compare what they have.
 */

static void queue_remove(struct container *c, struct exec *e)
{
	TAILQ_REMOVE(&c->queue, e, in_list);
	e->listed = false;
	c->queued--;
}

static void unreleased_remove(struct container *c, struct exec *e)
{
	TAILQ_REMOVE(&c->unreleased, e, in_list);
	e->listed = false;
	c->unreleased_count--;
}

void container_exec_add(struct container *c, struct exec *e)
{
	TAILQ_INSERT_TAIL(&c->queue, e, in_list);
	e->listed = true;
	c->queued++;
	container_pump(c);
}

void container_exec_remove(struct container *c, struct exec *e)
{
	queue_remove(c, e);
}

/* The guest has one that we thought was waiting, or did not know. */
static void container_resume(struct container *c, struct exec *e)
{
	if (e->listed)
		queue_remove(c, e);
	e->in_guest = false;
	c->running = e;
	exec_resume(e);
	session_set_executing(c, true);
}

/* A link that goes is followed by another, which pumps; one without memory stays. */
static void pump_again(struct container *c, const struct exec *e, int r)
{
	log_debug(&e->scope, "Cannot send: %s", strerror(-r));
	timer_set_after(c->pump, CONTAINER_PUMP_USEC);
}

static void on_pump(struct timer *t, void *userdata)
{
	(void)t;
	container_pump(userdata);
}

int container_init_pump(struct container *c)
{
	return timer_new(c->core->event, c->core->guest_clock, "exec-pump",
			 on_pump, c, &c->pump);
}

void container_pump(struct container *c)
{
	struct exec *e = TAILQ_FIRST(&c->queue);
	int r;

	if (c->running && c->running->resend && vm_linked(c->vm)) {
		r = exec_send(c->running);
		c->running->resend = r < 0;
		if (r < 0)
			pump_again(c, c->running, r);
		return;
	}
	if (!e || e->accepting || c->running ||
	    c->state != SESSION_VIEW_RUNNING || !vm_linked(c->vm) ||
	    c->unreleased_count >= WIRE_RETAINED_MAX)
		return;
	if (e->in_guest) {
		container_resume(c, e);
		/* Without a link the next greeting attaches. */
		(void)exec_attach(e);
		return;
	}
	r = exec_send(e);
	if (r < 0) {
		pump_again(c, e, r);
		return;
	}
	queue_remove(c, e);
	c->running = e;
	session_set_executing(c, true);
}

void container_exec_over(struct container *c, struct exec *e)
{
	strcpy(c->last_exec, e->id);
	c->last_status = e->status;
	c->last_ended_usec = e->ended_usec;
	if (c->running != e) {
		if (e->listed)
			queue_remove(c, e);
		drain_work_over(c);
		return;
	}
	c->running = NULL;
	TAILQ_INSERT_TAIL(&c->unreleased, e, in_list);
	e->listed = true;
	c->unreleased_count++;
	if (c->state == SESSION_VIEW_STOPPING) {
		/* The harvest waited for it; before it has begun, it is asked
		 * for when all that stop together have, and the intent is
		 * written down. */
		if (c->harvesting && !harvest_start(c))
			container_destroy_vm(c);
		return;
	}
	session_set_executing(c, false);
	reaper_touch(c);
	container_pump(c);
	reaper_check(c);
	drain_work_over(c);
}

void container_exec_saved(struct container *c, struct exec *e)
{
	if (!e->listed)
		return;
	unreleased_remove(c, e);
	/*
	 * Without a link the next greeting releases it. In a session that stops
	 * it may be one that was lost: the guest still runs it, would take a
	 * RELEASE for a breach and hang up before its last files are here.
	 */
	if (c->state != SESSION_VIEW_STOPPING && vm_linked(c->vm) &&
	    guest_link_release(c->vm->link, e->number) < 0)
		vm_relink(c->vm);
	container_pump(c);
}

void container_lose_execs(struct container *c)
{
	struct exec *e;

	if (c->running && c->running->state == EXEC_STATE_RUNNING)
		exec_lose(c->running, c->reason);
	while ((e = TAILQ_FIRST(&c->queue)))
		exec_lose(e, c->reason);
}

/* ------------------------------------------------------------- the guest */

static struct exec *find_number(struct container *c, uint32_t number)
{
	struct exec *e;

	if (c->running && c->running->number == number)
		return c->running;
	TAILQ_FOREACH (e, &c->unreleased, in_list)
		if (e->number == number)
			return e;
	return NULL;
}

int container_exec_frame(struct container *c, const struct frame *f,
			 struct error *err)
{
	struct exec *e = c->running;

	/* After the end of the session what still arrives is of no use. */
	if (session_state_expired(c->state))
		return 0;
	if (!e || e->number != f->call || e->state != EXEC_STATE_RUNNING)
		return error_set(err, ERR_GUEST,
				 "the guest spoke of an "
				 "execution that does not run");
	return exec_frame(e, f, err);
}

void container_restore_exec(struct container *c, struct exec *e)
{
	if (e->state == EXEC_STATE_RUNNING) {
		c->running = e;
		session_set_executing(c, true);
	} else {
		TAILQ_INSERT_TAIL(&c->queue, e, in_list);
		e->listed = true;
		c->queued++;
	}
	if (e->number >= c->next_number)
		c->next_number = e->number + 1;
}

void container_detach_execs(struct container *c)
{
	struct exec *e;

	while ((e = TAILQ_FIRST(&c->queue))) {
		queue_remove(c, e);
		exec_detach(e);
	}
	while ((e = TAILQ_FIRST(&c->unreleased))) {
		unreleased_remove(c, e);
		exec_detach(e);
	}
	if (c->running)
		exec_detach(c->running);
	c->running = NULL;
}

/*
 * A daemon that was killed may have lost the row of what it had just accepted.
 * The guest's word is enough to take it up: the id has the form of ours, is
 * nobody else's, and all it can lead to is a record in this container.
 *
 * Return: 1 if it was taken up, 0 if not
 */
static int greeted_unknown(struct container *c,
			   const struct message_hello_exec *known)
{
	struct store_execution row;
	char id[ID_SIZE] = "";
	struct exec *e;
	int r;

	if (known->id.size >= sizeof(id))
		return 0;
	memcpy(id, known->id.data, known->id.size);
	if (!id_is(ID_EXEC, id) || map_get(&c->core->execs, id) || c->running ||
	    store_execution_get(c->core->store, c->tenant->id, c->id, id,
				&row) >= 0)
		return 0;
	r = exec_adopt(c, id, known->call, &e);
	if (r < 0)
		return r;
	container_resume(c, e);
	r = exec_attach(e);
	return r < 0 ? r : 1;
}

static int greeted_exec(struct container *c,
			const struct message_hello_exec *known)
{
	struct exec *e = find_number(c, known->call);
	int r = 0;

	if (known->call >= c->next_number)
		c->next_number = known->call + 1;
	if (!e)
		TAILQ_FOREACH (e, &c->queue, in_list)
			if (e->restored && e->number == known->call)
				break;
	if (e && e->state == EXEC_STATE_QUEUED) {
		/*
		 * A daemon that was killed may have had two of them sent and
		 * neither noted. One after the other, as ever: what the guest
		 * keeps is sent only once it was attached to.
		 */
		e->in_guest = c->running != NULL;
		if (!e->in_guest)
			container_resume(c, e);
	}
	if (e)
		return e->state == EXEC_STATE_RUNNING ? exec_attach(e) : 0;
	if (c->vm->restored)
		r = greeted_unknown(c, known);
	/* What is over on our disk, the guest may forget. */
	if (r == 0 && known->finished)
		r = guest_link_release(c->vm->link, known->call);
	return r;
}

static bool hello_has(const struct message_hello *hello, uint32_t call)
{
	size_t i;

	for (i = 0; i < hello->count; i++)
		if (hello->exec[i].call == call)
			return true;
	return false;
}

/* What we believe to run and the guest does not know never arrived there. */
static void resend_running(struct container *c)
{
	struct exec *e = c->running;

	if (!e->code) {
		log_warning(&e->scope, 0,
			    "The guest does not know the "
			    "execution, and its source is gone");
		exec_lose(e, END_HOST_RESTART);
		return;
	}
	/* Once READY has come. */
	e->resend = true;
}

/* Each call once, and none that no daemon can have given it. */
static int hello_check(const struct container *c,
		       const struct message_hello *hello, struct error *err)
{
	/* The daemon before may have numbered what is not on our disk. */
	uint32_t end = c->vm->restored ? LINK_REQUEST_FIRST - 1 :
					 c->next_number;
	size_t i, j;

	for (i = 0; i < hello->count; i++) {
		for (j = 0; j < i; j++)
			if (hello->exec[j].call == hello->exec[i].call)
				return error_set(err, ERR_GUEST,
						 "the guest keeps an execution "
						 "twice");
		if (hello->exec[i].call >= end)
			return error_set(err, ERR_GUEST,
					 "the guest keeps executions "
					 "that nobody gave it");
	}
	return 0;
}

int container_greeted(struct container *c, const struct message_hello *hello,
		      struct error *err)
{
	size_t i;
	int r;

	if (session_state_expired(c->state))
		return 0;
	r = hello_check(c, hello, err);
	if (r < 0)
		return r;
	for (i = 0; i < hello->count; i++) {
		r = greeted_exec(c, &hello->exec[i]);
		if (r < 0)
			return error_set_errno(err, r,
					       "Cannot take up an execution");
	}
	if (c->running && c->running->state == EXEC_STATE_RUNNING &&
	    !hello_has(hello, c->running->number))
		resend_running(c);
	return 0;
}
