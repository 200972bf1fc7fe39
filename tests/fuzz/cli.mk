# Fuzz targets of cli.

fuzz_targets += %reldir%/fuzz_sse
tests_fuzz_fuzz_sse_SOURCES = %reldir%/fuzz_sse.c $(fuzz_main)
tests_fuzz_fuzz_sse_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sse_LDADD = $(cli_libs)

EXTRA_DIST += \
	%reldir%/corpus/sse/endings \
	%reldir%/corpus/sse/fields
