# Every test speaks TAP and finds its data through $srcdir. Each layer has its
# own tests/unit/LAYER.mk and tests/fuzz/LAYER.mk.

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	MANDOC='$(MANDOC)'; export MANDOC; \
	TSAN_OPTIONS='suppressions=$(abs_top_srcdir)/tests/tsan.supp'; \
	export TSAN_OPTIONS;
EXTRA_DIST += %reldir%/README %reldir%/tsan.supp \
	%reldir%/clients/package.json \
	%reldir%/clients/agents.mjs \
	%reldir%/clients/containers.mjs \
	%reldir%/clients/conversations.mjs \
	%reldir%/clients/description.mjs \
	%reldir%/clients/files.mjs \
	%reldir%/clients/lib.mjs \
	%reldir%/clients/mcp.mjs \
	%reldir%/clients/mcp-modern.mjs \
	%reldir%/clients/project.mjs \
	%reldir%/clients/sessions.mjs \
	%reldir%/clients/toolboxes.mjs

# Tests of the sources themselves.
check_scripts = \
	%reldir%/check-catalogue \
	%reldir%/check-layers \
	%reldir%/check-manual \
	%reldir%/check-style
dist_check_SCRIPTS += $(check_scripts)
TESTS += $(check_scripts)

# These boot VMs; run by contrib/check.
EXTRA_DIST += %reldir%/soak %reldir%/stress

include $(top_srcdir)/tests/unit/local.mk
include $(top_srcdir)/tests/fuzz/local.mk
include $(top_srcdir)/tests/upstream/local.mk
include $(top_srcdir)/tests/guest/local.mk
include $(top_srcdir)/tests/e2e/local.mk
include $(top_srcdir)/tests/chaos/local.mk
include $(top_srcdir)/tests/kvmhost/local.mk
include $(top_srcdir)/tests/scale/local.mk
