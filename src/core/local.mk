# core: tenants, pools, sessions, executions, artifacts, guest links, reaper.

# noinst_LIBRARIES += libcore.a
# libcore_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)

core_libs = $(store_libs) $(vmdclient_libs) $(wire_libs) $(base_libs)
# core_libs = libcore.a $(store_libs) $(vmdclient_libs) $(wire_libs) $(base_libs)
