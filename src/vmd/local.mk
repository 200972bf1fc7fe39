# vmd: the hypervisor process (libvmd.a, server side) and what cupolad has of it
# (libvmdclient.a, which needs no libvirt).

# noinst_LIBRARIES += libvmd.a libvmdclient.a
# libvmd_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(LIBVIRT_CFLAGS) \
#	$(LIBXML_CFLAGS) $(GNUTLS_CFLAGS)

vmdclient_libs = $(base_libs)
# vmdclient_libs = libvmdclient.a $(base_libs)

vmd_libs = $(base_libs)
# vmd_libs = libvmd.a $(base_libs) $(LIBVIRT_LIBS) $(LIBXML_LIBS)

# pkglibexec_PROGRAMS += cupola-vmd
# cupola_vmd_SOURCES = %reldir%/main.c
# cupola_vmd_LDADD = $(vmd_libs)
