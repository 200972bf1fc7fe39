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
	%reldir%/ask.c %reldir%/ask.h \
	%reldir%/ask_echo.c \
	%reldir%/cite.c %reldir%/cite.h \
	%reldir%/code_arguments.c %reldir%/code_arguments.h \
	%reldir%/context.c %reldir%/context.h \
	%reldir%/context_files.c \
	%reldir%/context_items.c \
	%reldir%/context_parts.c \
	%reldir%/context_shrink.c \
	%reldir%/event_log.c %reldir%/event_log.h \
	%reldir%/item.c %reldir%/item.h \
	%reldir%/item_include.c \
	%reldir%/item_kinds.c \
	%reldir%/item_parts.c \
	%reldir%/item_private.h \
	%reldir%/item_read.c \
	%reldir%/metadata.c %reldir%/metadata.h \
	%reldir%/out_item.c %reldir%/out_item.h \
	%reldir%/result.c %reldir%/result.h \
	%reldir%/tool_choice.c \
	%reldir%/tool_set.c %reldir%/tool_set.h \
	%reldir%/turn.h %reldir%/turn_priv.h \
	%reldir%/turn_box.c \
	%reldir%/turn_cancel.c \
	%reldir%/turn_cite.c \
	%reldir%/turn_end.c \
	%reldir%/turn_kept.c \
	%reldir%/turn_life.c \
	%reldir%/turn_metrics.c \
	%reldir%/turn_restart.c \
	%reldir%/turn_round.c \
	%reldir%/turn_run.c \
	%reldir%/turn_show.c \
	%reldir%/turn_state.c %reldir%/turn_state.h \
	%reldir%/turn_steps.c \
	%reldir%/turn_usage.c \
	%reldir%/turn_view.c \
	%reldir%/turn_watch.c \
	%reldir%/upstream.c %reldir%/upstream.h \
	%reldir%/upstream_answer.c %reldir%/upstream_answer.h \
	%reldir%/upstream_call.c %reldir%/upstream_call.h \
	%reldir%/upstream_chat_read.c \
	%reldir%/upstream_chat_write.c \
	%reldir%/upstream_error.c %reldir%/upstream_error.h \
	%reldir%/upstream_json.c %reldir%/upstream_json.h \
	%reldir%/upstream_key.c %reldir%/upstream_key.h \
	%reldir%/upstream_mend.c %reldir%/upstream_mend.h \
	%reldir%/upstream_metrics.c \
	%reldir%/upstream_private.h \
	%reldir%/upstream_probe.c \
	%reldir%/upstream_reader.c %reldir%/upstream_reader.h \
	%reldir%/upstream_request.c %reldir%/upstream_request.h \
	%reldir%/upstream_responses_read.c \
	%reldir%/upstream_responses_write.c \
	%reldir%/upstream_target.c %reldir%/upstream_target.h \
	%reldir%/upstream_transfers.c %reldir%/upstream_transfers.h \
	%reldir%/upstream_try.c

turn_libs = libturn.a $(core_libs) $(CURL_LIBS)
