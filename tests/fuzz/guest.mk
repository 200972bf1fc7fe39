# Fuzz targets of guest-agent.

fuzz_targets += %reldir%/fuzz_runner
tests_fuzz_fuzz_runner_SOURCES = %reldir%/fuzz_runner.c \
	guest-agent/capture.c guest-agent/capture.h \
	guest-agent/data.c guest-agent/data.h \
	guest-agent/exec_runner.c guest-agent/exec_send.c \
	guest-agent/exec_slot.h \
	guest-agent/report.c guest-agent/report.h \
	$(fuzz_main)
tests_fuzz_fuzz_runner_CPPFLAGS = \
	$(AM_CPPFLAGS) -I$(top_srcdir)/guest-agent
tests_fuzz_fuzz_runner_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_runner_LDADD = $(wire_libs)
