# Unit tests of turn.

unit_tests += %reldir%/test_upstream_settings
tests_unit_test_upstream_settings_SOURCES = \
	%reldir%/test_upstream_settings.c %reldir%/test.h
tests_unit_test_upstream_settings_LDADD = libturn.a $(base_libs) \
	$(CURL_LIBS) $(CMOCKA_LIBS)

# Agents stand on a fake core.
agent_fixture = %reldir%/agent_fixture.c %reldir%/agent_fixture.h \
	%reldir%/fake_core.c %reldir%/fake_core.h %reldir%/fake_core_impl.h \
	%reldir%/fake_core_exec.c %reldir%/fake_core_files.c \
	%reldir%/fake_core_events.c %reldir%/fake_core_talks.c \
	%reldir%/fake_core_admin.c %reldir%/fake_core_definitions.c \
	%reldir%/test.h
agent_fixture_libs = libturn.a libcore.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_turn_agent
tests_unit_test_turn_agent_SOURCES = %reldir%/test_turn_agent.c \
	$(agent_fixture)
tests_unit_test_turn_agent_LDADD = $(agent_fixture_libs)

unit_tests += %reldir%/test_turn_agent_inputs
tests_unit_test_turn_agent_inputs_SOURCES = \
	%reldir%/test_turn_agent_inputs.c $(agent_fixture)
tests_unit_test_turn_agent_inputs_LDADD = $(agent_fixture_libs)

# The test itself is what items ask of core.
unit_tests += %reldir%/test_turn_item
tests_unit_test_turn_item_SOURCES = %reldir%/test_turn_item.c %reldir%/test.h
tests_unit_test_turn_item_LDADD = libturn.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_turn_code
tests_unit_test_turn_code_SOURCES = %reldir%/test_turn_code.c %reldir%/test.h
tests_unit_test_turn_code_LDADD = libturn.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_turn_cite
tests_unit_test_turn_cite_SOURCES = %reldir%/test_turn_cite.c %reldir%/test.h
tests_unit_test_turn_cite_LDADD = libturn.a $(base_libs) $(CMOCKA_LIBS)

# Turns stand on all of core, with a scripted model in place of upstream.h.
turn_fixture = %reldir%/turn_fixture.c %reldir%/turn_fixture.h \
	%reldir%/scripted_model.c %reldir%/scripted_model.h \
	%reldir%/response_reader.c %reldir%/response_reader.h \
	$(core_fixture)
turn_fixture_libs = libturn.a $(core_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_turn_stream
tests_unit_test_turn_stream_SOURCES = %reldir%/test_turn_stream.c \
	$(turn_fixture)
tests_unit_test_turn_stream_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_life
tests_unit_test_turn_life_SOURCES = %reldir%/test_turn_life.c \
	$(turn_fixture)
tests_unit_test_turn_life_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_usage
tests_unit_test_turn_usage_SOURCES = %reldir%/test_turn_usage.c \
	$(turn_fixture)
tests_unit_test_turn_usage_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_files
tests_unit_test_turn_files_SOURCES = %reldir%/test_turn_files.c \
	$(turn_fixture)
tests_unit_test_turn_files_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_thought
tests_unit_test_turn_thought_SOURCES = %reldir%/test_turn_thought.c \
	$(turn_fixture)
tests_unit_test_turn_thought_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_trace
tests_unit_test_turn_trace_SOURCES = %reldir%/test_turn_trace.c \
	$(turn_fixture) $(journal)
tests_unit_test_turn_trace_LDADD = $(turn_fixture_libs)
tests_unit_test_turn_trace_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

unit_tests += %reldir%/test_turn_truncation
tests_unit_test_turn_truncation_SOURCES = %reldir%/test_turn_truncation.c \
	$(turn_fixture)
tests_unit_test_turn_truncation_LDADD = $(turn_fixture_libs)

unit_tests += %reldir%/test_turn_ask
tests_unit_test_turn_ask_SOURCES = %reldir%/test_turn_ask.c $(turn_fixture)
tests_unit_test_turn_ask_LDADD = $(turn_fixture_libs)
