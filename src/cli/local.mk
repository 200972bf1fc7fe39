# cli: cupolactl. The library is there for the tests.

noinst_LIBRARIES += libcli.a
libcli_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
libcli_a_SOURCES = \
	%reldir%/args.c %reldir%/args.h \
	%reldir%/artifacts.c \
	%reldir%/audit.c \
	%reldir%/backup.c \
	%reldir%/calls.c %reldir%/calls.h \
	%reldir%/cli.c %reldir%/cli.h \
	%reldir%/client.c %reldir%/client.h \
	%reldir%/client_error.c %reldir%/client_error.h \
	%reldir%/doctor.c \
	%reldir%/drain.c \
	%reldir%/events.c \
	%reldir%/exec.c \
	%reldir%/execute.c %reldir%/execute.h \
	%reldir%/files.c \
	%reldir%/help.c \
	%reldir%/host.c %reldir%/host.h %reldir%/host_images.c \
	%reldir%/images.c \
	%reldir%/inspect.c \
	%reldir%/keys.c \
	%reldir%/kill.c \
	%reldir%/model.c \
	%reldir%/nmi.c \
	%reldir%/progress.c %reldir%/progress.h \
	%reldir%/ps.c \
	%reldir%/run.c \
	%reldir%/save.c %reldir%/save.h \
	%reldir%/stream.c %reldir%/stream.h \
	%reldir%/table.c %reldir%/table.h \
	%reldir%/tenants.c \
	%reldir%/text.c %reldir%/text.h \
	%reldir%/transfer.c %reldir%/transfer.h \
	%reldir%/usage.c \
	%reldir%/version.c \
	%reldir%/views.c %reldir%/views.h

cli_libs = libcli.a $(base_libs) $(CURL_LIBS) -lm

bin_PROGRAMS += cupolactl
cupolactl_SOURCES = %reldir%/main.c
cupolactl_LDADD = $(cli_libs)
