# The client of models against a model that does what its script says.

dist_check_SCRIPTS += %reldir%/model.py
EXTRA_DIST += %reldir%/stream.py

check_PROGRAMS += %reldir%/ask
tests_upstream_ask_SOURCES = %reldir%/ask.c
tests_upstream_ask_LDADD = libturn.a $(base_libs) $(CURL_LIBS)

upstream_tests = \
	%reldir%/test_daemon.py \
	%reldir%/test_streams.py \
	%reldir%/test_upstream.py
TESTS += $(upstream_tests)
dist_check_SCRIPTS += $(upstream_tests)
