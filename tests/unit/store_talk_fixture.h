/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_STORE_TALK_FIXTURE_H
#define UNIT_STORE_TALK_FIXTURE_H

/* Conversations and responses in a store of a test's own. */

#include "store_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "store/impl.h"
#include "store/store_talk.h"

#define CONV "conv_1"
#define RESP "resp_1"
#define text(s) ((struct store_text){ (s), strlen(s) })
#define ITEMS "SELECT count(*) FROM items"

struct store_conversation conversation_row(const char *id, const char *tenant);
struct store_response response_row(const char *id, const char *tenant);
struct store_item item_row(const char *owner, const char *id, const char *json);
void put_conversation(struct fixture *fx, const char *id);
int add_item(struct fixture *fx, const char *conversation, const char *id,
	     const char *json);
uint32_t put_items(struct store_batch *batch, const char *response,
		   const char *const *ids, bool output);
void put_response(struct fixture *fx, const char *id, const char *conversation,
		  const char *const *inputs, const char *const *outputs);
void bind_container(struct fixture *fx, const char *agent, const char *id);
void see(void *userdata, const struct store_item *row);
void check_list(struct fixture *fx, enum store_items list, const char *owner,
		const char *expected);
int64_t count(struct fixture *fx, const char *sql);
void check_text(struct fixture *fx, const char *conversation, const char *id,
		const char *json);
uint64_t talk_bytes(struct fixture *fx);
void drop(struct fixture *fx,
	  int (*delete)(struct store_batch *batch, const char *id),
	  const char *id);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
