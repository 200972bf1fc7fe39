/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_CORE_TALK_FIXTURE_H
#define UNIT_CORE_TALK_FIXTURE_H

/* Conversations and responses of a core on a real store. */

#include "core_fixture.h"

#include "base/buf.h"

/** struct said - What callbacks of conversations said, one after the other */
struct said {
	struct answer answer;
	struct buf items;
	unsigned count;
	struct talk_context *cancel; /* when the first item comes */
};

void on_conversation(void *userdata,
		     const struct conversation_view *conversation,
		     const struct error *err);
void on_item(void *userdata, const struct talk_item *item);
void on_read(void *userdata, const struct error *err);
struct talk_item item_of(const char *id);
void begin(struct fixture *fx, char id[ID_SIZE]);
void name_response(char letter, char id[ID_SIZE]);
struct answer put(struct fixture *fx, char letter, char previous,
		  const char *conversation, bool open);
void read_context(struct fixture *fx, const char *response,
		  const char *conversation, size_t max_bytes,
		  struct said *said);
void expect_context(struct fixture *fx, const char *response,
		    const char *conversation, const char *items);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
