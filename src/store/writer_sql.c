/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "store/writer_impl.h"

/* What the db thread says to SQLite, beside its inserts of rows. */

static_assert(DAY_USEC == STORE_IDEMPOTENCY_USEC, "a day has changed");
static_assert(STORE_COUNTER_NEXT_CID == 0, "the monotonic counter has moved");
static_assert(BOUND == STORE_SWEEP_MAX, "the sweep's bound has changed");

const char *const writer_sql[] = {
	[WRITE_BEGIN] = "BEGIN IMMEDIATE",
	[WRITE_COMMIT] = "COMMIT",
	[WRITE_ROLLBACK] = "ROLLBACK",
	[WRITE_SAVEPOINT] = "SAVEPOINT batch",
	[WRITE_RELEASE] = "RELEASE batch",
	[WRITE_ROLLBACK_TO] = "ROLLBACK TO batch",
	[WRITE_BLOB] = "INSERT INTO blobs (sha256) VALUES (?1)"
		       " ON CONFLICT DO NOTHING",
	[WRITE_SUPERSEDE] = "UPDATE cfiles SET superseded = 1"
			    " WHERE container_id = ?1 AND path = ?2"
			    " AND path_b64 = ?3"
			    " AND superseded = 0 AND NOT EXISTS"
			    " (SELECT 1 FROM cfiles WHERE id = ?4)",
	[WRITE_RECORD] = "INSERT INTO records (id, json, out, err)"
			 " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS"
			 " (SELECT 1 FROM executions WHERE id = ?1)"
			 " ON CONFLICT (id) DO UPDATE"
			 " SET json = excluded.json, out = excluded.out,"
			 " err = excluded.err",
	[WRITE_HAS_RECORD] = "UPDATE executions SET has_record = 1"
			     " WHERE id = ?1",
	[WRITE_TOUCH_KEY] = "UPDATE keys SET last_used_usec = ?2"
			    " WHERE id = ?1 AND last_used_usec < ?2",
	[WRITE_COUNTER] = "INSERT INTO counters (id, value) VALUES (?1, ?2)"
			  " ON CONFLICT (id) DO UPDATE SET value ="
			  " CASE id WHEN 0 THEN max(value, excluded.value)"
			  " ELSE excluded.value END",
	[WRITE_DELETE_FILE] = "DELETE FROM files WHERE id = ?1",
	[WRITE_DELETE_CFILE] = "DELETE FROM cfiles WHERE id = ?1",
	[WRITE_DELETE_VM] = "DELETE FROM vms WHERE id = ?1",
	[WRITE_DELETE_DEFINITION] = "DELETE FROM definitions WHERE id = ?1",
	[WRITE_DELETE_DEFINITION_VERSION] = "DELETE FROM definition_versions"
					 " WHERE id = ?1",
	[WRITE_DELETE_CONVERSATION] = "DELETE FROM conversations WHERE id = ?1",
	[WRITE_DELETE_CONVERSATION_ITEM] = "DELETE FROM conversation_items"
					   " WHERE id = ?1"
					   " AND conversation_id = ?2",
	[WRITE_DELETE_RESPONSE] = "DELETE FROM responses WHERE id = ?1",
	[WRITE_TOUCH_CONVERSATION] = "UPDATE conversations"
				     " SET changed_usec = ?2 WHERE id = ?1"
				     " AND changed_usec < ?2",
	[WRITE_TRIM_OUTPUTS] = "DELETE FROM response_items"
			       " WHERE response_id = ?1 AND output = 1"
			       " AND position >= ?2",
	/* What is there stays where it is; a conversation that has gone takes
	 * nothing. */
	[WRITE_APPEND] = "INSERT INTO conversation_items"
			 " (conversation_id, tenant, id, item)"
			 " SELECT c.id, c.tenant, e.id, e.item FROM responses r"
			 " JOIN conversations c ON c.id = r.conversation"
			 " AND c.tenant = r.tenant"
			 " JOIN response_items e ON e.response_id = r.id"
			 " WHERE r.id = ?1 ORDER BY e.output, e.position"
			 " ON CONFLICT (conversation_id, id) DO NOTHING",
	[WRITE_ERASE_CFILES] = "DELETE FROM cfiles WHERE container_id = ?1",
	[WRITE_ERASE_EXECUTIONS] = "DELETE FROM executions"
				   " WHERE container_id = ?1",
	[WRITE_ERASE_MARK] = "UPDATE containers SET deleted = 1 WHERE id = ?1",
	[WRITE_SWEEP_FILES] =
		"DELETE FROM files WHERE seq IN"
		" (SELECT seq FROM files WHERE expires_usec > 0"
		" AND expires_usec <= ?1 LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_PARTS] =
		"DELETE FROM parts WHERE seq IN"
		" (SELECT p.seq FROM uploads u"
		" CROSS JOIN parts p ON p.upload_id = u.id"
		" WHERE u.expires_usec <= ?1 LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_UPLOADS] =
		"DELETE FROM uploads WHERE seq IN"
		" (SELECT seq FROM uploads u"
		" WHERE expires_usec <= ?1 - " STRING(DAY_USEC)
		" AND NOT EXISTS"
		" (SELECT 1 FROM parts WHERE upload_id = u.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_CFILES] = "DELETE FROM cfiles WHERE seq IN"
			       " (SELECT f.seq FROM containers c"
			       " CROSS JOIN cfiles f ON f.container_id = c.id"
			       " WHERE c.ended_usec > 0 AND c.ended_usec < ?1"
			       " LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_EXECUTIONS] = "DELETE FROM executions WHERE seq IN"
				   " (SELECT seq FROM executions"
				   " WHERE ended_usec > 0 AND ended_usec < ?1"
				   " LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_CONTAINERS] =
		"DELETE FROM containers WHERE seq IN"
		" (SELECT seq FROM containers c WHERE ended_usec > 0"
		" AND ended_usec < ?1 AND NOT EXISTS"
		" (SELECT 1 FROM cfiles WHERE container_id = c.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM executions WHERE container_id = c.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_ANSWERS] = "DELETE FROM idempotency"
				" WHERE (tenant, key) IN"
				" (SELECT tenant, key FROM idempotency"
				" WHERE created_usec + " STRING(
					DAY_USEC) " <= ?1 ORDER BY created_usec"
						  " LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_USAGE] = "DELETE FROM usage WHERE seq IN"
			      " (SELECT seq FROM usage WHERE at_usec < ?1"
			      " ORDER BY at_usec LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_CONVERSATION_ITEMS] =
		"DELETE FROM conversation_items WHERE seq IN"
		" (SELECT e.seq FROM conversations c"
		" CROSS JOIN conversation_items e ON e.conversation_id = c.id"
		" WHERE c.changed_usec < ?1 LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_CONVERSATIONS] =
		"DELETE FROM conversations WHERE seq IN"
		" (SELECT seq FROM conversations c WHERE changed_usec < ?1"
		" AND NOT EXISTS (SELECT 1 FROM conversation_items"
		" WHERE conversation_id = c.id) LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_RESPONSE_ITEMS] =
		"DELETE FROM response_items WHERE seq IN"
		" (SELECT e.seq FROM responses r"
		" CROSS JOIN response_items e ON e.response_id = r.id"
		" WHERE r.changed_usec < ?1 LIMIT " STRING(BOUND) ")",
	[WRITE_SWEEP_RESPONSES] =
		"DELETE FROM responses WHERE seq IN"
		" (SELECT seq FROM responses r WHERE changed_usec < ?1"
		" AND NOT EXISTS (SELECT 1 FROM response_items"
		" WHERE response_id = r.id) LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_CFILES] =
		"DELETE FROM cfiles WHERE seq IN"
		" (SELECT f.seq FROM tenants t"
		" CROSS JOIN containers c ON c.tenant = t.id"
		" CROSS JOIN cfiles f ON f.container_id = c.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_EXECUTIONS] =
		"DELETE FROM executions WHERE seq IN"
		" (SELECT e.seq FROM tenants t"
		" CROSS JOIN containers c ON c.tenant = t.id"
		" CROSS JOIN executions e ON e.container_id = c.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_CONTAINERS] =
		"DELETE FROM containers WHERE seq IN"
		" (SELECT c.seq FROM tenants t"
		" CROSS JOIN containers c ON c.tenant = t.id"
		" WHERE t.closed_usec > 0 AND c.ended_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM cfiles WHERE container_id = c.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM executions WHERE container_id = c.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_FILES] =
		"DELETE FROM files WHERE seq IN"
		" (SELECT f.seq FROM tenants t"
		" CROSS JOIN files f ON f.tenant = t.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_PARTS] =
		"DELETE FROM parts WHERE seq IN"
		" (SELECT p.seq FROM tenants t"
		" CROSS JOIN uploads u ON u.tenant = t.id"
		" CROSS JOIN parts p ON p.upload_id = u.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_UPLOADS] =
		"DELETE FROM uploads WHERE seq IN"
		" (SELECT u.seq FROM tenants t"
		" CROSS JOIN uploads u ON u.tenant = t.id"
		" WHERE t.closed_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM parts WHERE upload_id = u.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_KEYS] =
		"DELETE FROM keys WHERE seq IN"
		" (SELECT k.seq FROM tenants t"
		" CROSS JOIN keys k ON k.tenant = t.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_DEFINITION_VERSIONS] =
		"DELETE FROM definition_versions WHERE seq IN"
		" (SELECT v.seq FROM tenants t"
		" CROSS JOIN definitions b ON b.tenant = t.id"
		" CROSS JOIN definition_versions v ON v.definition_id = b.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_DEFINITIONS] =
		"DELETE FROM definitions WHERE seq IN"
		" (SELECT b.seq FROM tenants t"
		" CROSS JOIN definitions b ON b.tenant = t.id"
		" WHERE t.closed_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM definition_versions WHERE definition_id = b.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_CONVERSATION_ITEMS] =
		"DELETE FROM conversation_items WHERE seq IN"
		" (SELECT e.seq FROM tenants t"
		" CROSS JOIN conversations c ON c.tenant = t.id"
		" CROSS JOIN conversation_items e ON e.conversation_id = c.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_CONVERSATIONS] =
		"DELETE FROM conversations WHERE seq IN"
		" (SELECT c.seq FROM tenants t"
		" CROSS JOIN conversations c ON c.tenant = t.id"
		" WHERE t.closed_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM conversation_items"
		" WHERE conversation_id = c.id) LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_RESPONSE_ITEMS] =
		"DELETE FROM response_items WHERE seq IN"
		" (SELECT e.seq FROM tenants t"
		" CROSS JOIN responses r ON r.tenant = t.id"
		" CROSS JOIN response_items e ON e.response_id = r.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_RESPONSES] =
		"DELETE FROM responses WHERE seq IN"
		" (SELECT r.seq FROM tenants t"
		" CROSS JOIN responses r ON r.tenant = t.id"
		" WHERE t.closed_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM response_items WHERE response_id = r.id)"
		" LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_ANSWERS] =
		"DELETE FROM idempotency WHERE (tenant, key) IN"
		" (SELECT a.tenant, a.key FROM tenants t"
		" CROSS JOIN idempotency a ON a.tenant = t.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANT_USAGE] =
		"DELETE FROM usage WHERE seq IN"
		" (SELECT u.seq FROM tenants t"
		" CROSS JOIN usage u ON u.tenant = t.id"
		" WHERE t.closed_usec > 0 LIMIT " STRING(BOUND) ")",
	[WRITE_ERASE_TENANTS] =
		"DELETE FROM tenants WHERE closed_usec > 0 AND NOT EXISTS"
		" (SELECT 1 FROM containers WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM files WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM uploads WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM keys WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM definitions WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM conversations WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM responses WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM idempotency WHERE tenant = tenants.id)"
		" AND NOT EXISTS"
		" (SELECT 1 FROM usage WHERE tenant = tenants.id)",
	[WRITE_UNUSED_BLOBS] = "SELECT sha256 FROM blobs WHERE refs = 0"
			       " LIMIT " STRING(BOUND),
	[WRITE_BLOB_REFS] = "SELECT refs FROM blobs WHERE sha256 = ?1",
	[WRITE_DELETE_BLOB] = "DELETE FROM blobs WHERE sha256 = ?1",
};
static_assert(sizeof(writer_sql) / sizeof(writer_sql[0]) == WRITE_COUNT,
	      "writer_sql[] doesn't match enum writer_statement");
