# store: durable state: SQLite database, content-addressed blobs, ledger.

# noinst_LIBRARIES += libstore.a
# libstore_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(SQLITE_CFLAGS) \
#	$(GNUTLS_CFLAGS) $(MAGIC_CFLAGS)

store_libs = $(base_libs)
# store_libs = libstore.a $(base_libs) $(SQLITE_LIBS) $(GNUTLS_LIBS) \
#	$(MAGIC_LIBS)
