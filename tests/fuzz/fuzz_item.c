/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's items: refused with a reason and a place, or brought to a form that
 * is read again as the same and can be shown.
 */

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_write.h"
#include "fuzz.h"
#include "turn/turn.h"

enum { ITEMS_MAX = 64 };

static const struct principal me = { .tenant = "t" };

/* Of core, what items ask: nothing was kept before, and every file is there. */
int core_item_find(struct core *core, const struct principal *who,
		   const char *id, struct talk_item *ret, struct error *err)
{
	(void)core;
	(void)who;
	(void)ret;
	return error_set(err, ERR_NOT_FOUND, "Item with id '%s' not found", id);
}

int core_file_get(struct core *core, const struct principal *who,
		  const char *id, struct file_view *ret, struct error *err)
{
	(void)core;
	(void)who;
	(void)id;
	(void)ret;
	(void)err;
	return 0;
}

static void check_shown(const struct item *item, unsigned include)
{
	struct buf text = BUF_INIT(1 << 26);
	struct json_writer w = JSON_WRITER_INIT(&text);
	struct json_object *shown = NULL;

	item_write(&w, NULL, item, include);
	if (json_write_end(&w) < 0 ||
	    json_parse(buf_str(&text), text.length, &shown, NULL) < 0)
		abort();
	json_free(shown);
	buf_done(&text);
}

/* The kept form is its own kept form. */
static void check_again(const struct item *item)
{
	struct items again = { .list = NULL };
	struct buf list = BUF_INIT(1 << 26);
	struct json_object *json = NULL;

	if (buf_add_str(&list, "[") < 0 ||
	    buf_add(&list, item->json, item->size) < 0 ||
	    buf_add_str(&list, "]") < 0)
		abort();
	if (json_parse(buf_str(&list), list.length, &json, NULL) < 0 ||
	    items_read(NULL, &me, json, "again", 1, &again, NULL) < 0)
		abort();
	if (again.count != 1 || again.list[0].size != item->size ||
	    memcmp(again.list[0].json, item->json, item->size) != 0)
		abort();
	json_free(json);
	items_done(&again);
	buf_done(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct items items = { .list = NULL };
	struct json_object *json = NULL;
	struct error err = ERROR_INIT;
	size_t i;

	if (json_parse((const char *)data, size, &json, NULL) < 0)
		return 0;
	if (items_read(NULL, &me, json, "input", ITEMS_MAX, &items, &err) < 0) {
		if (items.count != 0 || err.code == ERR_NONE || !err.param[0])
			abort();
	}
	for (i = 0; i < items.count; i++) {
		check_shown(&items.list[i], 0);
		check_shown(&items.list[i], ~0u);
		check_again(&items.list[i]);
	}
	items_done(&items);
	json_free(json);
	return 0;
}
