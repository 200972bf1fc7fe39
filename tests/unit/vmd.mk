# Unit tests of vmd.

unit_tests += %reldir%/test_vmd_accelerator
tests_unit_test_vmd_accelerator_SOURCES = %reldir%/test_vmd_accelerator.c \
	%reldir%/kvm_access.c %reldir%/kvm_access.h %reldir%/test.h
tests_unit_test_vmd_accelerator_LDADD = $(vmd_libs) $(CMOCKA_LIBS)
tests_unit_test_vmd_accelerator_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=access

unit_tests += %reldir%/test_vmd_client
tests_unit_test_vmd_client_SOURCES = %reldir%/test_vmd_client.c %reldir%/test.h
tests_unit_test_vmd_client_LDADD = $(vmdclient_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_vmd_dial
tests_unit_test_vmd_dial_SOURCES = %reldir%/test_vmd_dial.c %reldir%/test.h
tests_unit_test_vmd_dial_LDADD = $(vmd_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_vmd_parts
tests_unit_test_vmd_parts_SOURCES = %reldir%/test_vmd_parts.c %reldir%/test.h
tests_unit_test_vmd_parts_LDADD = $(vmd_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_vmd_server
tests_unit_test_vmd_server_SOURCES = %reldir%/test_vmd_server.c \
	%reldir%/kvm_access.c %reldir%/kvm_access.h \
	%reldir%/tiny_image.c %reldir%/tiny_image.h %reldir%/test.h
tests_unit_test_vmd_server_LDADD = $(vmd_libs) $(CMOCKA_LIBS)
tests_unit_test_vmd_server_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=access

unit_tests += %reldir%/test_vmd_virt
tests_unit_test_vmd_virt_SOURCES = %reldir%/test_vmd_virt.c %reldir%/test.h
tests_unit_test_vmd_virt_LDADD = $(vmd_libs) $(CMOCKA_LIBS)
tests_unit_test_vmd_virt_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=virDomainQemuMonitorCommand

# Golden files: TEST_REGENERATE=1 rewrites them.
unit_tests += %reldir%/test_vmd_xml
tests_unit_test_vmd_xml_SOURCES = %reldir%/test_vmd_xml.c %reldir%/test.h
tests_unit_test_vmd_xml_LDADD = $(vmd_libs) $(CMOCKA_LIBS)
EXTRA_DIST += \
	%reldir%/data/domain-kvm-kernel-label-bulk.xml \
	%reldir%/data/domain-kvm-kernel.xml \
	%reldir%/data/domain-kvm-user.xml \
	%reldir%/data/domain-tcg-kernel.xml \
	%reldir%/data/domain-tcg-user-wheelhouse.xml \
	%reldir%/data/domain-tcg-user.xml

unit_tests += %reldir%/test_vmd_pools
tests_unit_test_vmd_pools_SOURCES = %reldir%/test_vmd_pools.c \
	%reldir%/tiny_image.c %reldir%/tiny_image.h %reldir%/test.h
tests_unit_test_vmd_pools_LDADD = $(vmd_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_vmd_wheelhouse
tests_unit_test_vmd_wheelhouse_SOURCES = %reldir%/test_vmd_wheelhouse.c \
	%reldir%/test.h
tests_unit_test_vmd_wheelhouse_LDADD = $(vmd_libs) $(CMOCKA_LIBS)

# A whole cupola-vmd on a libvirt with domains of others; test_http.py runs it.
check_PROGRAMS += %reldir%/foreign/cupola-vmd
tests_unit_foreign_cupola_vmd_SOURCES = %reldir%/foreign_domains.c \
	src/vmd/main.c
tests_unit_foreign_cupola_vmd_CPPFLAGS = $(libvmd_a_CPPFLAGS)
tests_unit_foreign_cupola_vmd_LDADD = $(vmd_libs)
tests_unit_foreign_cupola_vmd_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=virt_open,--wrap=virt_free,--wrap=virt_warm \
	-Wl,--wrap=virDomainCreateXML
