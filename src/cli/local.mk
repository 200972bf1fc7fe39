# cli: cupolactl.

# bin_PROGRAMS += cupolactl
# cupolactl_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
# cupolactl_SOURCES = %reldir%/main.c
# cupolactl_LDADD = $(base_libs) $(CURL_LIBS)
