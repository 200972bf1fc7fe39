# Unit tests of wire.

unit_tests += %reldir%/test_wire_frame
tests_unit_test_wire_frame_SOURCES = %reldir%/test_wire_frame.c %reldir%/test.h
tests_unit_test_wire_frame_LDADD = $(wire_libs) $(CMOCKA_LIBS)

unit_tests += %reldir%/test_wire_message
tests_unit_test_wire_message_SOURCES = \
	%reldir%/test_wire_message.c %reldir%/test.h
tests_unit_test_wire_message_LDADD = $(wire_libs) $(CMOCKA_LIBS)
