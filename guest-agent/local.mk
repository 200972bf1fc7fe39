# guest-agent: PID 1 of the VM: static, without sanitizers, with its own objects
# of src/wire for that reason (automake makes them when _CFLAGS are set).

# pkglibexec_PROGRAMS += cupola-guest
# cupola_guest_SOURCES = %reldir%/main.c src/wire/frame.c src/wire/frame.h
# cupola_guest_CFLAGS = $(BASIC_CFLAGS) -fstack-protector-strong
# cupola_guest_LDFLAGS = -static
# cupola_guest_LDADD = $(NETTLE_LIBS)
