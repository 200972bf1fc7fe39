/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

/*
 * One handler per row of routes.c. Each returns enum route_result, or a
 * negative errno with @err filled in.
 */

#include <stddef.h>

#include "base/error.h"

struct request;

#define HANDLER(name) int name(struct request *req, struct error *err)

/* openai_files.c */
HANDLER(openai_files_create);
HANDLER(openai_files_list);
HANDLER(openai_files_get);
HANDLER(openai_files_content);
HANDLER(openai_files_delete);

/* openai_uploads.c */
HANDLER(openai_uploads_create);
HANDLER(openai_uploads_add);
HANDLER(openai_uploads_complete);
HANDLER(openai_uploads_cancel);

/* openai_containers.c */
HANDLER(openai_containers_create);
HANDLER(openai_containers_list);
HANDLER(openai_containers_get);
HANDLER(openai_containers_delete);

/* openai_container_files.c */
HANDLER(openai_container_files_create);
HANDLER(openai_container_files_list);
HANDLER(openai_container_files_get);
HANDLER(openai_container_files_content);
HANDLER(openai_container_files_delete);

/* container_zip.c */
HANDLER(container_zip_get);

/* openai_responses.c */
HANDLER(openai_responses_create);
HANDLER(openai_responses_get);
HANDLER(openai_responses_delete);
HANDLER(openai_responses_cancel);
HANDLER(openai_responses_input_items);

/* openai_models.c */
HANDLER(openai_models_list);
HANDLER(openai_models_get);

/* openai_conversations.c */
HANDLER(openai_conversations_create);
HANDLER(openai_conversations_get);
HANDLER(openai_conversations_update);
HANDLER(openai_conversations_delete);
HANDLER(openai_conversation_items_create);
HANDLER(openai_conversation_items_list);
HANDLER(openai_conversation_items_get);
HANDLER(openai_conversation_items_delete);

/* exec_api.c */
HANDLER(exec_api_create);
HANDLER(exec_api_get);
HANDLER(exec_api_events);
HANDLER(exec_api_interrupt);

/* sessions_exec.c */
HANDLER(sessions_execute);
HANDLER(sessions_execute_by_path);
HANDLER(sessions_executions_create);
HANDLER(sessions_executions_get);

/* sessions_files.c */
HANDLER(sessions_files_create);
HANDLER(sessions_files_list);
HANDLER(sessions_files_get);
HANDLER(sessions_files_content);
HANDLER(sessions_files_delete);

/* sessions_info.c */
HANDLER(sessions_session_get);
HANDLER(sessions_session_delete);
HANDLER(sessions_stop);
HANDLER(sessions_list);

/* sessions_metadata.c */
HANDLER(sessions_metadata);

/* mcp.c */
HANDLER(mcp_server_post);
HANDLER(mcp_server_delete);
HANDLER(mcp_pool_post);
HANDLER(mcp_pool_delete);
HANDLER(mcp_toolbox_post);
HANDLER(mcp_toolbox_delete);

/* toolboxes.c */
HANDLER(toolboxes_list);
HANDLER(toolboxes_get);
HANDLER(toolboxes_update);
HANDLER(toolboxes_delete);
HANDLER(toolboxes_versions_create);
HANDLER(toolboxes_versions_list);
HANDLER(toolboxes_versions_get);
HANDLER(toolboxes_versions_delete);

/* agents.c, agents_change.c */
HANDLER(agents_list);
HANDLER(agents_create);
HANDLER(agents_get);
HANDLER(agents_update);
HANDLER(agents_patch);
HANDLER(agents_enable);
HANDLER(agents_disable);
HANDLER(agents_delete);
HANDLER(agents_versions_list);
HANDLER(agents_versions_create);
HANDLER(agents_versions_get);
HANDLER(agents_versions_delete);

/* health.c */
HANDLER(health_live);
HANDLER(health_ready);
HANDLER(health_metrics);

/* admin.c */

/** admin_on_json() - A json_fn of core: its text is the answer of a request */
void admin_on_json(void *userdata, const char *json, size_t size,
		   const struct error *err);

HANDLER(admin_sessions_list);
HANDLER(admin_sessions_inspect);
HANDLER(admin_sessions_kill);
HANDLER(admin_sessions_nmi);
HANDLER(admin_sessions_console);
HANDLER(admin_top);
HANDLER(admin_status);
HANDLER(admin_pools);
HANDLER(admin_pools_set);
HANDLER(admin_images);
HANDLER(admin_doctor);
HANDLER(admin_audit);
HANDLER(admin_mend);
HANDLER(admin_probe);
HANDLER(admin_clock);

/* admin_tenants.c */
HANDLER(admin_keys_list);
HANDLER(admin_keys_create);
HANDLER(admin_keys_revoke);
HANDLER(admin_tenants_list);
HANDLER(admin_tenants_create);
HANDLER(admin_tenants_get);
HANDLER(admin_tenants_set);
HANDLER(admin_tenants_delete);

/* admin_artifacts.c */
HANDLER(admin_artifacts_list);
HANDLER(admin_artifacts_content);
HANDLER(admin_artifacts_delete);

/* admin_models.c */
HANDLER(admin_models_list);
HANDLER(admin_models_test);

/* admin_drain.c */
HANDLER(admin_drain_get);
HANDLER(admin_drain_begin);
HANDLER(admin_drain_undo);

/* admin_events.c */
HANDLER(admin_events);

/* admin_usage.c */
HANDLER(admin_usage);
HANDLER(admin_backup);

#undef HANDLER

#endif
