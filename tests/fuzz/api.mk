# Fuzz targets of api.

fuzz_targets += %reldir%/fuzz_multipart
tests_fuzz_fuzz_multipart_SOURCES = %reldir%/fuzz_multipart.c $(fuzz_main)
tests_fuzz_fuzz_multipart_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_multipart_LDADD = libapi.a $(base_libs)

fuzz_targets += %reldir%/fuzz_head
tests_fuzz_fuzz_head_SOURCES = %reldir%/fuzz_head.c $(fuzz_main)
tests_fuzz_fuzz_head_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_head_LDADD = libapi.a $(base_libs)

fuzz_targets += %reldir%/fuzz_mcp
tests_fuzz_fuzz_mcp_SOURCES = %reldir%/fuzz_mcp.c $(fuzz_main)
tests_fuzz_fuzz_mcp_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_mcp_LDADD = $(api_libs)
