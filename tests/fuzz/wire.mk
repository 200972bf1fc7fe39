# Fuzz targets of wire.

fuzz_targets += %reldir%/fuzz_frame
tests_fuzz_fuzz_frame_SOURCES = %reldir%/fuzz_frame.c $(fuzz_main)
tests_fuzz_fuzz_frame_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_frame_LDADD = $(wire_libs)

EXTRA_DIST += \
	%reldir%/corpus/frame/attach \
	%reldir%/corpus/frame/changed \
	%reldir%/corpus/frame/changed-miscounted \
	%reldir%/corpus/frame/configure \
	%reldir%/corpus/frame/delete \
	%reldir%/corpus/frame/delete-escape \
	%reldir%/corpus/frame/display \
	%reldir%/corpus/frame/done \
	%reldir%/corpus/frame/error \
	%reldir%/corpus/frame/get \
	%reldir%/corpus/frame/hello \
	%reldir%/corpus/frame/open \
	%reldir%/corpus/frame/open-version \
	%reldir%/corpus/frame/output \
	%reldir%/corpus/frame/output-overflow \
	%reldir%/corpus/frame/put \
	%reldir%/corpus/frame/ready \
	%reldir%/corpus/frame/refused \
	%reldir%/corpus/frame/reserved \
	%reldir%/corpus/frame/session \
	%reldir%/corpus/frame/status \
	%reldir%/corpus/frame/too-long \
	%reldir%/corpus/frame/unknown
