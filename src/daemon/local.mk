# daemon: cupolad's main: stages of start and stop, development mode.

noinst_LIBRARIES += libdaemon.a
libdaemon_a_SOURCES = \
	%reldir%/announce.c %reldir%/announce.h \
	%reldir%/configure.c %reldir%/configure.h \
	%reldir%/daemon.c %reldir%/daemon.h \
	%reldir%/dev.c %reldir%/dev.h \
	%reldir%/hypervisor.c %reldir%/hypervisor.h \
	%reldir%/lifecycle.c %reldir%/lifecycle.h \
	%reldir%/options.c %reldir%/options.h \
	%reldir%/restore.c %reldir%/restore.h \
	%reldir%/user.c %reldir%/user.h \
	%reldir%/vmd_process.c %reldir%/vmd_process.h

daemon_libs = libdaemon.a $(api_libs)

sbin_PROGRAMS += cupolad
cupolad_SOURCES = %reldir%/main.c
cupolad_LDADD = $(daemon_libs)
