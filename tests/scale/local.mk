# One core with 10,000 sessions; it takes minutes, so it is run by hand and by
# contrib/check --long.

check_PROGRAMS += %reldir%/scale
tests_scale_scale_SOURCES = %reldir%/scale.c \
	tests/unit/core_fixture.c tests/unit/core_fixture.h \
	tests/unit/scripted_guest.c tests/unit/scripted_guest.h \
	tests/unit/scripted_guest_say.c \
	tests/unit/scripted_vmd.c tests/unit/scripted_vmd.h \
	tests/unit/test.h
tests_scale_scale_LDADD = $(core_libs) $(CMOCKA_LIBS)
