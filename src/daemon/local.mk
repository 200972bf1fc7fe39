# daemon: cupolad's main: stages of start and stop, development mode.

# sbin_PROGRAMS += cupolad
# cupolad_SOURCES = %reldir%/main.c
# cupolad_LDADD = $(api_libs)
