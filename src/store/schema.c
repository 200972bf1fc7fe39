/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

/* What was changed since the first version; its rules hold here as well. */

/*
 * Names that are not UTF-8, and names that only look the same. Rows from before
 * have neither: their names were refused, and one is normal or found exactly.
 */
static const char version_2[] =
	"ALTER TABLE cfiles ADD COLUMN path_b64 TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE cfiles ADD COLUMN path_nfc TEXT NOT NULL DEFAULT '';"
	"UPDATE cfiles SET path_nfc = path;"
	"DROP INDEX cfiles_by_path;"
	"CREATE UNIQUE INDEX cfiles_by_path"
	"	ON cfiles (container_id, path, path_b64) WHERE superseded = 0;"
	"CREATE INDEX cfiles_by_normal_path"
	"	ON cfiles (container_id, path_nfc) WHERE superseded = 0;";

/* The beginning of a file that grew while it was fetched. */
static const char version_3[] =
	"ALTER TABLE cfiles ADD COLUMN"
	"	changed_during_read INTEGER NOT NULL DEFAULT 0;";

/*
 * Limits of tenants and keys, what made a session, and sums of the usage ledger
 * by day, which follow it by trigger: reports and budgets need no walk through
 * it. That an account is closed once is held by an index.
 */
static const char version_4[] =
	"ALTER TABLE tenants ADD COLUMN"
	"	closed_usec INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	max_sessions INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	max_executions INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	max_requests INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	requests_per_minute INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	max_bytes INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE tenants ADD COLUMN"
	"	session_seconds_per_day INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX tenants_closed ON tenants (seq) WHERE closed_usec > 0;"

	"ALTER TABLE keys ADD COLUMN"
	"	max_requests INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE keys ADD COLUMN"
	"	requests_per_minute INTEGER NOT NULL DEFAULT 0;"

	"ALTER TABLE containers ADD COLUMN"
	"	origin TEXT NOT NULL DEFAULT 'api';"
	/* Deleted ones as well: a tenant's end has to find them. */
	"CREATE INDEX containers_of_tenant ON containers (tenant);"

	"ALTER TABLE usage ADD COLUMN"
	"	origin TEXT NOT NULL DEFAULT '';"
	"CREATE INDEX usage_by_time ON usage (at_usec);"
	"DELETE FROM usage WHERE kind = 'ended' AND seq NOT IN"
	"	(SELECT min(seq) FROM usage WHERE kind = 'ended'"
	"		GROUP BY container_id);"
	"CREATE UNIQUE INDEX usage_closed_once ON usage (container_id)"
	"	WHERE kind = 'ended';"

	"CREATE TABLE usage_days ("
	"	tenant TEXT NOT NULL,"
	"	day INTEGER NOT NULL,"
	"	kind TEXT NOT NULL,"
	"	count INTEGER NOT NULL,"
	"	amount INTEGER NOT NULL,"
	"	PRIMARY KEY (tenant, day, kind)"
	") STRICT, WITHOUT ROWID;"
	"INSERT INTO usage_days"
	"	SELECT tenant, at_usec / 86400000000, kind, count(*),"
	"		sum(amount) FROM usage GROUP BY 1, 2, 3;"
	"CREATE TRIGGER usage_summed AFTER INSERT ON usage BEGIN"
	"	INSERT INTO usage_days VALUES (new.tenant,"
	"		new.at_usec / 86400000000, new.kind, 1, new.amount)"
	"		ON CONFLICT (tenant, day, kind) DO UPDATE"
	"		SET count = count + 1,"
	"			amount = amount + excluded.amount;"
	"END;"
	/* What a tenant used stays in the books, under no name. */
	"CREATE TRIGGER tenants_removed AFTER DELETE ON tenants BEGIN"
	"	INSERT INTO usage_days SELECT '', day, kind, count, amount"
	"		FROM usage_days WHERE tenant = old.id"
	"		ON CONFLICT (tenant, day, kind) DO UPDATE"
	"		SET count = count + excluded.count,"
	"			amount = amount + excluded.amount;"
	"	DELETE FROM usage_days WHERE tenant = old.id;"
	"END;";

/*
 * Files that arrive in parts. A part holds a blob and counts as a file's bytes,
 * so that a quota cannot be passed by never completing an upload.
 */
static const char version_5[] =
	"CREATE TABLE uploads ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	filename TEXT NOT NULL,"
	"	purpose TEXT NOT NULL,"
	"	bytes INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	expires_usec INTEGER NOT NULL,"
	"	file_expires_sec INTEGER NOT NULL,"
	"	status TEXT NOT NULL,"
	"	file_id TEXT NOT NULL,"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX uploads_by_expiry ON uploads (expires_usec);"
	"CREATE INDEX uploads_of_tenant ON uploads (tenant);"
	"CREATE TABLE parts ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	upload_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	sha256 BLOB NOT NULL CHECK (length(sha256) = 32),"
	"	bytes INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	FOREIGN KEY (upload_id, tenant)"
	"		REFERENCES uploads (id, tenant)"
	") STRICT;"
	"CREATE INDEX parts_of_upload ON parts (upload_id, tenant);"
	"CREATE TRIGGER parts_added AFTER INSERT ON parts BEGIN"
	"	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;"
	"	UPDATE tenants SET file_bytes = file_bytes + new.bytes"
	"		WHERE id = new.tenant;"
	"END;"
	"CREATE TRIGGER parts_removed AFTER DELETE ON parts BEGIN"
	"	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;"
	"	UPDATE tenants SET file_bytes = file_bytes - old.bytes"
	"		WHERE id = old.tenant;"
	"END;"
	/* One that is not open any more has no use for its parts. */
	"CREATE TRIGGER uploads_closed AFTER UPDATE OF status ON uploads"
	"	WHEN new.status <> 'pending' BEGIN"
	"	DELETE FROM parts WHERE upload_id = new.id;"
	"END;";

/*
 * Toolboxes. A version belongs to the tenant of its toolbox, and goes with it.
 */
static const char version_6[] =
	"CREATE TABLE toolboxes ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	project TEXT NOT NULL,"
	"	name TEXT NOT NULL,"
	"	default_version INTEGER NOT NULL,"
	"	last_version INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	updated_usec INTEGER NOT NULL,"
	"	UNIQUE (tenant, project, name),"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX toolboxes_by_project ON toolboxes (tenant, project, seq);"

	"CREATE TABLE toolbox_versions ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	toolbox_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	version INTEGER NOT NULL,"
	"	definition TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	UNIQUE (toolbox_id, version),"
	"	FOREIGN KEY (toolbox_id, tenant)"
	"		REFERENCES toolboxes (id, tenant) ON DELETE CASCADE"
	") STRICT;"
	"CREATE INDEX toolbox_versions_by_toolbox"
	"	ON toolbox_versions (toolbox_id, tenant, seq);"
	"CREATE INDEX toolbox_versions_by_tenant"
	"	ON toolbox_versions (tenant);";

/*
 * How who started an execution wants it shown; and the memory that a container
 * has, beside the tier that was asked for.
 */
static const char version_7[] =
	"CREATE TABLE definitions ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	kind TEXT NOT NULL,"
	"	project TEXT NOT NULL,"
	"	name TEXT NOT NULL,"
	"	default_version INTEGER NOT NULL,"
	"	last_version INTEGER NOT NULL,"
	"	disabled INTEGER NOT NULL,"
	"	profile TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	updated_usec INTEGER NOT NULL,"
	"	UNIQUE (tenant, kind, project, name),"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX definitions_by_project"
	"	ON definitions (tenant, kind, project, seq);"
	"INSERT INTO definitions"
	"	SELECT seq, id, tenant, 'toolbox', project, name,"
	"		default_version, last_version, 0, '',"
	"		created_usec, updated_usec FROM toolboxes;"

	"CREATE TABLE definition_versions ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	definition_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	version INTEGER NOT NULL,"
	"	draft INTEGER NOT NULL,"
	"	text TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	UNIQUE (definition_id, version),"
	"	FOREIGN KEY (definition_id, tenant)"
	"		REFERENCES definitions (id, tenant) ON DELETE CASCADE"
	") STRICT;"
	"CREATE INDEX definition_versions_by_definition"
	"	ON definition_versions (definition_id, tenant, seq);"
	"CREATE INDEX definition_versions_by_tenant"
	"	ON definition_versions (tenant);"
	"INSERT INTO definition_versions"
	"	SELECT seq, id, toolbox_id, tenant, version, 0, definition,"
	"		created_usec FROM toolbox_versions;"

	"DROP TABLE toolbox_versions;"
	"DROP TABLE toolboxes;";

/*
 * How who started an execution wants it shown; and the memory that a container
 * has, beside the tier that was asked for.
 */
static const char version_8[] =
	"ALTER TABLE executions ADD COLUMN"
	"	note TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE containers ADD COLUMN"
	"	vm_memory_mib INTEGER NOT NULL DEFAULT 0;"
	"UPDATE containers SET vm_memory_mib = memory_mib;";

/* What a response used, next to what its session did. */
static const char version_10[] =
	"ALTER TABLE usage ADD COLUMN"
	"	response_id TEXT NOT NULL DEFAULT '';";

/* Whether a name was used again, and that container deleted. */
static const char version_11[] =
	"CREATE INDEX containers_deleted_by_tenant_name"
	"	ON containers (tenant, name, seq) WHERE deleted = 1;";

/* To which trace of the client's an execution belongs. */
static const char version_12[] =
	"ALTER TABLE executions ADD COLUMN"
	"	trace TEXT NOT NULL DEFAULT '';";

const char *const schema_steps[] = {
	schema_version_1,
	version_2,
	version_3,
	version_4,
	version_5,
	version_6,
	version_7,
	version_8,
	schema_talk,
	version_10,
	version_11,
	version_12,
};
const size_t schema_step_count = sizeof(schema_steps) / sizeof(schema_steps[0]);
