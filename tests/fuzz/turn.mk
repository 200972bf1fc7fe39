# Fuzz targets of turn.

fuzz_targets += %reldir%/fuzz_item
tests_fuzz_fuzz_item_SOURCES = %reldir%/fuzz_item.c $(fuzz_main)
tests_fuzz_fuzz_item_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_item_LDADD = libturn.a $(base_libs)
