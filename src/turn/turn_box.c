/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
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
	struct turn *t = userdata;

	(void)buf_printf(&t->box.note, " %s (%llu bytes),", file->path,
			 (unsigned long long)file->bytes);
}

/* The model must not be left to guess why its variables are gone. */
static void note_lost(struct turn *t, const char *id, const char *why)
{
	const struct core_page page = { .limit = 20 };
	struct buf *note = &t->box.note;
	size_t before;
	bool more = false;

	(void)buf_printf(note,
			 "This is a new container: the one of earlier calls is "
			 "gone (%s). Its variables, imports and files do not "
			 "exist here; what is needed has to be made again.\n",
			 why);
	before = note->length;
	(void)buf_add_str(note, "The user can still download from the old one:");
	if (core_cfile_list(core_of(t), &t->who, id, &page, note_file, t,
			    &more, NULL) < 0 ||
	    note->data[note->length - 1] == ':') {
		buf_truncate(note, before);
		return;
	}
	buf_truncate(note, note->length - 1);
	(void)buf_add_str(note, more ? " and others.\n" : ".\n");
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

/* The i-th of the files that a container has to be given, or NULL. */
static const char *file_at(const struct turn *t, size_t i, bool fresh_only)
{
	const struct tool_set *tools = &t->ask.tools;
	const struct context *c = &t->context;

	if (i < tools->file_count)
		return tools->file_ids[i];
	for (size_t k = 0, n = tools->file_count; k < c->file_count; k++)
		if ((c->files[k].fresh || !fresh_only) && n++ == i)
			return c->files[k].id;
	return NULL;
}

/* Whether the container has the very bytes under the file's name. */
static bool has_file(struct turn *t, const char *file_id)
{
	char path[sizeof("/mnt/data/") + NAME_FILE_MAX];
	struct cfile_view there;
	struct file_view file;

	if (core_file_get(core_of(t), &t->who, file_id, &file, NULL) < 0)
		return true; /* gone meanwhile: there is nothing to be copied */
	(void)snprintf(path, sizeof(path), "/mnt/data/%s", file.filename);
	return core_cfile_find(core_of(t), &t->who, t->box.id, path, &there,
			       NULL) >= 0 &&
	       memcmp(there.sha256, file.sha256, sizeof(file.sha256)) == 0;
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

/* Return: 1 when all are there; 0: on_copied() follows */
static int put_files(struct turn *t, struct error *err)
{
	struct ticket *ticket;
	const char *id;
	int r;

	while ((id = file_at(t, t->box.file_at, true)) && has_file(t, id))
		t->box.file_at++;
	if (!id) {
		t->box.ready = true;
		return 1;
	}
	t->box.file_at++;
	ticket = turn_ticket(t);
	if (!ticket)
		return error_set_errno(err, -ENOMEM, "Cannot copy a file");
	r = core_cfile_copy(core_of(t), &t->who, t->box.id, id, on_copied,
			    ticket, err);
	if (r < 0)
		(void)turn_redeem(ticket);
	t->box.busy = r >= 0;
	return r < 0 ? r : 0;
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

	if (!t)
		return;
	if (error_is_set(failure))
		err = *failure;
	else
		t->box.ready = true;
	go_on(t, error_is_set(failure) ? -EIO : 0, &err);
}

/* From now on it is this one that the talk has. */
static int bind(struct turn *t, struct error *err)
{
	struct ticket *ticket;
	int r;

	if (!t->ask.conversation[0]) {
		t->box.ready = true;
		return 1;
	}
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
	r = bind(t, &err);
	if (r != 0)
		go_on(t, r, &err);
}

static int create(struct turn *t, struct error *err)
{
	const char *ids[CORE_FILE_IDS_MAX];
	struct container_spec spec = {
		.name = "auto",
		.dialect = t->dialect,
		.memory = t->ask.tools.memory,
		.file_ids = ids,
		.origin = turn_origin(t),
	};
	struct ticket *ticket;
	struct file_view file;
	const char *id;
	int r;

	for (size_t i = 0; (id = file_at(t, i, false)); i++)
		if (spec.file_count < CORE_FILE_IDS_MAX &&
		    core_file_get(core_of(t), &t->who, id, &file, NULL) >= 0)
			ids[spec.file_count++] = id;
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
