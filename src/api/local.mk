# api: HTTP server and every dialect; decides nothing.

# noinst_LIBRARIES += libapi.a
# libapi_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(MICROHTTPD_CFLAGS) \
#	$(ARCHIVE_CFLAGS)

api_libs = $(core_libs)
# api_libs = libapi.a $(core_libs) $(MICROHTTPD_LIBS)
