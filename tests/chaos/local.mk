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

# No programs, and no libraries that Automake would make without libtool.
preloaded = %reldir%/short_io.so %reldir%/no_memory.so
check_DATA += $(preloaded)
EXTRA_DIST += %reldir%/short_io.c %reldir%/no_memory.c
CLEANFILES += $(preloaded)
$(preloaded): %.so: %.c
	$(AM_V_CC)$(MKDIR_P) %reldir% && $(CC) $(CPPFLAGS) -D_GNU_SOURCE \
		$(CFLAGS) -Wall -Wextra -fPIC -shared -o $@ $< -ldl

dist_check_SCRIPTS += %reldir%/chaos %reldir%/overload.py %reldir%/memory.py
EXTRA_DIST += %reldir%/host.py %reldir%/load.py %reldir%/real.py
