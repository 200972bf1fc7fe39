# The guest agent without a VM: guest_host runs it, test_guest.py talks to it.
# The same tests speak to a real guest, see there.

check_PROGRAMS += %reldir%/guest_host
tests_guest_guest_host_SOURCES = %reldir%/guest_host.c $(agent_sources)
tests_guest_guest_host_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/guest-agent
tests_guest_guest_host_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=bounds_survey -Wl,--wrap=bounds_restore
tests_guest_guest_host_LDADD = $(wire_libs) $(NETTLE_LIBS)

TESTS += %reldir%/test_guest.py
EXTRA_DIST += \
	%reldir%/test_guest.py \
	%reldir%/cases.py \
	%reldir%/cases_files.py \
	%reldir%/cases_ground.py \
	%reldir%/cases_rich.py
