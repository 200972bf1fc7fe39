# base: errors, logging, buffers, clocks, ids, strict JSON, settings, workers.

noinst_LIBRARIES += libbase.a
libbase_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(JSON_CFLAGS) \
	$(INIH_CFLAGS)
libbase_a_SOURCES = \
	%reldir%/base64.c %reldir%/base64.h \
	%reldir%/buf.c %reldir%/buf.h \
	%reldir%/cleanup.c %reldir%/cleanup.h \
	%reldir%/clock.c %reldir%/clock.h \
	%reldir%/error.c %reldir%/error.h \
	%reldir%/event.c %reldir%/event.h \
	%reldir%/failpoint.c %reldir%/failpoint.h \
	%reldir%/fs.c %reldir%/fs.h \
	%reldir%/hex.c %reldir%/hex.h \
	%reldir%/histogram.c %reldir%/histogram.h \
	%reldir%/id.c %reldir%/id.h \
	%reldir%/json.c %reldir%/json.h \
	%reldir%/json_fields.c \
	%reldir%/json_tree.c \
	%reldir%/json_write.c %reldir%/json_write.h \
	%reldir%/limits.h \
	%reldir%/journal.c %reldir%/journal.h \
	%reldir%/log.c %reldir%/log.h \
	%reldir%/media_type.c %reldir%/media_type.h \
	%reldir%/name.c %reldir%/name.h \
	%reldir%/sanitizer.h \
	%reldir%/option_table.c %reldir%/option_table.h \
	%reldir%/settings.c %reldir%/settings.h \
	%reldir%/settings_file.c %reldir%/settings_file.h \
	%reldir%/settings_table.c \
	%reldir%/settings_value.c %reldir%/settings_value.h \
	%reldir%/sse_reader.c %reldir%/sse_reader.h \
	%reldir%/timer.c %reldir%/timer.h \
	%reldir%/trace.c %reldir%/trace.h \
	%reldir%/worker.c %reldir%/worker.h

base_libs = libbase.a $(SYSTEMD_LIBS) $(JSON_LIBS) $(INIH_LIBS) \
	$(UNISTRING_LIBS) -lpthread
