/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

/*
 * Conversations, responses and their items.
 *
 * An item stands in "items" once for all the places where its tenant has the
 * same one, and goes with the last of them. Places are rows of
 * conversation_items and response_items; they are read and made through the
 * views conversation_entries and response_entries, which have the text, too.
 * Two items of the same id and different text are two: what a client sends
 * again, changed, leaves alone what was there.
 *
 * Of a response's list there are inputs, which stay as they were put first, and
 * outputs, which the last put replaces; rows of either come in the order of
 * their position. Text stands last in each table: what is behind it is slow to
 * get at.
 */

/* What a row costs beside its text, so that empty ones are not free. */
#define ROW_BYTES "512"
#define ITEM_BYTES "256"

/* A talk's bytes belong to its tenant's quota. */
#define COUNT_BYTES(table)                                                   \
	"CREATE TRIGGER " table "_added AFTER INSERT ON " table " BEGIN"     \
	"	UPDATE tenants SET talk_bytes = talk_bytes + new.bytes"      \
	"		WHERE id = new.tenant;"                              \
	"END;"                                                               \
	"CREATE TRIGGER " table "_removed AFTER DELETE ON " table " BEGIN"   \
	"	UPDATE tenants SET talk_bytes = talk_bytes - old.bytes"      \
	"		WHERE id = old.tenant;"                              \
	"END;"
#define COUNT_CHANGES(table)                                                 \
	"CREATE TRIGGER " table "_changed AFTER UPDATE ON " table            \
	"	WHEN new.bytes <> old.bytes BEGIN"                           \
	"	UPDATE tenants SET"                                          \
	"		talk_bytes = talk_bytes + new.bytes - old.bytes"     \
	"		WHERE id = new.tenant;"                              \
	"END;"

/* An item came to a place, or left it. */
#define TAKE_ITEM(table, owner)                                              \
	"	UPDATE items SET refs = refs + 1 WHERE seq = new.item;"      \
	"	UPDATE " table " SET items = items + 1,"                     \
	"		item_bytes = item_bytes +"                           \
	"		(SELECT bytes FROM items WHERE seq = new.item)"      \
	"		WHERE id = new." owner ";"
#define GIVE_ITEM(table, owner)                                              \
	"	UPDATE items SET refs = refs - 1 WHERE seq = old.item;"      \
	"	UPDATE " table " SET items = items - 1,"                     \
	"		item_bytes = item_bytes -"                           \
	"		(SELECT bytes FROM items WHERE seq = old.item)"      \
	"		WHERE id = old." owner ";"                           \
	"	DELETE FROM items WHERE seq = old.item AND refs = 0;"
#define HOLD_ITEMS(places, table, owner)                                     \
	"CREATE TRIGGER " places "_added AFTER INSERT ON " places " BEGIN"   \
	TAKE_ITEM(table, owner)                                              \
	"END;"                                                               \
	"CREATE TRIGGER " places "_removed AFTER DELETE ON " places " BEGIN" \
	GIVE_ITEM(table, owner)                                              \
	"END;"

#define SAME_ITEM                                                            \
	"tenant = new.tenant AND id = new.id AND json = new.json"
#define KEEP_ITEM                                                            \
	"	INSERT INTO items (id, tenant, bytes, json)"                 \
	"		SELECT new.id, new.tenant,"                          \
	"		length(CAST(new.json AS BLOB)) + " ITEM_BYTES ","    \
	"		new.json WHERE NOT EXISTS"                           \
	"		(SELECT 1 FROM items WHERE " SAME_ITEM ");"

const char schema_talk[] =
	"ALTER TABLE tenants ADD COLUMN"
	"	talk_bytes INTEGER NOT NULL DEFAULT 0;"

	"CREATE TABLE items ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0),"
	"	bytes INTEGER NOT NULL,"
	"	json TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX items_by_id ON items (tenant, id, seq);"
	COUNT_BYTES("items")

	"CREATE TABLE conversations ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	created_usec INTEGER NOT NULL,"
	"	changed_usec INTEGER NOT NULL,"
	"	items INTEGER NOT NULL DEFAULT 0,"
	"	item_bytes INTEGER NOT NULL DEFAULT 0,"
	"	bytes INTEGER NOT NULL GENERATED ALWAYS AS"
	"		(length(CAST(metadata AS BLOB)) + " ROW_BYTES ") STORED,"
	"	metadata TEXT NOT NULL,"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX conversations_by_age ON conversations (changed_usec);"
	"CREATE INDEX conversations_of_tenant ON conversations (tenant);"
	COUNT_BYTES("conversations")
	COUNT_CHANGES("conversations")

	/* No foreign key leads to items: it would cost an index. Triggers keep
	 * refs right. */
	"CREATE TABLE conversation_items ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	conversation_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	id TEXT NOT NULL,"
	"	item INTEGER NOT NULL,"
	"	UNIQUE (conversation_id, id),"
	"	FOREIGN KEY (conversation_id, tenant)"
	"		REFERENCES conversations (id, tenant) ON DELETE CASCADE"
	") STRICT;"
	"CREATE INDEX conversation_items_in_order"
	"	ON conversation_items (conversation_id, tenant, seq);"
	HOLD_ITEMS("conversation_items", "conversations", "conversation_id")

	"CREATE VIEW conversation_entries AS"
	"	SELECT e.seq, e.id, e.tenant, e.conversation_id AS owner, i.json"
	"	FROM conversation_items e CROSS JOIN items i ON i.seq = e.item;"
	"CREATE TRIGGER conversation_entries_added"
	"	INSTEAD OF INSERT ON conversation_entries BEGIN"
	KEEP_ITEM
	"	INSERT INTO conversation_items"
	"		(conversation_id, tenant, id, item)"
	"		SELECT new.owner, new.tenant, new.id, max(seq)"
	"		FROM items WHERE " SAME_ITEM ";"
	"END;"

	/* The newest container of a conversation and agent. */
	"CREATE TABLE conversation_containers ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	conversation_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	agent TEXT NOT NULL,"
	"	id TEXT NOT NULL,"
	"	UNIQUE (conversation_id, agent) ON CONFLICT REPLACE,"
	"	FOREIGN KEY (conversation_id, tenant)"
	"		REFERENCES conversations (id, tenant) ON DELETE CASCADE"
	") STRICT;"

	"CREATE TABLE responses ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	key_id TEXT NOT NULL,"
	"	previous TEXT NOT NULL,"
	"	conversation TEXT NOT NULL,"
	"	open INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	changed_usec INTEGER NOT NULL,"
	"	items INTEGER NOT NULL DEFAULT 0,"
	"	item_bytes INTEGER NOT NULL DEFAULT 0,"
	"	bytes INTEGER NOT NULL GENERATED ALWAYS AS"
	"		(length(CAST(json AS BLOB)) + " ROW_BYTES ") STORED,"
	"	json TEXT NOT NULL,"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX responses_by_age ON responses (changed_usec);"
	"CREATE INDEX responses_of_tenant ON responses (tenant);"
	"CREATE INDEX responses_open ON responses (seq) WHERE open = 1;"
	COUNT_BYTES("responses")
	COUNT_CHANGES("responses")

	"CREATE TABLE response_items ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	response_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	output INTEGER NOT NULL,"
	"	position INTEGER NOT NULL,"
	"	id TEXT NOT NULL,"
	"	item INTEGER NOT NULL,"
	"	UNIQUE (response_id, output, position),"
	"	FOREIGN KEY (response_id, tenant)"
	"		REFERENCES responses (id, tenant) ON DELETE CASCADE"
	") STRICT;"
	"CREATE INDEX response_items_in_order"
	"	ON response_items (response_id, tenant, output, seq);"
	HOLD_ITEMS("response_items", "responses", "response_id")
	"CREATE TRIGGER response_items_replaced"
	"	AFTER UPDATE OF item ON response_items BEGIN"
	TAKE_ITEM("responses", "response_id")
	GIVE_ITEM("responses", "response_id")
	"END;"

	"CREATE VIEW response_entries AS"
	"	SELECT e.seq, e.id, e.tenant, e.response_id AS owner, e.output,"
	"		e.position, i.json"
	"	FROM response_items e CROSS JOIN items i ON i.seq = e.item;"
	"CREATE TRIGGER response_entries_added"
	"	INSTEAD OF INSERT ON response_entries BEGIN"
	KEEP_ITEM
	"	INSERT INTO response_items"
	"		(response_id, tenant, output, position, id, item)"
	"		SELECT new.owner, new.tenant, new.output, new.position,"
	"		new.id, max(seq) FROM items WHERE " SAME_ITEM
	"		ON CONFLICT (response_id, output, position) DO UPDATE"
	"		SET id = excluded.id, item = excluded.item"
	"		WHERE output = 1 AND item <> excluded.item;"
	/* An input that was there before. */
	"	DELETE FROM items WHERE tenant = new.tenant AND id = new.id"
	"		AND refs = 0;"
	"END;";
