/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_core_impl.h"

/* Conversations in memory: conv_1, conv_2, … */

enum { TALKS_MAX = 8, ITEMS_MAX = 64 };

struct kept_item {
	char id[ID_SIZE];
	char *json;
};

struct conversation {
	char tenant[CORE_TENANT_MAX + 1];
	char id[ID_SIZE];
	char *metadata;
	struct kept_item items[ITEMS_MAX];
	unsigned count;
};

struct fake_talks {
	struct conversation list[TALKS_MAX];
	unsigned count;
};

static void forget(struct conversation *c)
{
	unsigned i;

	for (i = 0; i < c->count; i++)
		free(c->items[i].json);
	free(c->metadata);
	*c = (struct conversation){ .count = 0 };
}

void fake_talks_free(struct core *core)
{
	unsigned i;

	for (i = 0; core->talks && i < core->talks->count; i++)
		forget(&core->talks->list[i]);
	free(core->talks);
}

static struct conversation *find(struct core *core, const struct principal *who,
				 const char *id, struct error *err)
{
	unsigned i;

	for (i = 0; core->talks && i < core->talks->count; i++) {
		struct conversation *c = &core->talks->list[i];

		if (strcmp(c->id, id) == 0 && strcmp(c->tenant, who->tenant) == 0)
			return c;
	}
	error_set(err, ERR_NOT_FOUND, "Conversation with id '%s' not found",
		  id);
	return NULL;
}

static struct kept_item *find_item(struct conversation *c, const char *id,
				   struct error *err)
{
	unsigned i;

	for (i = 0; c && i < c->count; i++)
		if (strcmp(c->items[i].id, id) == 0)
			return &c->items[i];
	error_set(err, ERR_NOT_FOUND, "Item with id '%s' not found", id);
	return NULL;
}

static struct conversation_view view_of(const struct conversation *c)
{
	struct conversation_view view = { .created_at = FAKE_ENDED_SEC,
					  .metadata = c->metadata };

	strcpy(view.id, c->id);
	return view;
}

static int add(struct conversation *c, const struct talk_item *items,
	       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct kept_item *kept = &c->items[c->count++];

		strcpy(kept->id, items[i].id);
		kept->json = strndup(items[i].json, items[i].size);
	}
	return 0;
}

static int answer(struct core *core, const struct conversation *c,
		  conversation_fn done, void *userdata)
{
	struct fake_later *later = fake_core_later(core, userdata);

	later->conversation = done;
	later->conversation_view = view_of(c);
	return 0;
}

int core_conversation_create(struct core *core, const struct principal *who,
			     const char *metadata,
			     const struct talk_item *items, size_t count,
			     conversation_fn done, void *userdata,
			     struct error *err)
{
	struct conversation *c;

	if (!core->talks)
		core->talks = calloc(1, sizeof(*core->talks));
	if (!core->talks || core->talks->count == TALKS_MAX)
		return error_set(err, ERR_LIMIT, "Enough conversations");
	c = &core->talks->list[core->talks->count++];
	(void)snprintf(c->id, sizeof(c->id), "conv_%u", core->talks->count);
	strcpy(c->tenant, who->tenant);
	c->metadata = strdup(metadata);
	(void)add(c, items, count);
	return answer(core, c, done, userdata);
}

int core_conversation_get(struct core *core, const struct principal *who,
			  const char *id, struct conversation_view *ret,
			  struct error *err)
{
	const struct conversation *c = find(core, who, id, err);

	if (!c)
		return -ENOENT;
	*ret = view_of(c);
	return 0;
}

int core_conversation_update(struct core *core, const struct principal *who,
			     const char *id, const char *metadata,
			     conversation_fn done, void *userdata,
			     struct error *err)
{
	struct conversation *c = find(core, who, id, err);

	if (!c)
		return -ENOENT;
	free(c->metadata);
	c->metadata = strdup(metadata);
	return answer(core, c, done, userdata);
}

int core_conversation_delete(struct core *core, const struct principal *who,
			     const char *id, core_done_fn done, void *userdata,
			     struct error *err)
{
	struct conversation *c = find(core, who, id, err);

	if (!c)
		return -ENOENT;
	forget(c);
	fake_core_later(core, userdata)->done = done;
	return 0;
}

int core_conversation_add(struct core *core, const struct principal *who,
			  const char *id, const struct talk_item *items,
			  size_t count, core_done_fn done, void *userdata,
			  struct error *err)
{
	struct conversation *c = find(core, who, id, err);
	struct fake_later *later;

	if (!c)
		return -ENOENT;
	later = fake_core_later(core, userdata);
	later->done = done;
	if (find_item(c, items[0].id, NULL))
		error_set(&later->err, ERR_BAD_REQUEST, "It is there already");
	else
		(void)add(c, items, count);
	return 0;
}

static int give(const struct kept_item *kept, struct talk_item *ret)
{
	if (!kept)
		return -ENOENT;
	*ret = (struct talk_item){ .json = kept->json,
				   .size = strlen(kept->json) };
	strcpy(ret->id, kept->id);
	return 0;
}

int core_conversation_item_get(struct core *core, const struct principal *who,
			       const char *id, const char *item,
			       struct talk_item *ret, struct error *err)
{
	struct conversation *c = find(core, who, id, err);

	return c ? give(find_item(c, item, err), ret) : -ENOENT;
}

int core_item_find(struct core *core, const struct principal *who,
		   const char *id, struct talk_item *ret, struct error *err)
{
	struct kept_item *found = NULL;
	unsigned i;

	for (i = 0; core->talks && !found && i < core->talks->count; i++) {
		struct conversation *c = &core->talks->list[i];

		if (strcmp(c->tenant, who->tenant) == 0)
			found = find_item(c, id, NULL);
	}
	return give(found ? found : find_item(NULL, id, err), ret);
}

int core_conversation_item_delete(struct core *core,
				  const struct principal *who, const char *id,
				  const char *item, core_done_fn done,
				  void *userdata, struct error *err)
{
	struct conversation *c = find(core, who, id, err);
	struct kept_item *kept = c ? find_item(c, item, err) : NULL;

	if (!kept)
		return -ENOENT;
	free(kept->json);
	memmove(kept, kept + 1,
		(size_t)(&c->items[--c->count] - kept) * sizeof(*kept));
	fake_core_later(core, userdata)->done = done;
	return 0;
}

int core_conversation_item_list(struct core *core, const struct principal *who,
				const char *id, const struct core_page *page,
				talk_item_fn each, void *userdata,
				bool *ret_more, struct error *err)
{
	struct conversation *c = find(core, who, id, err);
	bool begun = !page->after[0];
	unsigned i, given = 0;

	if (!c)
		return -ENOENT;
	*ret_more = false;
	for (i = 0; i < c->count; i++) {
		const struct kept_item *kept =
			&c->items[page->ascending ? i : c->count - 1 - i];
		struct talk_item item;

		if (begun && given == page->limit)
			*ret_more = true;
		if (begun && given++ < page->limit && give(kept, &item) == 0)
			each(userdata, &item);
		begun |= strcmp(kept->id, page->after) == 0;
	}
	return 0;
}
