# core: tenants, pools, sessions, executions, artifacts, guest links, reaper.

noinst_LIBRARIES += libcore.a
libcore_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
libcore_a_SOURCES = \
	%reldir%/core.h \
	%reldir%/end_reason.c %reldir%/end_reason.h \
	%reldir%/exec_state.c %reldir%/exec_state.h \
	%reldir%/gc.c %reldir%/gc.h \
	%reldir%/guest_conn.c %reldir%/guest_conn.h \
	%reldir%/guest_link.c %reldir%/guest_link.h \
	%reldir%/guest_xfer.c %reldir%/guest_xfer.h \
	%reldir%/map.c %reldir%/map.h \
	%reldir%/session_state.c %reldir%/session_state.h \
	%reldir%/vm_state.c %reldir%/vm_state.h

core_libs = libcore.a $(store_libs) $(vmdclient_libs) $(wire_libs) $(base_libs)
