/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "turn/context.h"

/*
 * Forgetting the oldest of a talk that has become too long, where the client
 * has asked for that with "truncation".
 *
 * What the model is told to be stays, and so does all of the request itself and
 * what came of it. A call goes with its output: servers refuse one of them alone.
 */

/* struct fact - What matters of an item */
struct fact {
	bool pinned;
	bool gone;
	char call_id[CONTEXT_CALL_ID_MAX + 1];
};

static void read_fact(const char *json, size_t size, struct fact *ret)
{
	_cleanup_(json_freep) struct json_object *item = NULL;
	struct json_string role, id;

	*ret = (struct fact){ .pinned = true };
	if (json_parse(json, size, &item, NULL) < 0)
		return;
	role = json_string_of(json_member(item, "role"));
	id = json_string_of(json_member(item, "call_id"));
	ret->pinned = role.data && (strcmp(role.data, "system") == 0 ||
				    strcmp(role.data, "developer") == 0);
	if (id.data)
		(void)snprintf(ret->call_id, sizeof(ret->call_id), "%s",
			       id.data);
}

/* Whether the other half of a call is still to come. */
static bool is_waiting(const struct context *c, const struct fact *fact,
		       const struct fact *added)
{
	if (!fact->call_id[0])
		return false;
	if (strcmp(fact->call_id, added->call_id) == 0)
		return true;
	for (size_t i = 0; i < c->waiting_count; i++)
		if (strcmp(c->waiting[i], fact->call_id) == 0)
			return true;
	return false;
}

static void forget(struct context *c, struct fact *facts, size_t count,
		   size_t at)
{
	const char *id = facts[at].call_id;

	for (size_t i = at; i < count; i++) {
		if (i > at && (!id[0] || strcmp(facts[i].call_id, id) != 0))
			continue;
		if (!facts[i].gone)
			c->bytes -= c->items[i].size;
		facts[i].gone = true;
	}
}

/* The oldest first, until there is room for so many bytes in @max. */
static void choose(struct context *c, struct fact *facts, size_t count,
		   const struct fact *added, size_t needed, size_t max)
{
	for (size_t i = 0; i < count && c->bytes + needed > max; i++)
		if (!facts[i].pinned && !facts[i].gone &&
		    !is_waiting(c, &facts[i], added))
			forget(c, facts, count, i);
}

static void compact_gaps(struct context *c, const struct fact *facts,
			 size_t count, const size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->gap_count; i++) {
		struct context_gap gap = c->gaps[i];

		if (gap.item < count && facts[gap.item].gone)
			continue;
		/* The item that is being written has no place yet. */
		gap.item = moved[gap.item < c->count ? gap.item : c->count];
		c->gaps[kept++] = gap;
	}
	c->gap_count = kept;
}

/* @moved: room for where each item has come to, and where the next one will */
static void compact(struct context *c, const struct fact *facts, size_t count,
		    size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		moved[i] = kept;
		if (i < count && facts[i].gone)
			free((char *)(uintptr_t)c->items[i].json);
		else
			c->items[kept++] = c->items[i];
	}
	moved[c->count] = kept;
	compact_gaps(c, facts, count, moved);
	if (c->fresh)
		c->fresh_at = moved[c->fresh_at];
	c->count = kept;
}

static int shrink(struct context *c, const struct fact *added, size_t needed,
		  size_t max)
{
	size_t count = c->fresh ? c->fresh_at : c->count;
	_cleanup_free_ struct fact *facts = calloc(count + 1, sizeof(*facts));
	_cleanup_free_ size_t *moved = calloc(c->count + 1, sizeof(*moved));

	if (!facts || !moved)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		read_fact(c->items[i].json, c->items[i].size, &facts[i]);
	choose(c, facts, count, added, needed, max);
	compact(c, facts, count, moved);
	return 0;
}

int context_make_room(struct context *c, const char *json, size_t size)
{
	/* Some more than is needed, so that it is not done for each item. */
	size_t max = c->config.max_bytes - c->config.max_bytes / 8;
	struct fact added;
	int r;

	if (!c->config.truncate || size > c->config.max_bytes)
		return -EMSGSIZE;
	read_fact(json, size, &added);
	r = shrink(c, &added, size, max);
	if (r >= 0 && size > c->config.max_bytes - c->bytes)
		r = -EMSGSIZE;
	return r;
}

bool context_halve(struct context *c)
{
	const struct fact nothing = { .pinned = false };
	size_t before = c->bytes;

	return c->config.truncate && shrink(c, &nothing, 0, before / 2) >= 0 &&
	       c->bytes < before;
}
