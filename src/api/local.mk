# api: HTTP server and every dialect; decides nothing.

noinst_LIBRARIES += libapi.a
libapi_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(MICROHTTPD_CFLAGS) \
	$(GNUTLS_CFLAGS) $(ARCHIVE_CFLAGS)
libapi_a_SOURCES = \
	%reldir%/admin.c \
	%reldir%/admin_artifacts.c \
	%reldir%/admin_drain.c \
	%reldir%/admin_events.c \
	%reldir%/admin_models.c \
	%reldir%/admin_tenants.c \
	%reldir%/admin_usage.c \
	%reldir%/agents.c %reldir%/agents.h \
	%reldir%/agents_change.c \
	%reldir%/admit.c %reldir%/admit.h \
	%reldir%/api.c %reldir%/api.h %reldir%/api_private.h \
	%reldir%/api_error.c %reldir%/api_error.h \
	%reldir%/auth.c %reldir%/auth.h \
	%reldir%/body.c %reldir%/body.h \
	%reldir%/container_zip.c %reldir%/container_zip.h \
	%reldir%/cors.c %reldir%/cors.h \
	%reldir%/definitions.c %reldir%/definitions.h \
	%reldir%/exec_api.c \
	%reldir%/exec_stream.c %reldir%/exec_stream.h \
	%reldir%/exec_timeout.c %reldir%/exec_timeout.h \
	%reldir%/handlers.h \
	%reldir%/header.c %reldir%/header.h \
	%reldir%/health.c \
	%reldir%/http_conn.c %reldir%/http_conn.h \
	%reldir%/http_head.c %reldir%/http_head.h \
	%reldir%/http_linger.c %reldir%/http_linger.h \
	%reldir%/http_listen.c %reldir%/http_listen.h \
	%reldir%/http_peer.c %reldir%/http_peer.h \
	%reldir%/http_server.c %reldir%/http_server.h \
	%reldir%/http_tls.c %reldir%/http_tls.h \
	%reldir%/http_turns.c %reldir%/http_turns.h \
	%reldir%/idempotency.c %reldir%/idempotency.h \
	%reldir%/include_query.c %reldir%/include_query.h \
	%reldir%/inline_file.c %reldir%/inline_file.h \
	%reldir%/merge_patch.c %reldir%/merge_patch.h \
	%reldir%/mcp.c %reldir%/mcp.h \
	%reldir%/mcp_container.c \
	%reldir%/mcp_files.c \
	%reldir%/mcp_message.c %reldir%/mcp_message.h \
	%reldir%/mcp_methods.c \
	%reldir%/mcp_origin.c %reldir%/mcp_origin.h \
	%reldir%/mcp_outcome.c \
	%reldir%/mcp_reply.c \
	%reldir%/mcp_resources.c \
	%reldir%/mcp_run.c \
	%reldir%/mcp_session.c %reldir%/mcp_session.h \
	%reldir%/mcp_tools.c %reldir%/mcp_tools.h \
	%reldir%/multipart.c %reldir%/multipart.h \
	%reldir%/openai_container_files.c \
	%reldir%/openai_containers.c \
	%reldir%/openai_purpose.h \
	%reldir%/openai_uploads.c \
	%reldir%/openai_conversations.c \
	%reldir%/openai_files.c \
	%reldir%/openai_files_list.c \
	%reldir%/openai_responses.c \
	%reldir%/response_follow.c %reldir%/response_follow.h \
	%reldir%/include_query.c %reldir%/include_query.h \
	%reldir%/openai_models.c \
	%reldir%/origin.c %reldir%/origin.h \
	%reldir%/page.c %reldir%/page.h \
	%reldir%/page_items.c %reldir%/page_items.h \
	%reldir%/penalty.c %reldir%/penalty.h \
	%reldir%/reply.c %reldir%/reply.h \
	%reldir%/reply_file.c \
	%reldir%/request.c %reldir%/request.h \
	%reldir%/request_json.c \
	%reldir%/request_log.c %reldir%/request_log.h \
	%reldir%/router.c %reldir%/router.h \
	%reldir%/routes.c \
	%reldir%/session_outcome.c %reldir%/session_outcome.h \
	%reldir%/session_value.c %reldir%/session_value.h \
	%reldir%/sessions.c %reldir%/sessions.h \
	%reldir%/sessions_exec.c \
	%reldir%/sessions_files.c %reldir%/sessions_files.h \
	%reldir%/sessions_files_list.c \
	%reldir%/sessions_info.c \
	%reldir%/sessions_metadata.c \
	%reldir%/slices.c %reldir%/slices.h \
	%reldir%/sse.c %reldir%/sse.h \
	%reldir%/toolbox_create.c \
	%reldir%/toolbox_offer.c %reldir%/toolbox_offer.h \
	%reldir%/toolboxes.c %reldir%/toolboxes.h \
	%reldir%/uri.c %reldir%/uri.h \
	%reldir%/view_json.c %reldir%/view_json.h \
	%reldir%/vsock_peers.c %reldir%/vsock_peers.h \
	%reldir%/zip_names.c %reldir%/zip_names.h \
	%reldir%/zip_writer.c %reldir%/zip_writer.h

api_libs = libapi.a $(turn_libs) $(MICROHTTPD_LIBS) $(GNUTLS_LIBS) \
	$(ARCHIVE_LIBS)
