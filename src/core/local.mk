# core: tenants, pools, sessions, executions, artifacts, guest links, reaper.

noinst_LIBRARIES += libcore.a
libcore_a_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
libcore_a_SOURCES = \
	%reldir%/admin.c \
	%reldir%/admission.c %reldir%/admission.h \
	%reldir%/artifact_admin.c \
	%reldir%/audit.c %reldir%/audit.h %reldir%/audit_mend.c \
	%reldir%/auth.c \
	%reldir%/backup.c \
	%reldir%/boot_trace.c %reldir%/boot_trace.h \
	%reldir%/budget.c %reldir%/budget.h \
	%reldir%/cfile.c %reldir%/cfile.h \
	%reldir%/cfile_create.c \
	%reldir%/console.c \
	%reldir%/container.c %reldir%/container.h \
	%reldir%/container_create.c \
	%reldir%/container_exec.c \
	%reldir%/container_options.c %reldir%/core_options.h \
	%reldir%/container_pool.c \
	%reldir%/container_read.c \
	%reldir%/container_row.c \
	%reldir%/conversation.c \
	%reldir%/core.c %reldir%/core.h \
	%reldir%/core_admin.h %reldir%/core_events.h %reldir%/core_parts.h \
	%reldir%/core_exec.c %reldir%/core_exec.h \
	%reldir%/core_life.h %reldir%/core_talk.h \
	%reldir%/core_priv.h \
	%reldir%/core_settings.c %reldir%/core_settings.h \
	%reldir%/core_definition.h \
	%reldir%/data_path.c %reldir%/data_path.h \
	%reldir%/definition.c %reldir%/definition.h \
	%reldir%/definition_change.c %reldir%/definition_change.h \
	%reldir%/definition_decide.c \
	%reldir%/definition_name.c \
	%reldir%/drain.c %reldir%/drain.h \
	%reldir%/end_reason.c %reldir%/end_reason.h \
	%reldir%/exec.c %reldir%/exec.h \
	%reldir%/exec_files.c \
	%reldir%/exec_finish.c \
	%reldir%/exec_output.c \
	%reldir%/exec_record.c \
	%reldir%/exec_row.c \
	%reldir%/exec_state.c %reldir%/exec_state.h \
	%reldir%/exec_watch.c %reldir%/exec_watch.h \
	%reldir%/exec_words.c \
	%reldir%/file.c %reldir%/file.h \
	%reldir%/gc.c %reldir%/gc.h \
	%reldir%/guest_conn.c %reldir%/guest_conn.h \
	%reldir%/guest_conn_proof.c %reldir%/guest_conn_impl.h \
	%reldir%/guest_link.c %reldir%/guest_link.h \
	%reldir%/guest_xfer.c %reldir%/guest_xfer.h \
	%reldir%/guest_xfer_get.c %reldir%/guest_xfer_impl.h \
	%reldir%/handle.c %reldir%/handle.h \
	%reldir%/harvest.c \
	%reldir%/host_room.c %reldir%/host_room.h \
	%reldir%/input_type.c %reldir%/input_type.h \
	%reldir%/load.c %reldir%/load.h \
	%reldir%/map.c %reldir%/map.h \
	%reldir%/metrics.c %reldir%/metrics.h \
	%reldir%/pool_metrics.c %reldir%/pool_metrics.h \
	%reldir%/notice.c %reldir%/notice.h \
	%reldir%/owed.c %reldir%/owed.h \
	%reldir%/owner.c \
	%reldir%/parts.c %reldir%/parts.h \
	%reldir%/parts_assemble.c \
	%reldir%/probe.c \
	%reldir%/placing.c \
	%reldir%/pool.c %reldir%/pool.h \
	%reldir%/pool_image.c \
	%reldir%/pressure.c %reldir%/pressure.h \
	%reldir%/pull.c %reldir%/pull.h \
	%reldir%/pull_list.c %reldir%/pull_impl.h \
	%reldir%/reaper.c \
	%reldir%/reconcile.c %reldir%/reconcile.h \
	%reldir%/response.c \
	%reldir%/session_state.c %reldir%/session_state.h \
	%reldir%/skip.c %reldir%/skip.h \
	%reldir%/talk.c %reldir%/talk.h \
	%reldir%/talk_context.c \
	%reldir%/tenant.c %reldir%/tenant.h \
	%reldir%/tenant_admin.c \
	%reldir%/top.c \
	%reldir%/upload.c %reldir%/upload.h \
	%reldir%/usage.c %reldir%/usage.h \
	%reldir%/usage_json.c \
	%reldir%/usage_report.c \
	%reldir%/stage.c \
	%reldir%/waiting.c %reldir%/waiting.h \
	%reldir%/vm.c %reldir%/vm.h \
	%reldir%/vm_guest.c \
	%reldir%/vm_start.c \
	%reldir%/vm_state.c %reldir%/vm_state.h

core_libs = libcore.a $(store_libs) $(vmdclient_libs) $(wire_libs) $(base_libs)
