# Unit tests of base.

unit_tests += %reldir%/test_base64
tests_unit_test_base64_SOURCES = %reldir%/test_base64.c %reldir%/test.h
tests_unit_test_base64_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_buf
tests_unit_test_buf_SOURCES = %reldir%/test_buf.c %reldir%/test.h
tests_unit_test_buf_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_clock
tests_unit_test_clock_SOURCES = %reldir%/test_clock.c %reldir%/test.h
tests_unit_test_clock_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_error
tests_unit_test_error_SOURCES = %reldir%/test_error.c %reldir%/test.h
tests_unit_test_error_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_fs
tests_unit_test_fs_SOURCES = %reldir%/test_fs.c %reldir%/test.h
tests_unit_test_fs_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_histogram
tests_unit_test_histogram_SOURCES = %reldir%/test_histogram.c %reldir%/test.h
tests_unit_test_histogram_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_id
tests_unit_test_id_SOURCES = %reldir%/test_id.c %reldir%/test.h
tests_unit_test_id_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_json
tests_unit_test_json_SOURCES = %reldir%/test_json.c %reldir%/test.h
tests_unit_test_json_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_json_fields
tests_unit_test_json_fields_SOURCES = %reldir%/test_json_fields.c %reldir%/test.h
tests_unit_test_json_fields_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_json_write
tests_unit_test_json_write_SOURCES = %reldir%/test_json_write.c %reldir%/test.h
tests_unit_test_json_write_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_journal
tests_unit_test_journal_SOURCES = %reldir%/test_journal.c %reldir%/test.h
tests_unit_test_journal_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_log
tests_unit_test_log_SOURCES = %reldir%/test_log.c %reldir%/test.h
tests_unit_test_log_LDADD = $(base_libs) $(CMOCKA_LIBS)
tests_unit_test_log_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=journal_send

unit_tests += %reldir%/test_name
tests_unit_test_name_SOURCES = %reldir%/test_name.c %reldir%/test.h
tests_unit_test_name_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_option_table
tests_unit_test_option_table_SOURCES = %reldir%/test_option_table.c \
	%reldir%/test.h
tests_unit_test_option_table_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_settings
tests_unit_test_settings_SOURCES = %reldir%/test_settings.c %reldir%/test.h
tests_unit_test_settings_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_trace
tests_unit_test_trace_SOURCES = %reldir%/test_trace.c %reldir%/test.h
tests_unit_test_trace_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_worker
tests_unit_test_worker_SOURCES = %reldir%/test_worker.c %reldir%/test.h
tests_unit_test_worker_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_base_memory
tests_unit_test_base_memory_SOURCES = %reldir%/test_base_memory.c %reldir%/test.h
tests_unit_test_base_memory_LDADD = $(base_libs) $(CMOCKA_LIBS)
tests_unit_test_base_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray \
	-Wl,--wrap=strdup,--wrap=strndup

unit_tests += %reldir%/test_sse_reader
tests_unit_test_sse_reader_SOURCES = %reldir%/test_sse_reader.c %reldir%/test.h
tests_unit_test_sse_reader_LDADD = $(base_libs) $(CMOCKA_LIBS)
