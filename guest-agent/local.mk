# guest-agent: PID 1 of the VM: static, without sanitizers, with its own objects
# of src/wire for that reason (automake makes them when _CFLAGS are set).

# Everything but the machine around it, which tests do without.
agent_sources = \
	%reldir%/agent.c %reldir%/agent.h \
	%reldir%/bounds.c %reldir%/bounds.h \
	%reldir%/bulk.c %reldir%/bulk.h \
	%reldir%/bulk_file.c %reldir%/bulk_file.h \
	%reldir%/capture.c %reldir%/capture.h \
	%reldir%/cgroup.h \
	%reldir%/changed.c %reldir%/changed.h \
	%reldir%/data.c %reldir%/data.h \
	%reldir%/exec.c %reldir%/exec.h \
	%reldir%/exec_runner.c \
	%reldir%/exec_send.c \
	%reldir%/exec_slot.h \
	%reldir%/kernel.c %reldir%/kernel.h \
	%reldir%/link.c %reldir%/link.h \
	%reldir%/loop.c %reldir%/loop.h \
	%reldir%/report.c %reldir%/report.h \
	%reldir%/runner.h \
	%reldir%/sandbox.h \
	%reldir%/seccomp.c %reldir%/seccomp.h \
	%reldir%/session.h \
	%reldir%/stage.c %reldir%/stage.h \
	%reldir%/streams.c %reldir%/streams.h \
	%reldir%/vsock.h \
	%reldir%/visitor.c %reldir%/visitor.h \
	%reldir%/zygote.c %reldir%/zygote.h

pkglibexec_PROGRAMS += cupola-guest
cupola_guest_SOURCES = $(agent_sources) $(wire_sources) \
	%reldir%/boot.c %reldir%/boot.h \
	%reldir%/boot_disk.c \
	%reldir%/boot_mount.c \
	%reldir%/boot_rules.c \
	%reldir%/cgroup.c \
	%reldir%/knob.c %reldir%/knob.h \
	%reldir%/main.c \
	%reldir%/sandbox.c \
	%reldir%/session.c
cupola_guest_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%reldir% \
	-DAGENT_BUILD='"cupola-guest $(VERSION)"'
cupola_guest_CFLAGS = $(BASIC_CFLAGS) -fstack-protector-strong
cupola_guest_LDFLAGS = -static
cupola_guest_LDADD = $(NETTLE_LIBS)

# What plays the host: tests/guest and images/smoke.
EXTRA_DIST += %reldir%/guest_client.py

EXTRA_DIST += %reldir%/runner.py
