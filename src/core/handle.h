/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

/*
 * Containers by the name that a client knows them under.
 *
 * Two dialects speak of a session before there is one and never learn an id:
 * dynamic sessions by an identifier of the client's, MCP by a session id. In
 * them a name, together with tenant, key, dialect and pool, is a handle: it
 * stands for one container as long as that one's session lives, and for a new
 * one afterwards. Whoever guesses somebody else's name has another handle.
 */

#include "core/core.h"

struct container;

/** handle_is_used_by() - Whether names are handles in a dialect */
bool handle_is_used_by(enum core_dialect dialect);

/** handle_find() - The container whose handle it is, live or not yet durable */
struct container *handle_find(struct core *core, const struct principal *who,
			      enum core_dialect dialect, const char *pool,
			      const char *name);

/**
 * handle_tell_ended() - The error of whoever asks for one that stands for nothing
 *
 * Says how the newest of that handle ended, unless it was deleted: an older one is
 * not what was asked for.
 *
 * Return: ERR_NOT_FOUND, as core_container_named() has it
 */
int handle_tell_ended(struct core *core, const struct principal *who,
		      enum core_dialect dialect, const char *pool,
		      const char *name, struct error *err);

/**
 * handle_take() - A new or restored container stands for its name from now on
 *
 * Return: 0, also where names are no handles; -ENOMEM
 */
int handle_take(struct container *c);

/** handle_drop() - It does so no more; nothing happens if it did not */
void handle_drop(struct container *c);

#endif
