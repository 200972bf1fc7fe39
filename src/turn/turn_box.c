/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "turn/turn_priv.h"

/*
 * The container that a turn's code runs in: one that is named, the one that
 * belongs to the talk as long as it lives, or a new one, made when it is needed.
 */

static struct core *core_of(const struct turn *t)
{
	return t->turns->config.core;
}

/* A turn that has to take another one has had one all the time. */
static void take(struct turn *t, const char *id)
{
	strcpy(t->box.id, id);
	if (t->box.since_usec == 0)
		t->box.since_usec = clock_boot(t->turns->config.clock);
}

/* -------------------------------------------------------------- what became of it */

static void note_file(void *userdata, const struct cfile_view *file)
{
	struct buf *left = &((struct turn *)userdata)->box.left;

	(void)buf_add_str(left, "left in the old one: ");
	(void)result_path(left, file->path);
	(void)buf_printf(left, ", %llu bytes\n",
			 (unsigned long long)file->bytes);
}

/* The model must not be left to guess why its variables are gone. */
static void note_lost(struct turn *t, const char *id, const char *why)
{
	const struct core_page page = { .limit = 20 };
	struct buf *note = &t->box.note;
	bool more = false;

	(void)buf_printf(note,
			 "This is a new container: the one of earlier calls is "
			 "gone. %s Its variables, imports and files do not "
			 "exist here; what is needed has to be made again.\n",
			 why);
	if (core_cfile_list(core_of(t), &t->who, id, &page, note_file, t,
			    &more, NULL) < 0 ||
	    t->box.left.length == 0)
		return;
	(void)buf_add_str(note, "The user can still download files of the old "
				"one; those lines begin with 'left'.\n");
	if (more)
		(void)buf_add_str(&t->box.left, "left in the old one: others\n");
}

static bool is_alive(struct turn *t, const char *id)
{
	struct error why = ERROR_INIT;
	struct container_view view;

	if (core_container_live(core_of(t), &t->who, id, &view, &why) >= 0)
		return true;
	note_lost(t, id, why.message);
	return false;
}

/* ----------------------------------------------------------------------- its files */

/* So much of a file is handed over at a time. */
enum { DATA_PIECE = 64 << 10 };

/* Whether it is not there yet. */
static bool is_wanted(const struct turn *t, const struct context_file *file)
{
	const struct context *c = &t->context;

	if (strcmp(c->settled, t->box.id) == 0 && file->given)
		return false;
	/* One that is gone meanwhile cannot be given. */
	return file->data || core_file_get(core_of(t), &t->who, file->id,
					   &(struct file_view){ .bytes = 0 },
					   NULL) >= 0;
}

static int put_files(struct turn *t, struct error *err);

static void go_on(struct turn *t, int r, const struct error *err)
{
	t->box.busy = false;
	if (t->state != TURN_ANSWERING)
		turn_release(t);
	else if (r < 0)
		turn_fail(t, err);
	else
		turn_show(t);
}

static void on_copied(void *userdata, const struct cfile_view *file,
		      const struct error *failure)
{
	struct turn *t = turn_redeem(userdata);
	struct error err = ERROR_INIT;
	int r = 0;

	(void)file;
	if (!t)
		return;
	if (t->state == TURN_ANSWERING && error_is_set(failure)) {
		err = *failure;
		r = -EIO;
	} else if (t->state == TURN_ANSWERING) {
		r = put_files(t, &err);
		if (r == 0)
			return;
	}
	go_on(t, r, &err);
}

/* Below the directory, as core has it. */
static const char *name_of(const struct context_file *file)
{
	return file->path + strlen("/mnt/data/");
}

static int put_data(struct turn *t, struct error *err);

/* The disk has room again for more of it. */
static void on_room(void *userdata)
{
	struct turn *t = userdata;
	struct error err = ERROR_INIT;
	int r;

	r = put_data(t, &err);
	if (r < 0)
		go_on(t, r, &err);
}

static int finish_data(struct turn *t, const struct context_file *file,
		       struct error *err)
{
	struct ticket *ticket = turn_ticket(t);
	int r;

	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot give a file");
	t->box.file_at++;
	r = core_cfile_create(core_of(t), &t->who, t->box.id, name_of(file),
			      t->box.upload, on_copied, ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	else
		t->box.upload = NULL;
	return r;
}

/* Return: 0; on_room() or on_copied() follows */
static int put_data(struct turn *t, struct error *err)
{
	const struct context_file *file = &t->context.files[t->box.file_at];
	struct box *box = &t->box;
	int r = 0;

	while (r >= 0 && box->sent < file->bytes) {
		size_t left = (size_t)file->bytes - box->sent;
		size_t size = left < DATA_PIECE ? left : DATA_PIECE;

		r = core_upload_write(box->upload, file->data + box->sent,
				      size, err);
		if (r == -EAGAIN)
			return 0;
		box->sent += size;
	}
	return r < 0 ? r : finish_data(t, file, err);
}

static int put_bytes(struct turn *t, const struct context_file *file,
		     struct error *err)
{
	int r;

	t->box.sent = 0;
	r = core_upload_new(core_of(t), &t->who, t->box.id, file->bytes,
			    on_room, t, &t->box.upload, err);
	return r < 0 ? r : put_data(t, err);
}

static int put_upload(struct turn *t, const struct context_file *file,
		      struct error *err)
{
	struct ticket *ticket = turn_ticket(t);
	int r;

	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot give a file");
	t->box.file_at++;
	r = core_cfile_copy(core_of(t), &t->who, t->box.id, file->id,
			    name_of(file), on_copied, ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	return r;
}

/* Return: 1 when all are there; 0: on_copied() follows */
static int put_files(struct turn *t, struct error *err)
{
	const struct context *c = &t->context;
	const struct context_file *file;
	int r;

	while (t->box.file_at < c->file_count &&
	       !is_wanted(t, &c->files[t->box.file_at]))
		t->box.file_at++;
	if (t->box.file_at == c->file_count) {
		t->box.ready = true;
		return 1;
	}
	file = &c->files[t->box.file_at];
	r = file->data ? put_bytes(t, file, err) : put_upload(t, file, err);
	t->box.busy = r >= 0;
	return r < 0 ? r : 0;
}

void turn_box_stop(struct turn *t)
{
	core_upload_free(take_ptr(t->box.upload));
}

/* ---------------------------------------------------------------------- a new one */

static void on_ignored(void *userdata, const struct error *err)
{
	(void)userdata;
	(void)err;
}

static void on_bound(void *userdata, const struct error *failure)
{
	struct turn *t = turn_redeem(userdata);
	struct error err = ERROR_INIT;
	int r = 0;

	if (!t)
		return;
	if (t->state == TURN_ANSWERING) {
		if (error_is_set(failure))
			err = *failure;
		r = error_is_set(failure) ? -EIO : put_files(t, &err);
		if (r == 0)
			return;
	}
	go_on(t, r, &err);
}

/* From now on it is this one that the talk has. */
static int bind(struct turn *t, struct error *err)
{
	struct ticket *ticket;
	int r;

	if (!t->ask.conversation[0])
		return put_files(t, err);
	ticket = turn_ticket(t);
	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot make a container");
	r = core_conversation_bind(core_of(t), &t->who, t->ask.conversation,
				   t->agent, t->box.id, on_bound, ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	return r < 0 ? r : 0;
}

static void on_created(void *userdata, const struct container_view *container,
		       const struct error *failure)
{
	struct turn *t = turn_redeem(userdata);
	struct error err = ERROR_INIT;
	int r;

	if (!t)
		return;
	if (error_is_set(failure)) {
		err = *failure;
		go_on(t, -EIO, &err);
		return;
	}
	if (t->state != TURN_ANSWERING) {
		/* Nobody knows of it. */
		(void)core_container_delete(core_of(t), &t->who, container->id,
					    on_ignored, NULL, NULL);
		turn_release(t);
		return;
	}
	take(t, container->id);
	t->box.file_at = 0;
	r = bind(t, &err);
	if (r != 0)
		go_on(t, r, &err);
}

static int create(struct turn *t, struct error *err)
{
	const struct container_spec spec = {
		.name = "auto",
		.dialect = t->dialect,
		.memory = t->ask.tools.memory,
		.origin = turn_origin(t),
	};
	struct ticket *ticket;
	int r;

	ticket = turn_ticket(t);
	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot make a container");
	r = core_container_create(core_of(t), &t->who, &spec, on_created,
				  ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	t->box.busy = r >= 0;
	return r < 0 ? error_wrap(err, r, "The code interpreter has no container")
		     : 0;
}

/* ------------------------------------------------------------------------- which */

/* In a conversation it is the pair's own, whatever others have used. */
static void find_earlier(struct turn *t, char ret[ID_SIZE])
{
	ret[0] = '\0';
	if (t->ask.tools.container[0])
		strcpy(ret, t->ask.tools.container);
	else if (t->ask.conversation[0])
		(void)core_conversation_container(core_of(t), &t->who,
						  t->ask.conversation, t->agent,
						  ret, NULL);
	else
		strcpy(ret, t->context.container);
}

void turn_box_find(struct turn *t, char ret[ID_SIZE])
{
	struct container_view view;

	find_earlier(t, ret);
	if (ret[0] && (core_container_get(core_of(t), &t->who, ret, false,
					  &view, NULL) < 0 ||
		       view.expired))
		ret[0] = '\0';
}

int turn_box_open(struct turn *t, struct error *err)
{
	struct box *box = &t->box;
	bool named = t->ask.tools.container[0] != '\0';
	char id[ID_SIZE];

	if (box->busy)
		return 0;
	if (box->ready) {
		/* A named one cannot be replaced: its item will say so. */
		if (named || is_alive(t, box->id))
			return 1;
		box->ready = false;
		return create(t, err);
	}
	if (!box->looked) {
		box->looked = true;
		find_earlier(t, id);
		if (id[0] && (named || is_alive(t, id))) {
			take(t, id);
			return put_files(t, err);
		}
	}
	return create(t, err);
}
