# vmd: the hypervisor process (libvmd.a, server side) and what cupolad has of it
# (libvmdclient.a, which needs no libvirt).

noinst_LIBRARIES += libvmdclient.a libvmd.a
libvmdclient_a_SOURCES = \
	%reldir%/vmd.h \
	%reldir%/vmd_calls.c %reldir%/vmd_calls.h \
	%reldir%/vmd_client.c \
	%reldir%/vmd_link.c %reldir%/vmd_link.h \
	%reldir%/vmd_names.c \
	%reldir%/vmd_proto.h
libvmdclient_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
vmdclient_libs = libvmdclient.a $(base_libs)

libvmd_a_SOURCES = \
	%reldir%/accelerator.c %reldir%/accelerator.h \
	%reldir%/adopt.c %reldir%/adopt.h \
	%reldir%/backend.c %reldir%/backend.h \
	%reldir%/child.c %reldir%/child.h \
	%reldir%/console.c %reldir%/console.h \
	%reldir%/dial.c %reldir%/dial.h \
	%reldir%/domain_xml.c %reldir%/domain_xml.h \
	%reldir%/host.c %reldir%/host.h \
	%reldir%/image.c %reldir%/image.h \
	%reldir%/libvirt_state.c %reldir%/libvirt_state.h \
	%reldir%/machine.c %reldir%/machine.h \
	%reldir%/machine_create.c \
	%reldir%/machine_end.c \
	%reldir%/machine_nmi.c \
	%reldir%/machine_state.c %reldir%/machine_state.h \
	%reldir%/pools.c %reldir%/pools.h \
	%reldir%/record.c %reldir%/record.h \
	%reldir%/scratch.c %reldir%/scratch.h \
	%reldir%/server.c %reldir%/server.h %reldir%/server_private.h \
	%reldir%/server_change.c \
	%reldir%/server_probe.c \
	%reldir%/server_request.c \
	%reldir%/start.c %reldir%/start.h \
	%reldir%/tsc.c %reldir%/tsc.h \
	%reldir%/virt.c %reldir%/virt.h %reldir%/virt_private.h \
	%reldir%/wheelhouse.c %reldir%/wheelhouse.h \
	%reldir%/virt_domain.c \
	%reldir%/vm_probe.c %reldir%/vm_probe.h \
	%reldir%/vm_user.c %reldir%/vm_user.h \
	%reldir%/vmd_options.c %reldir%/vmd_options.h
libvmd_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(LIBVIRT_CFLAGS) \
	$(LIBXML_CFLAGS)
vmd_libs = libvmd.a $(vmdclient_libs) $(LIBVIRT_LIBS) $(LIBXML_LIBS) -lpthread

pkglibexec_PROGRAMS += cupola-vmd
cupola_vmd_SOURCES = %reldir%/main.c
cupola_vmd_CPPFLAGS = $(libvmd_a_CPPFLAGS)
cupola_vmd_LDADD = $(vmd_libs)
