/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

/*
 * Each table that is listed has "seq", which grows with every row and is the
 * order of creation: seconds are too coarse for that. Empty text and zero
 * stand for "none", so nothing is NULL.
 *
 * What must always hold is held by the database itself: a file of a container
 * belongs to the container's tenant (foreign key over both), a path has one
 * newest version (partial unique index); sums of quotas and the references of
 * blobs follow every row that comes or goes, however it does, and what comes
 * too late for an erased container is dropped (triggers).
 */
static const char version_1[] =
	"CREATE TABLE settings ("
	"	name TEXT PRIMARY KEY,"
	"	value TEXT NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"INSERT INTO settings VALUES"
	"	('installation_id', lower(hex(randomblob(16))));"

	"CREATE TABLE counters ("
	"	id INTEGER PRIMARY KEY,"
	"	value INTEGER NOT NULL"
	") STRICT;"

	"CREATE TABLE tenants ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	created_usec INTEGER NOT NULL,"
	"	files INTEGER NOT NULL DEFAULT 0,"
	"	file_bytes INTEGER NOT NULL DEFAULT 0,"
	"	cfiles INTEGER NOT NULL DEFAULT 0,"
	"	cfile_bytes INTEGER NOT NULL DEFAULT 0"
	") STRICT;"

	"CREATE TABLE keys ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),"
	"	name TEXT NOT NULL,"
	"	scopes INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	expires_usec INTEGER NOT NULL,"
	"	revoked_usec INTEGER NOT NULL,"
	"	last_used_usec INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX keys_by_tenant ON keys (tenant, seq);"

	/* No foreign keys lead here: they would cost each table an index over
	 * digests. The triggers below keep refs right. */
	"CREATE TABLE blobs ("
	"	sha256 BLOB PRIMARY KEY CHECK (length(sha256) = 32),"
	"	refs INTEGER NOT NULL DEFAULT 0 CHECK (refs >= 0)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX blobs_unused ON blobs (sha256) WHERE refs = 0;"
	"CREATE TRIGGER blobs_in_use BEFORE DELETE ON blobs"
	"	WHEN old.refs <> 0 BEGIN"
	"	SELECT raise(ABORT, 'blob in use');"
	"END;"

	"CREATE TABLE files ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	filename TEXT NOT NULL,"
	"	purpose TEXT NOT NULL,"
	"	media_type TEXT NOT NULL,"
	"	sha256 BLOB NOT NULL CHECK (length(sha256) = 32),"
	"	bytes INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	expires_usec INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX files_by_tenant ON files (tenant, seq);"
	"CREATE INDEX files_by_purpose ON files (tenant, purpose, seq);"
	"CREATE INDEX files_by_expiry ON files (expires_usec)"
	"	WHERE expires_usec > 0;"
	"CREATE TRIGGER files_added AFTER INSERT ON files BEGIN"
	"	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;"
	"	UPDATE tenants SET files = files + 1,"
	"		file_bytes = file_bytes + new.bytes"
	"		WHERE id = new.tenant;"
	"END;"
	"CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN"
	"	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;"
	"	UPDATE tenants SET files = files - 1,"
	"		file_bytes = file_bytes - old.bytes"
	"		WHERE id = old.tenant;"
	"END;"

	"CREATE TABLE containers ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	key_id TEXT NOT NULL,"
	"	name TEXT NOT NULL,"
	"	dialect TEXT NOT NULL,"
	"	pool TEXT NOT NULL,"
	"	image TEXT NOT NULL,"
	"	vm_id TEXT NOT NULL,"
	"	state TEXT NOT NULL,"
	"	memory_mib INTEGER NOT NULL,"
	"	idle_minutes INTEGER NOT NULL,"
	"	kernel_epoch INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	last_active_usec INTEGER NOT NULL,"
	"	ended_usec INTEGER NOT NULL,"
	"	ended_reason TEXT NOT NULL,"
	"	usage_executions INTEGER NOT NULL,"
	"	usage_assigned_usec INTEGER NOT NULL,"
	"	usage_executing_usec INTEGER NOT NULL,"
	"	usage_cpu_usec INTEGER NOT NULL,"
	"	usage_bytes_in INTEGER NOT NULL,"
	"	usage_bytes_out INTEGER NOT NULL,"
	"	deleted INTEGER NOT NULL DEFAULT 0,"
	"	UNIQUE (id, tenant)"
	") STRICT;"
	"CREATE INDEX containers_by_tenant ON containers (tenant, seq)"
	"	WHERE deleted = 0;"
	"CREATE INDEX containers_by_tenant_name"
	"	ON containers (tenant, name, seq) WHERE deleted = 0;"
	"CREATE INDEX containers_by_name ON containers (name, seq);"
	"CREATE INDEX containers_live ON containers (tenant, seq)"
	"	WHERE ended_usec = 0;"
	"CREATE INDEX containers_by_end ON containers (ended_usec)"
	"	WHERE ended_usec > 0;"

	"CREATE TABLE cfiles ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	container_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	path TEXT NOT NULL,"
	"	source TEXT NOT NULL,"
	"	media_type TEXT NOT NULL,"
	"	exec_id TEXT NOT NULL,"
	"	sha256 BLOB NOT NULL CHECK (length(sha256) = 32),"
	"	bytes INTEGER NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	superseded INTEGER NOT NULL DEFAULT 0,"
	"	FOREIGN KEY (container_id, tenant)"
	"		REFERENCES containers (id, tenant)"
	") STRICT;"
	"CREATE INDEX cfiles_by_container ON cfiles (container_id, tenant);"
	"CREATE INDEX cfiles_newest ON cfiles (container_id, tenant, seq)"
	"	WHERE superseded = 0;"
	"CREATE UNIQUE INDEX cfiles_by_path ON cfiles (container_id, path)"
	"	WHERE superseded = 0;"
	"CREATE TRIGGER cfiles_of_erased BEFORE INSERT ON cfiles"
	"	WHEN (SELECT deleted FROM containers"
	"		WHERE id = new.container_id) = 1 BEGIN"
	"	SELECT raise(IGNORE);"
	"END;"
	"CREATE TRIGGER cfiles_added AFTER INSERT ON cfiles BEGIN"
	"	UPDATE blobs SET refs = refs + 1 WHERE sha256 = new.sha256;"
	"	UPDATE tenants SET cfiles = cfiles + 1,"
	"		cfile_bytes = cfile_bytes + new.bytes"
	"		WHERE id = new.tenant;"
	"END;"
	"CREATE TRIGGER cfiles_removed AFTER DELETE ON cfiles BEGIN"
	"	UPDATE blobs SET refs = refs - 1 WHERE sha256 = old.sha256;"
	"	UPDATE tenants SET cfiles = cfiles - 1,"
	"		cfile_bytes = cfile_bytes - old.bytes"
	"		WHERE id = old.tenant;"
	"END;"

	"CREATE TABLE executions ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	container_id TEXT NOT NULL,"
	"	tenant TEXT NOT NULL,"
	"	number INTEGER NOT NULL,"
	"	status TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	started_usec INTEGER NOT NULL,"
	"	ended_usec INTEGER NOT NULL,"
	"	duration_usec INTEGER NOT NULL,"
	"	cpu_usec INTEGER NOT NULL,"
	"	peak_memory_bytes INTEGER NOT NULL,"
	"	total_bytes INTEGER NOT NULL,"
	"	omitted_bytes INTEGER NOT NULL,"
	"	execution_count INTEGER NOT NULL,"
	"	kernel_epoch INTEGER NOT NULL,"
	"	out_truncated INTEGER NOT NULL,"
	"	err_truncated INTEGER NOT NULL,"
	"	state_lost INTEGER NOT NULL,"
	"	has_record INTEGER NOT NULL DEFAULT 0,"
	"	FOREIGN KEY (container_id, tenant)"
	"		REFERENCES containers (id, tenant)"
	") STRICT;"
	"CREATE INDEX executions_by_container"
	"	ON executions (container_id, tenant, seq);"
	"CREATE INDEX executions_open ON executions (seq)"
	"	WHERE ended_usec = 0;"
	"CREATE INDEX executions_by_end ON executions (ended_usec)"
	"	WHERE ended_usec > 0;"

	"CREATE TRIGGER executions_of_erased BEFORE INSERT ON executions"
	"	WHEN (SELECT deleted FROM containers"
	"		WHERE id = new.container_id) = 1 BEGIN"
	"	SELECT raise(IGNORE);"
	"END;"

	/* Apart, so that lists of executions do not drag their output along. */
	"CREATE TABLE records ("
	"	id TEXT PRIMARY KEY"
	"		REFERENCES executions (id) ON DELETE CASCADE,"
	"	json TEXT NOT NULL,"
	"	out BLOB NOT NULL,"
	"	err BLOB NOT NULL"
	") STRICT;"

	/* Nothing here refers to other tables: the ledger must be complete
	 * even where they are not. */
	"CREATE TABLE vms ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	id TEXT NOT NULL UNIQUE,"
	"	container_id TEXT NOT NULL,"
	"	pool TEXT NOT NULL,"
	"	pool_generation INTEGER NOT NULL,"
	"	image TEXT NOT NULL,"
	"	state TEXT NOT NULL,"
	"	cid INTEGER NOT NULL UNIQUE,"
	"	memory_mib INTEGER NOT NULL,"
	"	disk_bytes INTEGER NOT NULL,"
	"	nonce BLOB NOT NULL CHECK (length(nonce) = 32),"
	"	boot_id TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	assigned_usec INTEGER NOT NULL,"
	"	assigned_boot_usec INTEGER NOT NULL,"
	"	hard_deadline_boot_usec INTEGER NOT NULL"
	") STRICT;"

	"CREATE TABLE usage ("
	"	seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"	tenant TEXT NOT NULL,"
	"	key_id TEXT NOT NULL,"
	"	container_id TEXT NOT NULL,"
	"	vm_id TEXT NOT NULL,"
	"	exec_id TEXT NOT NULL,"
	"	kind TEXT NOT NULL,"
	"	detail TEXT NOT NULL,"
	"	amount INTEGER NOT NULL,"
	"	at_usec INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX usage_by_tenant ON usage (tenant, at_usec);"
	"CREATE TRIGGER usage_is_final BEFORE UPDATE ON usage BEGIN"
	"	SELECT raise(ABORT, 'usage is append-only');"
	"END;"

	"CREATE TABLE idempotency ("
	"	tenant TEXT NOT NULL REFERENCES tenants(id),"
	"	key TEXT NOT NULL,"
	"	body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),"
	"	answer TEXT NOT NULL,"
	"	created_usec INTEGER NOT NULL,"
	"	PRIMARY KEY (tenant, key)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX idempotency_by_age ON idempotency (created_usec);";

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

const char *const schema_steps[] = {
	version_1,
	version_2,
	version_3,
	version_4,
	version_5,
	version_6,
	version_7,
	version_8,
};
const size_t schema_step_count = sizeof(schema_steps) / sizeof(schema_steps[0]);
