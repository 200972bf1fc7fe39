# store: durable state: SQLite database, content-addressed blobs, ledger.

noinst_LIBRARIES += libstore.a
store_cppflags = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(SQLITE_CFLAGS) \
	$(GNUTLS_CFLAGS) $(MAGIC_CFLAGS)
store_sources = \
	%reldir%/batch.h \
	%reldir%/blob.c %reldir%/blob.h \
	%reldir%/blob_impl.h \
	%reldir%/blob_sniff.c \
	%reldir%/blob_write.c %reldir%/blob_write.h \
	%reldir%/blob_writer.c \
	%reldir%/blobs.h \
	%reldir%/db.c %reldir%/db.h \
	%reldir%/hash.c %reldir%/hash.h \
	%reldir%/impl.h \
	%reldir%/list.h \
	%reldir%/row_table.c \
	%reldir%/row_type.c %reldir%/row_type.h \
	%reldir%/rows.h \
	%reldir%/schema.c %reldir%/schema.h \
	%reldir%/schema_apply.c \
	%reldir%/schema_first.c \
	%reldir%/schema_talk.c \
	%reldir%/store.c %reldir%/store.h \
	%reldir%/store_backup.c %reldir%/store_backup.h \
	%reldir%/store_batch.c \
	%reldir%/store_commit.c \
	%reldir%/store_list.c \
	%reldir%/store_read.c \
	%reldir%/store_restore.c %reldir%/store_restore.h \
	%reldir%/store_sweep.h \
	%reldir%/store_talk.c %reldir%/store_talk.h \
	%reldir%/store_talk_read.c \
	%reldir%/store_usage.c %reldir%/store_usage.h \
	%reldir%/writer.c %reldir%/writer.h \
	%reldir%/writer_impl.h \
	%reldir%/writer_sql.c \
	%reldir%/writer_sweep.c
libstore_a_SOURCES = $(store_sources)
libstore_a_CPPFLAGS = $(store_cppflags)

store_outside_libs = $(base_libs) $(SQLITE_LIBS) $(GNUTLS_LIBS) $(MAGIC_LIBS)
store_libs = libstore.a $(store_outside_libs)

# The same with failpoints, for the store's own tests.
check_LIBRARIES += libstore-failing.a
libstore_failing_a_SOURCES = $(store_sources)
libstore_failing_a_CPPFLAGS = $(store_cppflags) -DENABLE_FAILPOINTS=1
