# turn: the loop of model and interpreter behind the Responses API.

noinst_LIBRARIES += libturn.a
libturn_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS) $(CURL_CFLAGS)
libturn_a_SOURCES = \
	%reldir%/agent.c %reldir%/agent.h \
	%reldir%/agent_check.c \
	%reldir%/agent_endpoint.c %reldir%/agent_endpoint.h \
	%reldir%/agent_inputs.c %reldir%/agent_inputs.h \
	%reldir%/agent_schema.c %reldir%/agent_schema.h \
	%reldir%/agent_template.c %reldir%/agent_template.h \
	%reldir%/item.c %reldir%/item.h \
	%reldir%/item_include.c \
	%reldir%/item_kinds.c \
	%reldir%/item_parts.c \
	%reldir%/item_private.h \
	%reldir%/item_read.c \
	%reldir%/metadata.c %reldir%/metadata.h \
	%reldir%/turn.c %reldir%/turn.h \
	%reldir%/upstream.c %reldir%/upstream.h \
	%reldir%/upstream_key.c %reldir%/upstream_key.h \
	%reldir%/upstream_private.h \
	%reldir%/upstream_target.c %reldir%/upstream_target.h

turn_libs = libturn.a $(core_libs) $(CURL_LIBS)
