# Unit tests of turn.

unit_tests += %reldir%/test_upstream_settings
tests_unit_test_upstream_settings_SOURCES = \
	%reldir%/test_upstream_settings.c %reldir%/test.h
tests_unit_test_upstream_settings_LDADD = libturn.a $(base_libs) \
	$(CURL_LIBS) $(CMOCKA_LIBS)
