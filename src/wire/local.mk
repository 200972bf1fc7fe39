# wire: the protocol between daemon and guest. Pure functions: needs nothing,
# not even base, because the static guest agent compiles the same files (with
# flags of its own, see guest-agent/local.mk).

# noinst_LIBRARIES += libwire.a
# libwire_a_SOURCES = %reldir%/frame.c %reldir%/frame.h

wire_libs =
# wire_libs = libwire.a
