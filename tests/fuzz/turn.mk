# Fuzz targets of turn.

fuzz_targets += %reldir%/fuzz_item
tests_fuzz_fuzz_item_SOURCES = %reldir%/fuzz_item.c $(fuzz_main)
tests_fuzz_fuzz_item_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_item_LDADD = libturn.a $(base_libs)

fuzz_targets += %reldir%/fuzz_upstream
tests_fuzz_fuzz_upstream_SOURCES = %reldir%/fuzz_upstream.c $(fuzz_main)
tests_fuzz_fuzz_upstream_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_upstream_LDADD = libturn.a $(base_libs) $(CURL_LIBS)

fuzz_targets += %reldir%/fuzz_code_arguments
tests_fuzz_fuzz_code_arguments_SOURCES = %reldir%/fuzz_code_arguments.c \
	$(fuzz_main)
tests_fuzz_fuzz_code_arguments_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_code_arguments_LDADD = libturn.a $(base_libs)

EXTRA_DIST += \
	%reldir%/corpus/code_arguments/cut \
	%reldir%/corpus/code_arguments/escapes \
	%reldir%/corpus/code_arguments/plain \
	%reldir%/corpus/upstream/chat_calls \
	%reldir%/corpus/upstream/chat_cut \
	%reldir%/corpus/upstream/chat_object \
	%reldir%/corpus/upstream/chat_text \
	%reldir%/corpus/upstream/responses_call \
	%reldir%/corpus/upstream/responses_failed \
	%reldir%/corpus/upstream/responses_other_rest
