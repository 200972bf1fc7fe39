# A fuzz target is a libFuzzer program under --enable-fuzzing and otherwise a
# test that replays tests/fuzz/corpus/NAME. To add one:
#
#	fuzz_targets += %reldir%/fuzz_json
#	tests_fuzz_fuzz_json_SOURCES = %reldir%/fuzz_json.c $(fuzz_main)
#	tests_fuzz_fuzz_json_LDFLAGS = $(fuzz_ldflags)
#	tests_fuzz_fuzz_json_LDADD = $(base_libs)
#
# The corpus is distributed as it lies there; a crash that was fixed becomes one
# more file.

fuzz_targets =
EXTRA_DIST += %reldir%/corpus %reldir%/replay.c

if FUZZING
fuzz_main = %reldir%/fuzz.h
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_main = %reldir%/fuzz.h %reldir%/replay.c
fuzz_ldflags = $(AM_LDFLAGS)
endif

include $(top_srcdir)/tests/fuzz/base.mk
include $(top_srcdir)/tests/fuzz/wire.mk
include $(top_srcdir)/tests/fuzz/core.mk
include $(top_srcdir)/tests/fuzz/vmd.mk
include $(top_srcdir)/tests/fuzz/guest.mk
include $(top_srcdir)/tests/fuzz/turn.mk
include $(top_srcdir)/tests/fuzz/api.mk

check_PROGRAMS += $(fuzz_targets)
if !FUZZING
TESTS += $(fuzz_targets)
endif

# Only these, for a build that is there to fuzz.
fuzzers: $(fuzz_targets)
.PHONY: fuzzers
