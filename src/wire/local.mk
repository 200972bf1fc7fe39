# wire: the protocol between daemon and guest. Pure functions: needs nothing,
# not even base, because the static guest agent compiles the same files (with
# flags of its own, see guest-agent/local.mk).

wire_sources = \
	%reldir%/cursor.c %reldir%/cursor.h \
	%reldir%/frame.c %reldir%/frame.h \
	%reldir%/message.h \
	%reldir%/message_control.c \
	%reldir%/message_file.c \
	%reldir%/message_output.c \
	%reldir%/names.c \
	%reldir%/proof.c %reldir%/proof.h \
	%reldir%/text.c \
	%reldir%/wire.h

noinst_LIBRARIES += libwire.a
libwire_a_SOURCES = $(wire_sources)

wire_libs = libwire.a
