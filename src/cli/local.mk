# cli: cupolactl. The library is there for the tests.

noinst_LIBRARIES += libcli.a
libcli_a_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(EDIT_CFLAGS)
libcli_a_SOURCES = \
	%reldir%/address.c %reldir%/address.h \
	%reldir%/args.c %reldir%/args.h \
	%reldir%/artifacts.c \
	%reldir%/audit.c \
	%reldir%/backup.c \
	%reldir%/calls.c %reldir%/calls.h \
	%reldir%/cli.c %reldir%/cli.h \
	%reldir%/client.c %reldir%/client.h \
	%reldir%/client_error.c %reldir%/client_error.h \
	%reldir%/completion.c %reldir%/completion.h \
	%reldir%/completion_bash.c \
	%reldir%/completion_fish.c \
	%reldir%/completion_names.c \
	%reldir%/completion_zsh.c \
	%reldir%/console.c \
	%reldir%/doctor.c %reldir%/doctor.h %reldir%/doctor_probe.c \
	%reldir%/drain.c \
	%reldir%/events.c \
	%reldir%/exec.c \
	%reldir%/execute.c %reldir%/execute.h \
	%reldir%/files.c \
	%reldir%/help.c %reldir%/help.h \
	%reldir%/host.c %reldir%/host.h %reldir%/host_checks.h \
	%reldir%/host_holes.c %reldir%/host_images.c %reldir%/host_kernel.c %reldir%/host_limits.c \
	%reldir%/images.c \
	%reldir%/inspect.c \
	%reldir%/keyboard.c %reldir%/keyboard.h \
	%reldir%/keys.c \
	%reldir%/kill.c \
	%reldir%/logs.c \
	%reldir%/model.c \
	%reldir%/nmi.c \
	%reldir%/pools.c \
	%reldir%/progress.c %reldir%/progress.h \
	%reldir%/ps.c \
	%reldir%/python_text.c %reldir%/python_text.h \
	%reldir%/run.c \
	%reldir%/save.c %reldir%/save.h \
	%reldir%/shell.c \
	%reldir%/signals.c %reldir%/signals.h \
	%reldir%/stream.c %reldir%/stream.h \
	%reldir%/table.c %reldir%/table.h \
	%reldir%/tenants.c \
	%reldir%/text.c %reldir%/text.h \
	%reldir%/top.c \
	%reldir%/transfer.c %reldir%/transfer.h \
	%reldir%/usage.c \
	%reldir%/version.c \
	%reldir%/views.c %reldir%/views.h \
	%reldir%/watch.c %reldir%/watch.h

cli_libs = libcli.a $(base_libs) $(CURL_LIBS) $(EDIT_LIBS) -lm

bin_PROGRAMS += cupolactl
cupolactl_SOURCES = %reldir%/main.c
cupolactl_LDADD = $(cli_libs)

# Written by the program itself, from the tables that it parses with.
completions = \
	completions/cupolactl \
	completions/_cupolactl \
	completions/cupolactl.fish
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/vendor-completions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_bashcompletion_DATA = completions/cupolactl
nodist_zshcompletion_DATA = completions/_cupolactl
nodist_fishcompletion_DATA = completions/cupolactl.fish
CLEANFILES += $(completions)

completions/cupolactl: cupolactl$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./cupolactl completion bash >$@.tmp && mv $@.tmp $@
completions/_cupolactl: cupolactl$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./cupolactl completion zsh >$@.tmp && mv $@.tmp $@
completions/cupolactl.fish: cupolactl$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./cupolactl completion fish >$@.tmp && mv $@.tmp $@
