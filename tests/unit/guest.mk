# Unit tests of guest.

unit_tests += %reldir%/test_guest_capture
tests_unit_test_guest_capture_SOURCES = \
	%reldir%/test_guest_capture.c %reldir%/test.h \
	guest-agent/capture.c guest-agent/capture.h \
	guest-agent/data.c guest-agent/data.h \
	guest-agent/report.c guest-agent/report.h
tests_unit_test_guest_capture_CPPFLAGS = \
	$(AM_CPPFLAGS) -I$(top_srcdir)/guest-agent
tests_unit_test_guest_capture_LDADD = $(wire_libs) $(CMOCKA_LIBS)
