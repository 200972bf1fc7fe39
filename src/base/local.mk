# base: errors, logging, buffers, clocks, ids, strict JSON, settings, workers.

noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(JSON_CFLAGS) \
	$(INIH_CFLAGS)
libbase_a_SOURCES = \
	%reldir%/cleanup.c %reldir%/cleanup.h \
	%reldir%/error.c %reldir%/error.h

base_libs = libbase.a $(SYSTEMD_LIBS) $(JSON_LIBS) $(INIH_LIBS) \
	$(UNISTRING_LIBS) -lpthread
