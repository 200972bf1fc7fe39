/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "turn/cite.h"
#include "turn/turn_priv.h"

/* Which files were made, and where the answer speaks of them. */

static struct made *find_made(struct turn *t, const char *path)
{
	for (size_t i = 0; i < t->made_count; i++)
		if (strcmp(t->made[i].path, path) == 0)
			return &t->made[i];
	return NULL;
}

static struct made *add_made(struct turn *t, const char *path)
{
	struct made *list, *made;
	char *copy;

	if (t->made_count == TURN_MADE_MAX)
		return NULL;
	copy = strdup(path);
	list = reallocarray(t->made, t->made_count + 1, sizeof(*list));
	if (list)
		t->made = list;
	if (!list || !copy) {
		free(copy);
		return NULL;
	}
	made = &list[t->made_count++];
	*made = (struct made){ .path = copy };
	return made;
}

int turn_made(struct turn *t, const struct exec_view *exec)
{
	for (size_t i = 0; i < exec->artifact_count; i++) {
		const struct cfile_view *file = &exec->artifacts[i];
		struct made *made = find_made(t, file->path);

		if (!made)
			made = add_made(t, file->path);
		if (!made)
			return t->made_count == TURN_MADE_MAX ? 0 : -ENOMEM;
		strcpy(made->container, file->container);
		strcpy(made->file, file->id);
	}
	return 0;
}

void turn_made_free(struct turn *t)
{
	for (size_t i = 0; i < t->made_count; i++)
		free(t->made[i].path);
	free(t->made);
}

/* struct citing - Of one message */
struct citing {
	struct turn *turn;
	struct out_item *item;
	struct made found; /* not made in this turn, but there */
	char path[4096];
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const void *on_find(void *userdata, const char *path)
{
	struct citing *citing = userdata;
	struct turn *t = citing->turn;
	const char *container =
		t->box.id[0] ? t->box.id : t->context.container;
	struct made *made = find_made(t, path);
	struct cfile_view file;

	if (made)
		return made;
	if (!container[0] || strlen(path) >= sizeof(citing->path) ||
	    core_cfile_find(t->turns->config.core, &t->who, container, path,
			    &file, NULL) < 0)
		return NULL;
	strcpy(citing->path, file.path);
	strcpy(citing->found.container, file.container);
	strcpy(citing->found.file, file.id);
	citing->found.path = citing->path;
	return &citing->found;
}

static int add_citation(struct citing *citing, const struct made *made,
			size_t start, size_t end)
{
	struct out_citation citation = {
		.filename = (char *)(uintptr_t)name_of(made->path),
		.start = start,
		.end = end,
	};

	strcpy(citation.container, made->container);
	strcpy(citation.file, made->file);
	return out_item_cite(citing->item, &citation);
}

static int on_mention(void *userdata, const struct cite_mention *mention)
{
	struct citing *citing = userdata;
	const struct made *file = mention->file;
	struct made *made = find_made(citing->turn, file->path);

	if (made)
		made->cited = true;
	return add_citation(citing, file, mention->start, mention->end);
}

/* What was made and never spoken of is cited at the end. */
static int cite_rest(struct citing *citing)
{
	struct turn *t = citing->turn;
	size_t end = cite_length(buf_str(&citing->item->text),
				 citing->item->text.length);
	int r = 0;

	for (size_t i = 0; i < t->made_count && r >= 0; i++)
		if (!t->made[i].cited)
			r = add_citation(citing, &t->made[i], end, end);
	return r;
}

int turn_cite(struct turn *t, size_t item, bool last)
{
	struct citing citing = { .turn = t, .item = &t->items[item] };
	int r;

	r = cite_scan(buf_str(&citing.item->text), citing.item->text.length,
		      on_find, on_mention, &citing);
	if (r >= 0 && last)
		r = cite_rest(&citing);
	for (size_t i = 0; i < citing.item->citation_count && r >= 0; i++)
		r = turn_event(t, EVENT_ANNOTATION, item, i);
	return r;
}
