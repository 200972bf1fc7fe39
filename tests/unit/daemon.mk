# Unit tests of daemon: the parts that need neither core nor server.

unit_tests += %reldir%/test_daemon_options
tests_unit_test_daemon_options_SOURCES = %reldir%/test_daemon_options.c \
	%reldir%/test.h
tests_unit_test_daemon_options_LDADD = libdaemon.a $(base_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_daemon_vmd_process
tests_unit_test_daemon_vmd_process_SOURCES = \
	%reldir%/test_daemon_vmd_process.c %reldir%/test.h
tests_unit_test_daemon_vmd_process_LDADD = libdaemon.a $(base_libs) \
	$(CMOCKA_LIBS)

# The start of the whole program, as far as it comes without a VM.
TESTS += %reldir%/test_cupolad.py
dist_check_SCRIPTS += %reldir%/test_cupolad.py

# The whole program over HTTP, with processes for VMs.
TESTS += %reldir%/test_http.py
dist_check_SCRIPTS += %reldir%/test_http.py

# The same, where libvirt fails.
TESTS += %reldir%/test_destroy.py
dist_check_SCRIPTS += %reldir%/test_destroy.py

# The same, with all streams cut short.
TESTS += %reldir%/test_short_io.py
dist_check_SCRIPTS += %reldir%/test_short_io.py

# Both programs as systemd starts them, with processes for VMs.
TESTS += %reldir%/test_service.py
dist_check_SCRIPTS += %reldir%/test_service.py
