# What tests/chaos/chaos runs: a cupola-vmd that is real but for libvirt and the
# vsock daemon, and the process that takes the place of a VM.

check_PROGRAMS += %reldir%/cupola-vmd %reldir%/scripted_guest

tests_chaos_cupola_vmd_SOURCES = %reldir%/scripted_virt.c src/vmd/main.c
tests_chaos_cupola_vmd_CPPFLAGS = $(libvmd_a_CPPFLAGS)
tests_chaos_cupola_vmd_LDADD = $(vmd_libs)

tests_chaos_scripted_guest_SOURCES = \
	%reldir%/scripted_guest_main.c \
	tests/unit/scripted_guest.c tests/unit/scripted_guest.h \
	tests/unit/scripted_guest_say.c \
	tests/unit/test.h
tests_chaos_scripted_guest_LDADD = $(core_libs) $(CMOCKA_LIBS)

# No program, and no library that Automake would make without libtool.
check_DATA += %reldir%/short_io.so
EXTRA_DIST += %reldir%/short_io.c
CLEANFILES += %reldir%/short_io.so
%reldir%/short_io.so: %reldir%/short_io.c
	$(AM_V_CC)$(MKDIR_P) %reldir% && $(CC) $(CPPFLAGS) -D_GNU_SOURCE \
		$(CFLAGS) -Wall -Wextra -fPIC -shared -o $@ \
		$(srcdir)/%reldir%/short_io.c -ldl

dist_check_SCRIPTS += %reldir%/chaos %reldir%/overload.py
EXTRA_DIST += %reldir%/host.py %reldir%/load.py %reldir%/real.py
