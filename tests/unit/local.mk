# Unit tests: cmocka, one program per module, one group per program.
#
#	unit_tests += %reldir%/test_buf
#	tests_unit_test_buf_SOURCES = %reldir%/test_buf.c
#	tests_unit_test_buf_LDADD = $(base_libs) $(CMOCKA_LIBS)
#
# A test that needs a library's headers says so in _CPPFLAGS; cmocka's and
# libsystemd's need no flag.

unit_tests =

# For those with -Wl,--wrap=journal_send.
journal = %reldir%/journal.c %reldir%/journal.h

include $(top_srcdir)/tests/unit/base.mk
include $(top_srcdir)/tests/unit/wire.mk
include $(top_srcdir)/tests/unit/guest.mk
include $(top_srcdir)/tests/unit/vmd.mk
include $(top_srcdir)/tests/unit/store.mk
include $(top_srcdir)/tests/unit/core.mk
include $(top_srcdir)/tests/unit/turn.mk
include $(top_srcdir)/tests/unit/api.mk
include $(top_srcdir)/tests/unit/cli.mk
include $(top_srcdir)/tests/unit/daemon.mk

# What those in Python share.
EXTRA_DIST += %reldir%/tap.py %reldir%/ctl_fixture.py

TESTS += %reldir%/test_bench.py %reldir%/test_scripts.py %reldir%/test_units.py
dist_check_SCRIPTS += %reldir%/test_bench.py %reldir%/test_scripts.py \
	%reldir%/test_units.py

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
