# Fuzz targets of base.

fuzz_targets += %reldir%/fuzz_json
tests_fuzz_fuzz_json_SOURCES = %reldir%/fuzz_json.c $(fuzz_main)
tests_fuzz_fuzz_json_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_json_LDADD = $(base_libs)

fuzz_targets += %reldir%/fuzz_name
tests_fuzz_fuzz_name_SOURCES = %reldir%/fuzz_name.c $(fuzz_main)
tests_fuzz_fuzz_name_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_name_LDADD = $(base_libs)

fuzz_targets += %reldir%/fuzz_settings
tests_fuzz_fuzz_settings_SOURCES = %reldir%/fuzz_settings.c $(fuzz_main)
tests_fuzz_fuzz_settings_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_settings_LDADD = $(base_libs)

fuzz_targets += %reldir%/fuzz_sse_reader
tests_fuzz_fuzz_sse_reader_SOURCES = %reldir%/fuzz_sse_reader.c $(fuzz_main)
tests_fuzz_fuzz_sse_reader_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sse_reader_LDADD = $(base_libs)

EXTRA_DIST += \
	%reldir%/corpus/sse_reader/endings \
	%reldir%/corpus/sse_reader/fields
