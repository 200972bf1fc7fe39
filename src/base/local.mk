# base: errors, logging, buffers, clocks, ids, strict JSON, settings, workers.

noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(JSON_CFLAGS) \
	$(INIH_CFLAGS)
libbase_a_SOURCES = \
	%reldir%/buf.h \
	%reldir%/cleanup.c %reldir%/cleanup.h \
	%reldir%/clock.h \
	%reldir%/error.c %reldir%/error.h \
	%reldir%/event.h \
	%reldir%/fs.h \
	%reldir%/hex.h \
	%reldir%/id.h \
	%reldir%/json.h \
	%reldir%/json_write.h \
	%reldir%/limits.h \
	%reldir%/log.h \
	%reldir%/name.h \
	%reldir%/settings.h \
	%reldir%/timer.h \
	%reldir%/worker.h

base_libs = libbase.a $(SYSTEMD_LIBS) $(JSON_LIBS) $(INIH_LIBS) \
	$(UNISTRING_LIBS) -lpthread
