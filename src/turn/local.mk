# turn: the loop of model and interpreter behind the Responses API.

noinst_LIBRARIES += libturn.a
libturn_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(CURL_CFLAGS)
libturn_a_SOURCES = \
	%reldir%/agent.h \
	%reldir%/item.h \
	%reldir%/item_include.c \
	%reldir%/turn.h \
	%reldir%/upstream.h

turn_libs = libturn.a $(core_libs) $(CURL_LIBS)
