# Unit tests of cli.

unit_tests += %reldir%/test_cli_host
tests_unit_test_cli_host_SOURCES = %reldir%/test_cli_host.c %reldir%/test.h
tests_unit_test_cli_host_LDADD = $(cli_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_cli_save
tests_unit_test_cli_save_SOURCES = %reldir%/test_cli_save.c %reldir%/test.h
tests_unit_test_cli_save_LDADD = $(cli_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_cli_text
tests_unit_test_cli_text_SOURCES = %reldir%/test_cli_text.c %reldir%/test.h
tests_unit_test_cli_text_LDADD = $(cli_libs) $(CMOCKA_LIBS)

# The whole program against a scripted server, ctl_fixture.py.
TESTS += %reldir%/test_cupolactl.py %reldir%/test_cupolactl_complete.py \
	%reldir%/test_cupolactl_hostile.py \
	%reldir%/test_cupolactl_shell.py \
	%reldir%/test_cupolactl_watch.py
dist_check_SCRIPTS += \
	%reldir%/test_cupolactl.py %reldir%/test_cupolactl_complete.py \
	%reldir%/test_cupolactl_hostile.py \
	%reldir%/test_cupolactl_shell.py \
	%reldir%/test_cupolactl_watch.py
