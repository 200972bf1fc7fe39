/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "api/router.h"
#include "api/sessions.h"
#include "base/limits.h"

#define OPENAI(method_, pattern_, scope_, handle_, ...)                        \
	{ .family = FAMILY_OPENAI, .method = (method_), .pattern = (pattern_), \
	  .scope = CORE_SCOPE_##scope_, .handle = (handle_), __VA_ARGS__ }
#define SESSIONS(method_, pattern_, handle_, ...)                              \
	{ .family = FAMILY_SESSIONS, .method = (method_),                      \
	  .pattern = (pattern_), .scope = CORE_SCOPE_SESSIONS,                 \
	  .handle = (handle_), __VA_ARGS__ }
#define SESSIONS_RUN(pattern_, handle_)                                        \
	SESSIONS("POST", pattern_, handle_, .body = BODY_JSON,                 \
		 .json_max = LIMIT_JSON_BODY_EXEC)
#define SESSIONS_UPLOAD(pattern_)                                              \
	SESSIONS("POST", pattern_, sessions_files_create, .body = BODY_FORM,   \
		 .file_field = "file", .file_max = SESSION_FILE_MAX)
#define MCP(family_, pattern_, scopes_, where_)                                \
	{ .family = FAMILY_##family_, .method = "POST",                        \
	  .pattern = (pattern_), .scope = (scopes_), .body = BODY_JSON,        \
	  .json_large = true, .rpc = true, .handle = mcp_##where_##_post },    \
	{ .family = FAMILY_##family_, .method = "DELETE",                      \
	  .pattern = (pattern_), .scope = (scopes_), .rpc = true,              \
	  .handle = mcp_##where_##_delete }
#define TOOLBOXES(method_, pattern_, handle_, ...)                             \
	{ .family = FAMILY_PROJECT, .method = (method_),                       \
	  .pattern = (pattern_), .scope = CORE_SCOPE_TOOLBOXES,                \
	  .handle = (handle_), __VA_ARGS__ }
#define AGENTS(method_, pattern_, handle_, ...)                                \
	{ .family = FAMILY_PROJECT, .method = (method_),                       \
	  .pattern = (pattern_), .scope = CORE_SCOPE_RESPONSES,                \
	  .handle = (handle_), __VA_ARGS__ }
#define ADMIN(method_, pattern_, handle_, ...)                                 \
	{ .family = FAMILY_ADMIN, .method = (method_), .pattern = (pattern_),  \
	  .handle = (handle_), __VA_ARGS__ }
#define ROOT(method_, pattern_, handle_, ...)                                  \
	{ .family = FAMILY_ROOT, .method = (method_), .pattern = (pattern_),   \
	  .handle = (handle_), __VA_ARGS__ }

const struct route routes[] = {
	OPENAI("GET", "files", FILES, openai_files_list),
	OPENAI("POST", "files", FILES, openai_files_create,
	       .body = BODY_FORM, .file_field = "file"),
	OPENAI("GET", "files/{}", FILES, openai_files_get),
	OPENAI("DELETE", "files/{}", FILES, openai_files_delete),
	OPENAI("GET", "files/{}/content", FILES, openai_files_content),

	OPENAI("POST", "uploads", FILES, openai_uploads_create,
	       .body = BODY_JSON),
	OPENAI("POST", "uploads/{}/parts", FILES, openai_uploads_add,
	       .body = BODY_FORM, .file_field = "data",
	       .file_max = CORE_PART_BYTES_MAX),
	OPENAI("POST", "uploads/{}/complete", FILES, openai_uploads_complete,
	       .body = BODY_JSON),
	OPENAI("POST", "uploads/{}/cancel", FILES, openai_uploads_cancel),

	OPENAI("GET", "containers", CONTAINERS, openai_containers_list),
	OPENAI("POST", "containers", CONTAINERS, openai_containers_create,
	       .body = BODY_JSON),
	OPENAI("GET", "containers/{}", CONTAINERS, openai_containers_get,
	       .container = true),
	OPENAI("DELETE", "containers/{}", CONTAINERS,
	       openai_containers_delete),

	OPENAI("GET", "containers/{}/files", CONTAINERS,
	       openai_container_files_list, .container = true),
	OPENAI("POST", "containers/{}/files", CONTAINERS,
	       openai_container_files_create, .container = true,
	       .body = BODY_JSON_OR_FORM, .file_field = "file"),
	OPENAI("GET", "containers/{}/files/{}", CONTAINERS,
	       openai_container_files_get, .container = true),
	OPENAI("DELETE", "containers/{}/files/{}", CONTAINERS,
	       openai_container_files_delete, .container = true),
	OPENAI("GET", "containers/{}/files/{}/content", CONTAINERS,
	       openai_container_files_content, .container = true),
	OPENAI("GET", "containers/{}/files.zip", CONTAINERS,
	       container_zip_get, .container = true),

	OPENAI("POST", "containers/{}/exec", CONTAINERS, exec_api_create,
	       .container = true, .body = BODY_JSON,
	       .json_max = LIMIT_JSON_BODY_EXEC),
	OPENAI("GET", "containers/{}/executions/{}", CONTAINERS, exec_api_get,
	       .container = true),
	OPENAI("GET", "containers/{}/executions/{}/events", CONTAINERS,
	       exec_api_events, .container = true),
	OPENAI("POST", "containers/{}/executions/{}/interrupt", CONTAINERS,
	       exec_api_interrupt, .container = true),

	OPENAI("POST", "conversations", RESPONSES, openai_conversations_create,
	       .body = BODY_JSON, .json_large = true),
	OPENAI("GET", "conversations/{}", RESPONSES, openai_conversations_get),
	OPENAI("POST", "conversations/{}", RESPONSES,
	       openai_conversations_update, .body = BODY_JSON),
	OPENAI("DELETE", "conversations/{}", RESPONSES,
	       openai_conversations_delete),
	OPENAI("POST", "conversations/{}/items", RESPONSES,
	       openai_conversation_items_create, .body = BODY_JSON,
	       .json_large = true),
	OPENAI("GET", "conversations/{}/items", RESPONSES,
	       openai_conversation_items_list),
	OPENAI("GET", "conversations/{}/items/{}", RESPONSES,
	       openai_conversation_items_get),
	OPENAI("DELETE", "conversations/{}/items/{}", RESPONSES,
	       openai_conversation_items_delete),

	OPENAI("POST", "responses", RESPONSES, openai_responses_create,
	       .body = BODY_JSON, .json_large = true),
	OPENAI("GET", "responses/{}", RESPONSES, openai_responses_get),
	OPENAI("DELETE", "responses/{}", RESPONSES, openai_responses_delete),
	OPENAI("POST", "responses/{}/cancel", RESPONSES,
	       openai_responses_cancel),
	OPENAI("GET", "responses/{}/input_items", RESPONSES,
	       openai_responses_input_items),

	OPENAI("GET", "models", ALL, openai_models_list),
	OPENAI("GET", "models/{*}", ALL, openai_models_get),

	/* Old family, new family, and what both have. */
	SESSIONS_RUN("code/execute", sessions_execute),
	SESSIONS_RUN("identifier/{}/code/execute", sessions_execute_by_path),
	SESSIONS_UPLOAD("files/upload"),
	SESSIONS_UPLOAD("files/{}:uploadFile"),
	SESSIONS("GET", "files/content/{}", sessions_files_content),
	SESSIONS_RUN("executions", sessions_executions_create),
	SESSIONS("GET", "executions/{}", sessions_executions_get),
	SESSIONS_UPLOAD("files"),
	SESSIONS("GET", "files/{}/content", sessions_files_content),
	SESSIONS("GET", "files", sessions_files_list),
	SESSIONS("GET", "files/{}", sessions_files_get),
	SESSIONS("DELETE", "files/{}", sessions_files_delete),
	SESSIONS("GET", "session", sessions_session_get),
	SESSIONS("DELETE", "session", sessions_session_delete),
	SESSIONS("GET", "listSessions", sessions_list),
	SESSIONS("GET", "metadata", sessions_metadata),
	SESSIONS("POST", ".management/stopSession", sessions_stop),

	TOOLBOXES("GET", "toolboxes", toolboxes_list),
	TOOLBOXES("GET", "toolboxes/{}", toolboxes_get),
	TOOLBOXES("PATCH", "toolboxes/{}", toolboxes_update,
		  .body = BODY_JSON),
	TOOLBOXES("DELETE", "toolboxes/{}", toolboxes_delete),
	TOOLBOXES("POST", "toolboxes/{}/versions", toolboxes_versions_create,
		  .body = BODY_JSON),
	TOOLBOXES("GET", "toolboxes/{}/versions", toolboxes_versions_list),
	TOOLBOXES("GET", "toolboxes/{}/versions/{}", toolboxes_versions_get),
	TOOLBOXES("DELETE", "toolboxes/{}/versions/{}",
		  toolboxes_versions_delete),

	AGENTS("GET", "agents", agents_list),
	AGENTS("POST", "agents", agents_create, .body = BODY_JSON),
	AGENTS("GET", "agents/{}", agents_get),
	AGENTS("POST", "agents/{}", agents_update, .body = BODY_JSON),
	AGENTS("PATCH", "agents/{}", agents_patch, .body = BODY_JSON,
	       .json_patch = true),
	AGENTS("DELETE", "agents/{}", agents_delete),
	AGENTS("POST", "agents/{}:enable", agents_enable),
	AGENTS("POST", "agents/{}:disable", agents_disable),
	AGENTS("GET", "agents/{}/versions", agents_versions_list),
	AGENTS("POST", "agents/{}/versions", agents_versions_create,
	       .body = BODY_JSON),
	AGENTS("GET", "agents/{}/versions/{}", agents_versions_get),
	AGENTS("DELETE", "agents/{}/versions/{}", agents_versions_delete),

	/* Behind the toolboxes: a name may end in a verb there. */
	MCP(ROOT, "mcp", CORE_SCOPE_TOOLBOXES, server),
	/* A pool's belongs to both. */
	MCP(POOL, "mcp", CORE_SCOPE_TOOLBOXES | CORE_SCOPE_SESSIONS, pool),
	MCP(PROJECT, "toolboxes/{}/mcp", CORE_SCOPE_TOOLBOXES, toolbox),
	MCP(PROJECT, "toolsets/{}/mcp", CORE_SCOPE_TOOLBOXES, toolbox),
	MCP(PROJECT, "toolboxes/{}:invoke_mcp", CORE_SCOPE_TOOLBOXES, toolbox),
	MCP(PROJECT, "toolboxes/{}/versions/{}/mcp", CORE_SCOPE_TOOLBOXES,
	    toolbox),

	ROOT("GET", "healthz", health_live),
	ROOT("GET", "readyz", health_ready),
	ROOT("GET", "metrics", health_metrics, .scope = CORE_SCOPE_METRICS,
	     .view = true),

	ADMIN("GET", "sessions", admin_sessions_list, .view = true),
	ADMIN("GET", "sessions/{}", admin_sessions_inspect, .view = true),
	ADMIN("DELETE", "sessions/{}", admin_sessions_kill,
	      .audit = "session_kill"),
	ADMIN("POST", "sessions/{}/nmi", admin_sessions_nmi,
	      .audit = "session_nmi"),
	ADMIN("GET", "sessions/{}/console", admin_sessions_console,
	      .audit = "console_read"),
	ADMIN("GET", "top", admin_top, .view = true),
	ADMIN("GET", "status", admin_status, .view = true),
	ADMIN("GET", "pools", admin_pools, .view = true),
	ADMIN("POST", "pools/{}", admin_pools_set, .body = BODY_JSON,
	      .audit = "pool_change"),
	ADMIN("GET", "images", admin_images, .view = true),
	ADMIN("GET", "doctor", admin_doctor, .view = true),
	ADMIN("GET", "audit", admin_audit, .view = true),
	ADMIN("POST", "audit", admin_mend, .audit = "mend"),
	ADMIN("POST", "probe", admin_probe, .body = BODY_JSON,
	      .audit = "probe"),
	ADMIN("GET", "keys", admin_keys_list, .view = true),
	ADMIN("POST", "keys", admin_keys_create, .body = BODY_JSON,
	      .audit = "key_create"),
	ADMIN("DELETE", "keys/{}", admin_keys_revoke, .audit = "key_revoke"),
	ADMIN("GET", "tenants", admin_tenants_list, .view = true),
	ADMIN("POST", "tenants", admin_tenants_create, .body = BODY_JSON,
	      .audit = "tenant_create"),
	ADMIN("GET", "tenants/{}", admin_tenants_get, .view = true),
	ADMIN("POST", "tenants/{}", admin_tenants_set, .body = BODY_JSON,
	      .audit = "tenant_change"),
	ADMIN("DELETE", "tenants/{}", admin_tenants_delete,
	      .audit = "tenant_delete"),
	ADMIN("GET", "models", admin_models_list, .view = true),
	ADMIN("POST", "models/test", admin_models_test, .body = BODY_JSON,
	      .audit = "model_test"),
	ADMIN("GET", "artifacts", admin_artifacts_list, .view = true),
	ADMIN("GET", "artifacts/{}/content", admin_artifacts_content,
	      .audit = "artifact_read"),
	ADMIN("DELETE", "artifacts/{}", admin_artifacts_delete,
	      .audit = "artifact_delete"),
	ADMIN("GET", "drain", admin_drain_get, .view = true),
	ADMIN("POST", "drain", admin_drain_begin, .body = BODY_JSON,
	      .audit = "drain_begin"),
	ADMIN("DELETE", "drain", admin_drain_undo, .audit = "drain_end"),
	ADMIN("GET", "events", admin_events, .view = true),
	ADMIN("GET", "usage", admin_usage, .view = true),
	ADMIN("GET", "backup", admin_backup, .audit = "backup_read"),
	ADMIN("POST", "clock", admin_clock, .body = BODY_JSON,
	      .audit = "clock_advance"),
};

const size_t routes_count = sizeof(routes) / sizeof(routes[0]);
