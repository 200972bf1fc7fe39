# vmd: the hypervisor process (libvmd.a, server side) and what cupolad has of it
# (libvmdclient.a, which needs no libvirt).

noinst_LIBRARIES += libvmdclient.a
libvmdclient_a_SOURCES = \
	%reldir%/vmd.h \
	%reldir%/vmd_calls.c %reldir%/vmd_calls.h \
	%reldir%/vmd_client.c \
	%reldir%/vmd_link.c %reldir%/vmd_link.h \
	%reldir%/vmd_names.c \
	%reldir%/vmd_proto.h
libvmdclient_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
vmdclient_libs = libvmdclient.a $(base_libs)

# noinst_LIBRARIES += libvmd.a
# libvmd_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(LIBVIRT_CFLAGS) \
#	$(LIBXML_CFLAGS) $(GNUTLS_CFLAGS)

vmd_libs = $(base_libs)
# vmd_libs = libvmd.a libvmdclient.a $(base_libs) $(LIBVIRT_LIBS) $(LIBXML_LIBS)

# pkglibexec_PROGRAMS += cupola-vmd
# cupola_vmd_SOURCES = %reldir%/main.c
# cupola_vmd_LDADD = $(vmd_libs)
