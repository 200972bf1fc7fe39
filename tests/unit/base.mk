# Unit tests of base.

unit_tests += %reldir%/test_buf
tests_unit_test_buf_SOURCES = %reldir%/test_buf.c %reldir%/test.h
tests_unit_test_buf_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_clock
tests_unit_test_clock_SOURCES = %reldir%/test_clock.c %reldir%/test.h
tests_unit_test_clock_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_error
tests_unit_test_error_SOURCES = %reldir%/test_error.c %reldir%/test.h
tests_unit_test_error_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_id
tests_unit_test_id_SOURCES = %reldir%/test_id.c %reldir%/test.h
tests_unit_test_id_LDADD = $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_worker
tests_unit_test_worker_SOURCES = %reldir%/test_worker.c %reldir%/test.h
tests_unit_test_worker_LDADD = $(base_libs) $(CMOCKA_LIBS)
