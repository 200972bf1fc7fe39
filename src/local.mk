# Layers, lowest first. A program or test that links only the lower ones proves
# that they need nothing from above.
#
# Each layer's local.mk does two things, as soon as the layer has a source (an
# empty library is an error):
#
#	noinst_LIBRARIES += libX.a	libX_a_SOURCES = ... (headers too)
#					libX_a_CPPFLAGS = $(AM_CPPFLAGS) $(..._CFLAGS)
#	X_libs = libX.a, then the X_libs of what it needs, then outside
#					libraries, in link order
#
# so that a program or test says only, for example, LDADD = $(core_libs).
# All X_libs may be used from the first day: those without a library yet are
# empty.

include $(top_srcdir)/src/base/local.mk
include $(top_srcdir)/src/wire/local.mk
include $(top_srcdir)/src/vmd/local.mk
include $(top_srcdir)/src/store/local.mk
include $(top_srcdir)/src/core/local.mk
include $(top_srcdir)/src/turn/local.mk
include $(top_srcdir)/src/api/local.mk
include $(top_srcdir)/src/cli/local.mk
include $(top_srcdir)/src/daemon/local.mk
