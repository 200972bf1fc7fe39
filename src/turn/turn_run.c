/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "turn/result.h"
#include "turn/turn_priv.h"

/* Running the code of one call, and what is told of it to user and model. */

/* Output comes with the view at the end; pieces on the way are of no use. */
enum { PIECE_MAX = 64 << 10 };

static struct core *core_of(const struct turn *t)
{
	return t->turns->config.core;
}

static struct part *running_part(struct turn *t)
{
	return &t->round->parts[t->round->at];
}

void turn_run_stop(struct turn *t)
{
	exec_watch_free(take_ptr(t->run.watch));
	if (t->run.exec[0])
		(void)core_exec_interrupt(core_of(t), &t->who, t->run.container,
					  t->run.exec, NULL);
	t->run.exec[0] = '\0';
}

/* ------------------------------------------------------------------------ its end */

static int close_call(struct turn *t, struct part *part, enum out_status status)
{
	int r = 0;

	if (status != OUT_FAILED)
		r = turn_event(t, EVENT_CODE_COMPLETED, part->item, 0);
	t->items[part->item].status = status;
	part->stage = PART_DONE;
	return r < 0 ? r : turn_event(t, EVENT_ITEM_DONE, part->item, 0);
}

static int tell_model(struct turn *t, struct part *part,
		      const struct exec_view *exec, const struct buf *logs,
		      unsigned figures)
{
	_cleanup_(buf_done) struct buf files =
		BUF_INIT(4 * t->turns->result_max);
	_cleanup_(buf_done) struct buf notes = BUF_INIT(64 << 10);
	struct result result = {
		.id = t->items[part->item].id,
		.secret = t->turns->secret,
		.text = buf_str(logs),
		.size = logs->length,
		.max_bytes = t->turns->result_max,
		.figures = figures,
	};

	/* More files than a model can be told of are in the citations. */
	(void)buf_add(&notes, t->box.note.data, t->box.note.length);
	(void)buf_add(&files, t->box.left.data, t->box.left.length);
	if (buf_check(&t->box.note) < 0 || buf_check(&t->box.left) < 0)
		return -ENOMEM;
	buf_clear(&t->box.note);
	buf_clear(&t->box.left);
	(void)result_notes(exec, &notes);
	(void)result_files(exec, &files);
	if (buf_check(&notes) < 0 || buf_check(&files) < 0)
		return -ENOMEM;
	result.notes = buf_str(&notes);
	result.files = buf_str(&files);
	return result_write(&result, &part->output);
}

static int finish_call(struct turn *t, const struct exec_view *exec)
{
	struct part *part = running_part(t);
	_cleanup_(buf_done) struct buf logs = BUF_INIT(TURN_LOGS_MAX);
	unsigned figures = 0;
	int r;

	r = result_logs(exec, &logs);
	if (r >= 0)
		r = result_outputs(core_of(t), &t->who, exec, &logs,
				   &t->items[part->item].outputs, &figures);
	if (r >= 0)
		r = turn_made(t, exec);
	if (r >= 0)
		r = tell_model(t, part, exec, &logs, figures);
	t->run.exec[0] = '\0';
	return r < 0 ? r
		     : close_call(t, part, exec->status == EXEC_SESSION_LOST
						   ? OUT_FAILED
						   : OUT_COMPLETED);
}

/* It could not even begin, or not be followed. */
static int fail_call(struct turn *t, const struct error *why)
{
	struct part *part = running_part(t);
	int r;

	r = buf_printf(&part->output,
		       "The code was not run: %s.\n",
		       why->code == ERR_INTERNAL ? "an internal error"
						 : why->message);
	return r < 0 ? r : close_call(t, part, OUT_FAILED);
}

static void go_on(struct turn *t, int r)
{
	struct error err = ERROR_INIT;

	if (r >= 0) {
		turn_show(t);
		return;
	}
	error_set_errno(&err, r, "Cannot tell what code has come to");
	turn_fail(t, &err);
}

/* ------------------------------------------------------------------------ on its way */

static void on_progress(void *userdata)
{
	struct turn *t = userdata;
	struct exec_event event = { .type = EXEC_EVENT_STARTED };
	const struct error lost = {
		.code = ERR_INTERNAL,
	};
	int r;

	do {
		r = exec_watch_next(t->run.watch, PIECE_MAX, &event);
	} while (r > 0 && event.type != EXEC_EVENT_DONE);
	if (r == 0)
		return;
	r = r > 0 ? finish_call(t, event.view) : fail_call(t, &lost);
	exec_watch_free(take_ptr(t->run.watch));
	go_on(t, r);
}

static void on_accepted(void *userdata, const struct exec_view *exec,
			const struct error *failure)
{
	struct turn *t = turn_redeem(userdata);
	struct error err = ERROR_INIT;
	int r;

	if (!t)
		return;
	if (!error_is_set(failure))
		strcpy(t->run.exec, exec->id);
	if (t->state != TURN_ANSWERING) {
		turn_run_stop(t);
		turn_release(t);
		return;
	}
	if (error_is_set(failure)) {
		go_on(t, fail_call(t, failure));
		return;
	}
	r = exec_watch_new(core_of(t), &t->who, t->run.container, t->run.exec,
			   0, on_progress, t, &t->run.watch, &err);
	if (r < 0)
		go_on(t, fail_call(t, &err));
	else
		on_progress(t);
}

int turn_run(struct turn *t, struct part *part, struct error *err)
{
	const struct out_item *item = &t->items[part->item];
	const struct exec_spec spec = {
		.code = buf_str(&item->text),
		.code_len = item->text.length,
		.spill = true,
		.request = t->request,
		.trace = trace_parent(&t->trace),
	};
	struct ticket *ticket = turn_ticket(t);
	struct error why = ERROR_INIT;
	int r;

	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot run code");
	strcpy(t->run.container, item->container);
	r = core_exec_start(core_of(t), &t->who, item->container, &spec,
			    on_accepted, ticket, &why);
	if (r >= 0)
		return 0;
	(void)turn_redeem(ticket);
	return fail_call(t, &why);
}
