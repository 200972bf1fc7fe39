# Unit tests of store. They use the library with failpoints.

store_test_cppflags = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
store_test_libs = libstore-failing.a $(store_outside_libs) $(CMOCKA_LIBS)
store_fixture = %reldir%/store_fixture.c %reldir%/store_fixture.h %reldir%/test.h

unit_tests += \
	%reldir%/test_blob \
	%reldir%/test_blob_rows \
	%reldir%/test_media_type \
	%reldir%/test_store \
	%reldir%/test_store_books \
	%reldir%/test_store_commit \
	%reldir%/test_store_crash \
	%reldir%/test_store_list \
	%reldir%/test_store_memory \
	%reldir%/test_store_restore \
	%reldir%/test_store_schema \
	%reldir%/test_store_speed \
	%reldir%/test_store_sweep \
	%reldir%/test_store_talk \
	%reldir%/test_store_talk_ends \
	%reldir%/test_store_tenants

tests_unit_test_blob_SOURCES = %reldir%/test_blob.c $(store_fixture)
tests_unit_test_blob_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_blob_LDADD = $(store_test_libs)

tests_unit_test_blob_rows_SOURCES = %reldir%/test_blob_rows.c $(store_fixture)
tests_unit_test_blob_rows_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_blob_rows_LDADD = $(store_test_libs)

tests_unit_test_store_SOURCES = %reldir%/test_store.c $(store_fixture)
tests_unit_test_store_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_LDADD = $(store_test_libs)

tests_unit_test_store_books_SOURCES = %reldir%/test_store_books.c $(store_fixture)
tests_unit_test_store_books_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_books_LDADD = $(store_test_libs)

tests_unit_test_store_commit_SOURCES = %reldir%/test_store_commit.c $(store_fixture)
tests_unit_test_store_commit_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_commit_LDADD = $(store_test_libs)

tests_unit_test_store_crash_SOURCES = %reldir%/test_store_crash.c $(store_fixture)
tests_unit_test_store_crash_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_crash_LDADD = $(store_test_libs)

tests_unit_test_store_list_SOURCES = %reldir%/test_store_list.c $(store_fixture)
tests_unit_test_store_list_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_list_LDADD = $(store_test_libs)

tests_unit_test_store_memory_SOURCES = %reldir%/test_store_memory.c $(store_fixture)
tests_unit_test_store_memory_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_test_store_memory_LDADD = $(store_test_libs)

tests_unit_test_store_restore_SOURCES = %reldir%/test_store_restore.c $(store_fixture)
tests_unit_test_store_restore_CPPFLAGS = $(store_test_cppflags) $(GNUTLS_CFLAGS)
tests_unit_test_store_restore_LDADD = $(store_test_libs)

tests_unit_test_store_schema_SOURCES = %reldir%/test_store_schema.c $(store_fixture)
tests_unit_test_store_schema_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_schema_LDADD = $(store_test_libs)

tests_unit_test_store_speed_SOURCES = %reldir%/test_store_speed.c $(store_fixture)
tests_unit_test_store_speed_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_speed_LDADD = $(store_test_libs)

tests_unit_test_store_sweep_SOURCES = %reldir%/test_store_sweep.c $(store_fixture)
tests_unit_test_store_sweep_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_sweep_LDADD = $(store_test_libs)

tests_unit_test_store_tenants_SOURCES = %reldir%/test_store_tenants.c $(store_fixture)
tests_unit_test_store_tenants_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_tenants_LDADD = $(store_test_libs)

tests_unit_test_media_type_SOURCES = %reldir%/test_media_type.c %reldir%/test.h
tests_unit_test_media_type_LDADD = $(store_test_libs)

EXTRA_DIST += %reldir%/data/store-v1.sql

store_talk_fixture = %reldir%/store_talk_fixture.c \
	%reldir%/store_talk_fixture.h $(store_fixture)

tests_unit_test_store_talk_SOURCES = %reldir%/test_store_talk.c \
	$(store_talk_fixture)
tests_unit_test_store_talk_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_talk_LDADD = $(store_test_libs)

tests_unit_test_store_talk_ends_SOURCES = %reldir%/test_store_talk_ends.c \
	$(store_talk_fixture)
tests_unit_test_store_talk_ends_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_talk_ends_LDADD = $(store_test_libs)
