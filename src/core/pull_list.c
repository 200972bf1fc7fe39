/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/pull_impl.h"

/* The list of a pull: what the guest told, and what is told of it. */

/* Bytes of paths in one answer, with what JSON makes of them: with 512 entries
 * around them an answer's lists stay below 1 MiB. */
#define PULL_TEXT_MAX (640u * 1024)

static void entry_done(struct pull_entry *entry)
{
	data_path_done(&entry->path);
	data_path_done(&entry->file.path);
}

int pull_check_count(const struct pull *p, uint32_t told, struct error *err)
{
	if (p->told == told)
		return 0;
	return error_set(err, ERR_GUEST,
			 "the guest listed %zu files and says that they are %u",
			 p->told, told);
}

size_t pull_count(const struct pull *p)
{
	return p->count;
}

void pull_restart(struct pull *p)
{
	while (p->count > 0)
		entry_done(&p->entries[--p->count]);
	p->told = 0;
	p->text_bytes = 0;
	p->unlisted = 0;
}

void pull_add_unlisted(struct pull *p, uint64_t count)
{
	p->unlisted = usec_add(p->unlisted, count);
}

/* How long a path becomes in an answer, at most. */
static size_t path_text_size(const struct data_path *path)
{
	size_t size = path->b64 ? strlen(path->b64) : 0;
	const char *c;

	for (c = path->text; *c; c++)
		size += (unsigned char)*c < 0x20 || *c == '"' || *c == '\\' ? 6 :
									   1;
	return size;
}

/* Return: whether it is listed: answers are bounded, whatever the names. */
static bool pull_list(struct pull *p, const struct pull_entry *entry)
{
	size_t size = path_text_size(&entry->path);

	if (size > PULL_TEXT_MAX - p->text_bytes)
		return false;
	p->text_bytes += size;
	return true;
}

static int pull_add_entry(struct pull *p,
			  const struct message_changed_entry *told)
{
	struct pull_entry *entry;
	void *grown;
	int r;

	p->told++;
	if (told->skip == WIRE_SKIP_TOO_MANY) {
		pull_add_unlisted(p, told->size);
		return 0;
	}
	grown = reallocarray(p->entries, p->count + 1, sizeof(*p->entries));
	if (!grown)
		return -ENOMEM;
	p->entries = grown;
	entry = &p->entries[p->count];
	*entry = (struct pull_entry){
		.pull = p,
		.bytes = told->size,
		.skipped = told->skip != WIRE_SKIP_NONE,
		.reason = skip_reason_of_wire(told->skip),
	};
	r = data_path_from_guest(told->name, &entry->path);
	if (r < 0)
		return r;
	if (pull_list(p, entry)) {
		p->count++;
		return 0;
	}
	entry_done(entry);
	pull_add_unlisted(p, 1);
	return 0;
}

int pull_add(struct pull *p, struct message_changed *changed,
	     struct error *err)
{
	struct message_changed_entry entry;
	int r;

	if (changed->count > WIRE_CHANGED_MAX - p->told)
		return error_set(err, ERR_GUEST,
				 "the guest listed more files "
				 "than one execution may make");
	while (message_changed_next(changed, &entry) > 0) {
		r = pull_add_entry(p, &entry);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ------------------------------------------------------------------ tell */

void pull_each(struct pull *p,
	       void (*each)(void *userdata, struct pulled *file),
	       void *userdata)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->entries[i].fetched)
			each(userdata, &p->entries[i].file);
}

/* One entry for all that there is no room to list. */
static void tell_unlisted(const struct pull *p,
			  void (*each)(void *userdata,
				       const struct exec_skipped *skipped),
			  void *userdata)
{
	const struct exec_skipped skipped = {
		.path = CORE_DATA_DIR,
		.reason = skip_reason_name(SKIP_TOO_MANY),
		.count = p->unlisted,
	};

	if (p->unlisted > 0)
		each(userdata, &skipped);
}

void pull_each_skipped(struct pull *p,
		       void (*each)(void *userdata,
				    const struct exec_skipped *skipped),
		       void *userdata)
{
	size_t i;

	for (i = 0; i < p->count; i++) {
		const struct pull_entry *entry = &p->entries[i];
		const struct exec_skipped skipped = {
			.path = entry->path.text,
			.path_b64 = entry->path.b64,
			.reason = skip_reason_name(entry->reason),
			.bytes = entry->bytes,
			.limit_bytes = entry->limit_bytes,
		};

		if (entry->skipped)
			each(userdata, &skipped);
	}
	tell_unlisted(p, each, userdata);
}
