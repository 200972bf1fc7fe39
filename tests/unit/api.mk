# Unit tests of api. Those of the whole server stand on a fake core.

api_fixture = %reldir%/api_fixture.c %reldir%/api_fixture.h \
	%reldir%/fake_core.c %reldir%/fake_core.h %reldir%/fake_core_impl.h \
	%reldir%/fake_core_exec.c %reldir%/fake_core_files.c \
	%reldir%/fake_core_events.c %reldir%/fake_core_talks.c \
	%reldir%/fake_core_admin.c %reldir%/fake_core_definitions.c \
	%reldir%/fake_turns.c %reldir%/fake_turns.h \
	%reldir%/test.h
# Of core only what nothing fakes: the writer of usage.
api_fixture_libs = libapi.a libturn.a libcore.a $(base_libs) \
	$(CURL_LIBS) $(MICROHTTPD_LIBS) \
	$(GNUTLS_LIBS) $(ARCHIVE_LIBS) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_api_audit
tests_unit_test_api_audit_SOURCES = %reldir%/test_api_audit.c $(api_fixture) \
	$(journal)
tests_unit_test_api_audit_LDADD = $(api_fixture_libs)
tests_unit_test_api_audit_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

unit_tests += %reldir%/test_api_http
tests_unit_test_api_http_SOURCES = %reldir%/test_api_http.c $(api_fixture)
tests_unit_test_api_http_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_strict
tests_unit_test_api_strict_SOURCES = %reldir%/test_api_strict.c $(api_fixture)
tests_unit_test_api_strict_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_overload
tests_unit_test_api_overload_SOURCES = %reldir%/test_api_overload.c \
	$(api_fixture)
tests_unit_test_api_overload_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_bounds
tests_unit_test_api_bounds_SOURCES = %reldir%/test_api_bounds.c $(api_fixture)
tests_unit_test_api_bounds_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_ends
tests_unit_test_api_ends_SOURCES = %reldir%/test_api_ends.c \
	%reldir%/mcp_client.c %reldir%/mcp_client.h $(api_fixture)
tests_unit_test_api_ends_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_cors
tests_unit_test_api_cors_SOURCES = %reldir%/test_api_cors.c $(api_fixture)
tests_unit_test_api_cors_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_dialects
tests_unit_test_api_dialects_SOURCES = \
	%reldir%/test_api_dialects.c $(api_fixture)
tests_unit_test_api_dialects_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_vsock_peers
tests_unit_test_vsock_peers_SOURCES = %reldir%/test_vsock_peers.c
tests_unit_test_vsock_peers_LDADD = $(api_fixture_libs)
tests_unit_test_vsock_peers_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=accept4

unit_tests += %reldir%/test_api_input
tests_unit_test_api_input_SOURCES = %reldir%/test_api_input.c $(api_fixture)
tests_unit_test_api_input_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_lists
tests_unit_test_api_lists_SOURCES = %reldir%/test_api_lists.c $(api_fixture)
tests_unit_test_api_lists_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_files
tests_unit_test_api_files_SOURCES = %reldir%/test_api_files.c $(api_fixture)
tests_unit_test_api_files_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_content
tests_unit_test_api_content_SOURCES = %reldir%/test_api_content.c \
	$(api_fixture)
tests_unit_test_api_content_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_sessions
tests_unit_test_api_sessions_SOURCES = %reldir%/test_api_sessions.c $(api_fixture)
tests_unit_test_api_sessions_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_session_files
tests_unit_test_api_session_files_SOURCES = \
	%reldir%/test_api_session_files.c $(api_fixture)
tests_unit_test_api_session_files_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_session_value
tests_unit_test_session_value_SOURCES = %reldir%/test_session_value.c %reldir%/test.h
tests_unit_test_session_value_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_exec
tests_unit_test_api_exec_SOURCES = %reldir%/test_api_exec.c $(api_fixture)
tests_unit_test_api_exec_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_multipart
tests_unit_test_multipart_SOURCES = %reldir%/test_multipart.c %reldir%/test.h
tests_unit_test_multipart_LDADD = libapi.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_api_zip
tests_unit_test_api_zip_CPPFLAGS = $(AM_CPPFLAGS) $(ARCHIVE_CFLAGS)
tests_unit_test_api_zip_SOURCES = %reldir%/test_api_zip.c $(api_fixture)
tests_unit_test_api_zip_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_zip_names
tests_unit_test_zip_names_SOURCES = %reldir%/test_zip_names.c %reldir%/test.h
tests_unit_test_zip_names_LDADD = libapi.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_api_tenants
tests_unit_test_api_tenants_SOURCES = %reldir%/test_api_tenants.c $(api_fixture)
tests_unit_test_api_tenants_LDADD = $(api_fixture_libs)

# The description of the API against its routes and what a daemon answers.
check_PROGRAMS += %reldir%/api_routes
tests_unit_api_routes_SOURCES = %reldir%/api_routes.c \
	%reldir%/fake_core.c %reldir%/fake_core.h %reldir%/fake_core_impl.h \
	%reldir%/fake_core_exec.c %reldir%/fake_core_files.c \
	%reldir%/fake_core_events.c %reldir%/fake_core_talks.c \
	%reldir%/fake_core_admin.c %reldir%/fake_core_definitions.c \
	%reldir%/fake_turns.c %reldir%/fake_turns.h \
	%reldir%/test.h
tests_unit_api_routes_LDADD = $(api_fixture_libs)
TESTS += %reldir%/test_openapi.py
dist_check_SCRIPTS += %reldir%/test_openapi.py

# What each route is to a container's idle time.
TESTS += %reldir%/test_activity.py %reldir%/test_foreign.py %reldir%/test_images.py \
	%reldir%/test_images_sandbox.py
dist_check_SCRIPTS += %reldir%/test_activity.py %reldir%/test_foreign.py %reldir%/test_images.py \
	%reldir%/test_images_sandbox.py

# Figures, and what is in contrib/monitoring and the manual about them.
TESTS += %reldir%/test_metrics.py
dist_check_SCRIPTS += %reldir%/test_metrics.py

unit_tests += %reldir%/test_api_responses
tests_unit_test_api_responses_SOURCES = %reldir%/test_api_responses.c \
	$(api_fixture)
tests_unit_test_api_responses_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_events
tests_unit_test_api_events_SOURCES = %reldir%/test_api_events.c $(api_fixture)
tests_unit_test_api_events_LDADD = $(api_fixture_libs)

mcp_client = %reldir%/mcp_client.c %reldir%/mcp_client.h $(api_fixture)

unit_tests += %reldir%/test_api_mcp
tests_unit_test_api_mcp_SOURCES = %reldir%/test_api_mcp.c $(mcp_client)
tests_unit_test_api_mcp_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_mcp_modern
tests_unit_test_api_mcp_modern_SOURCES = %reldir%/test_api_mcp_modern.c \
	$(mcp_client)
tests_unit_test_api_mcp_modern_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_mcp_tools
tests_unit_test_api_mcp_tools_SOURCES = %reldir%/test_api_mcp_tools.c \
	$(mcp_client)
tests_unit_test_api_mcp_tools_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_toolboxes
tests_unit_test_api_toolboxes_SOURCES = %reldir%/test_api_toolboxes.c \
	$(mcp_client)
tests_unit_test_api_toolboxes_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_agents
tests_unit_test_api_agents_SOURCES = %reldir%/test_api_agents.c $(api_fixture)
tests_unit_test_api_agents_LDADD = $(api_fixture_libs)

unit_tests += %reldir%/test_api_conversations
tests_unit_test_api_conversations_SOURCES = \
	%reldir%/test_api_conversations.c $(api_fixture)
tests_unit_test_api_conversations_LDADD = $(api_fixture_libs)
