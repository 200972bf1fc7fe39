# Unit tests of core. Most run all of it on a real store, with a scripted
# hypervisor process and scripted guests.

core_fixture = \
	%reldir%/core_fixture.c %reldir%/core_fixture.h \
	%reldir%/scripted_guest.c %reldir%/scripted_guest.h \
	%reldir%/scripted_guest_say.c \
	%reldir%/scripted_vmd.c %reldir%/scripted_vmd.h \
	%reldir%/test.h
core_test_libs = $(core_libs) $(CMOCKA_LIBS)

unit_tests += \
	%reldir%/test_core_admin \
	%reldir%/test_core_artifacts \
	%reldir%/test_core_audit \
	%reldir%/test_core_boot \
	%reldir%/test_core_budget \
	%reldir%/test_core_capacity \
	%reldir%/test_core_ends \
	%reldir%/test_core_drain \
	%reldir%/test_core_events \
	%reldir%/test_core_exec \
	%reldir%/test_core_files \
	%reldir%/test_core_owed \
	%reldir%/test_core_placing \
	%reldir%/test_core_pull \
	%reldir%/test_core_handle \
	%reldir%/test_core_hostile \
	%reldir%/test_core_hostile_files \
	%reldir%/test_core_input_type \
	%reldir%/test_core_lifecycle \
	%reldir%/test_core_limits \
	%reldir%/test_core_memory \
	%reldir%/test_core_patience \
	%reldir%/test_core_keys \
	%reldir%/test_core_parts \
	%reldir%/test_core_restart \
	%reldir%/test_core_room \
	%reldir%/test_core_session \
	%reldir%/test_core_states \
	%reldir%/test_core_context \
	%reldir%/test_core_talk \
	%reldir%/test_core_tenants \
	%reldir%/test_core_metrics \
	%reldir%/test_core_trace \
	%reldir%/test_core_definitions

tests_unit_test_core_artifacts_SOURCES = %reldir%/test_core_artifacts.c $(core_fixture)
tests_unit_test_core_artifacts_LDADD = $(core_test_libs)

tests_unit_test_core_boot_SOURCES = %reldir%/test_core_boot.c $(core_fixture)
tests_unit_test_core_boot_LDADD = $(core_test_libs)

tests_unit_test_core_capacity_SOURCES = %reldir%/test_core_capacity.c $(core_fixture)
tests_unit_test_core_capacity_LDADD = $(core_test_libs)

tests_unit_test_core_ends_SOURCES = %reldir%/test_core_ends.c \
	$(core_fixture) $(journal)
tests_unit_test_core_ends_LDADD = $(core_test_libs)
tests_unit_test_core_ends_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

tests_unit_test_core_audit_SOURCES = %reldir%/test_core_audit.c \
	$(core_fixture) $(journal)
tests_unit_test_core_audit_LDADD = $(core_test_libs)
tests_unit_test_core_audit_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

tests_unit_test_core_metrics_SOURCES = %reldir%/test_core_metrics.c \
	$(core_fixture)
tests_unit_test_core_metrics_LDADD = $(core_test_libs)

tests_unit_test_core_trace_SOURCES = %reldir%/test_core_trace.c \
	$(core_fixture) $(journal)
tests_unit_test_core_trace_LDADD = $(core_test_libs)
tests_unit_test_core_trace_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

tests_unit_test_core_drain_SOURCES = %reldir%/test_core_drain.c $(core_fixture)
tests_unit_test_core_drain_LDADD = $(core_test_libs)

tests_unit_test_core_admin_SOURCES = %reldir%/test_core_admin.c $(core_fixture)
tests_unit_test_core_admin_LDADD = $(core_test_libs)

tests_unit_test_core_events_SOURCES = %reldir%/test_core_events.c $(core_fixture)
tests_unit_test_core_events_LDADD = $(core_test_libs)

tests_unit_test_core_exec_SOURCES = %reldir%/test_core_exec.c $(core_fixture)
tests_unit_test_core_exec_LDADD = $(core_test_libs)

tests_unit_test_core_files_SOURCES = %reldir%/test_core_files.c $(core_fixture)
tests_unit_test_core_files_LDADD = $(core_test_libs)

tests_unit_test_core_placing_SOURCES = \
	%reldir%/test_core_placing.c $(core_fixture)
tests_unit_test_core_placing_LDADD = $(core_test_libs)

tests_unit_test_core_handle_SOURCES = %reldir%/test_core_handle.c $(core_fixture)
tests_unit_test_core_handle_LDADD = $(core_test_libs)

hostile = %reldir%/hostile.c %reldir%/hostile.h $(core_fixture)

tests_unit_test_core_hostile_SOURCES = %reldir%/test_core_hostile.c $(hostile)
tests_unit_test_core_hostile_LDADD = $(core_test_libs)

tests_unit_test_core_hostile_files_SOURCES = %reldir%/test_core_hostile_files.c $(hostile)
tests_unit_test_core_hostile_files_LDADD = $(core_test_libs)

tests_unit_test_core_pull_SOURCES = %reldir%/test_core_pull.c $(hostile)
tests_unit_test_core_pull_LDADD = $(core_test_libs)

tests_unit_test_core_patience_SOURCES = %reldir%/test_core_patience.c $(hostile)
tests_unit_test_core_patience_LDADD = $(core_test_libs)

tests_unit_test_core_input_type_SOURCES = %reldir%/test_core_input_type.c \
	$(core_fixture)
tests_unit_test_core_input_type_LDADD = $(core_test_libs)

tests_unit_test_core_lifecycle_SOURCES = %reldir%/test_core_lifecycle.c \
	$(core_fixture)
tests_unit_test_core_lifecycle_LDADD = $(core_test_libs)

tests_unit_test_core_memory_SOURCES = %reldir%/test_core_memory.c $(core_fixture)
tests_unit_test_core_memory_LDADD = $(core_test_libs)
tests_unit_test_core_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup

tests_unit_test_core_limits_SOURCES = %reldir%/test_core_limits.c $(core_fixture)
tests_unit_test_core_limits_LDADD = $(core_test_libs)

tests_unit_test_core_parts_SOURCES = %reldir%/test_core_parts.c $(core_fixture)
tests_unit_test_core_parts_LDADD = $(core_test_libs)

tests_unit_test_core_restart_SOURCES = %reldir%/test_core_restart.c $(core_fixture)
tests_unit_test_core_restart_LDADD = $(core_test_libs)

tests_unit_test_core_owed_SOURCES = %reldir%/test_core_owed.c $(core_fixture)
tests_unit_test_core_owed_LDADD = $(core_test_libs)

tests_unit_test_core_room_SOURCES = %reldir%/test_core_room.c $(core_fixture) \
	%reldir%/tenant_fixture.c %reldir%/tenant_fixture.h
tests_unit_test_core_room_LDADD = $(core_test_libs)

tests_unit_test_core_session_SOURCES = %reldir%/test_core_session.c $(core_fixture)
tests_unit_test_core_session_LDADD = $(core_test_libs)

tests_unit_test_core_states_SOURCES = %reldir%/test_core_states.c %reldir%/test.h
tests_unit_test_core_states_LDADD = $(core_test_libs)

tests_unit_test_core_budget_SOURCES = %reldir%/test_core_budget.c $(core_fixture) \
	%reldir%/tenant_fixture.c %reldir%/tenant_fixture.h
tests_unit_test_core_budget_LDADD = $(core_test_libs)

tests_unit_test_core_tenants_SOURCES = %reldir%/test_core_tenants.c $(core_fixture) \
	%reldir%/tenant_fixture.c %reldir%/tenant_fixture.h
tests_unit_test_core_tenants_LDADD = $(core_test_libs)

tests_unit_test_core_keys_SOURCES = %reldir%/test_core_keys.c $(core_fixture) \
	%reldir%/tenant_fixture.c %reldir%/tenant_fixture.h
tests_unit_test_core_keys_LDADD = $(core_test_libs)

tests_unit_test_core_definitions_SOURCES = %reldir%/test_core_definitions.c $(core_fixture)
tests_unit_test_core_definitions_LDADD = $(core_test_libs)

core_talk_fixture = %reldir%/core_talk_fixture.c %reldir%/core_talk_fixture.h \
	$(core_fixture)

tests_unit_test_core_context_SOURCES = %reldir%/test_core_context.c \
	$(core_talk_fixture)
tests_unit_test_core_context_LDADD = $(core_test_libs)

tests_unit_test_core_talk_SOURCES = %reldir%/test_core_talk.c \
	$(core_talk_fixture)
tests_unit_test_core_talk_LDADD = $(core_test_libs)
