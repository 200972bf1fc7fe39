# Fuzz targets of core.

fuzz_targets += %reldir%/fuzz_session
tests_fuzz_fuzz_session_SOURCES = %reldir%/fuzz_session.c $(core_fixture) $(fuzz_main)
tests_fuzz_fuzz_session_CPPFLAGS = $(AM_CPPFLAGS) -DREPLAY_STEP=7
tests_fuzz_fuzz_session_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_session_LDADD = $(core_test_libs)
