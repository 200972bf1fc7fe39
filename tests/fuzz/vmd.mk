# Fuzz targets of vmd.

fuzz_targets += %reldir%/fuzz_console
tests_fuzz_fuzz_console_SOURCES = %reldir%/fuzz_console.c $(fuzz_main)
tests_fuzz_fuzz_console_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_console_LDADD = $(vmd_libs)
