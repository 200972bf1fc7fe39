/* SPDX-License-Identifier: Apache-2.0 */
#include "core/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/guest_xfer.h"
#include "core/vm.h"

/*
 * Files that were given to a container before its guest was there. They are put
 * into it one after the other before its first execution; only then is the
 * session RUNNING, in memory and in the ledger. So a daemon that takes over a
 * session knows by its state whether to place them again.
 */

int staged_add(struct container *c, const char *cfile_id, const char *path,
	       const uint8_t sha256[HASH_SIZE], uint64_t bytes)
{
	struct staged *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	(void)snprintf(s->cfile_id, sizeof(s->cfile_id), "%s", cfile_id);
	(void)snprintf(s->path, sizeof(s->path), "%s", path);
	memcpy(s->sha256, sha256, sizeof(s->sha256));
	s->bytes = bytes;
	TAILQ_INSERT_TAIL(&c->staged, s, next);
	return 0;
}

static void staged_drop(struct container *c, struct staged *s)
{
	TAILQ_REMOVE(&c->staged, s, next);
	free(s);
}

/* Return: the one that is put next, or just now; or NULL */
static struct staged *staged_first(const struct container *c)
{
	struct staged *s;

	TAILQ_FOREACH (s, &c->staged, next)
		if (!s->placed)
			return s;
	return NULL;
}

static bool is_folder_of(const char *folder, const char *path)
{
	size_t size = strlen(folder);

	return strncmp(folder, path, size) == 0 && path[size] == '/';
}

bool staged_forbids(const struct container *c, const char *path)
{
	const struct staged *s;

	TAILQ_FOREACH (s, &c->staged, next)
		if (is_folder_of(s->path, path) || is_folder_of(path, s->path))
			return true;
	return false;
}

void staged_remove(struct container *c, const char *cfile_id)
{
	struct staged *s;

	TAILQ_FOREACH (s, &c->staged, next)
		if (strcmp(s->cfile_id, cfile_id) == 0)
			break;
	if (!s)
		return;
	if (c->placing && s == staged_first(c)) {
		guest_xfer_cancel(take_ptr(c->placing));
		staged_drop(c, s);
		placing_next(c);
		return;
	}
	staged_drop(c, s);
}

void staged_clear(struct container *c)
{
	while (!TAILQ_EMPTY(&c->staged))
		staged_drop(c, TAILQ_FIRST(&c->staged));
}

/* Why a guest cannot hold a file that it was given; NULL: it can. */
static enum end_reason placing_failed(const struct xfer_end *end)
{
	if (end->result == XFER_BROKEN)
		return END_GUEST_PROTOCOL_ERROR;
	if (end->result == XFER_STALLED || end->result == XFER_LOST)
		return END_GUEST_UNRESPONSIVE;
	/* Without its files the session is not what was asked for. */
	return END_BOOT_FAILED;
}

/* Without a vmd nobody can be dialled, which says nothing of the guest. */
static bool placing_is_hopeless(struct container *c)
{
	if (!vmd_client_hello(c->core->vmd))
		return false;
	return ++c->placing_lost >= CONTAINER_PLACING_TRIES;
}

static void on_placed(void *userdata, struct xfer_end *end)
{
	struct container *c = userdata;
	struct staged *s = staged_first(c);
	struct error err = ERROR_INIT;

	c->placing = NULL;
	if (end->result == XFER_OK) {
		c->placing_lost = 0;
		c->usage.bytes_in += end->bytes;
		s->placed = true;
		placing_next(c);
		return;
	}
	/* The next link begins here again, and so does vmd's next list. */
	if (end->result == XFER_LOST && !placing_is_hopeless(c))
		return;
	error_set(&err, ERR_GUEST, "cannot place file '%s': %s", s->path,
		  end->result == XFER_FILE ?
			  wire_file_status_name(end->file_status) :
			  strerror(-end->r));
	vm_fail(c->vm, placing_failed(end), &err);
}

void placing_next(struct container *c)
{
	struct staged *s = staged_first(c);
	struct guest_xfer_config config;
	struct error err = ERROR_INIT;
	int r;

	if (c->placing || c->state != SESSION_VIEW_BOOTING || !vm_linked(c->vm))
		return;
	if (!s) {
		staged_clear(c);
		container_placed(c);
		return;
	}
	config = vm_xfer_config(c->vm, s->path, on_placed, c);
	r = guest_xfer_put(&config, s->sha256, &c->placing);
	if (r == -ENOTCONN)
		return; /* vmd is away; its next list comes back here */
	if (r < 0) {
		error_set_errno(&err, r, "cannot place file '%s'", s->path);
		vm_fail(c->vm, END_BOOT_FAILED, &err);
	}
}
