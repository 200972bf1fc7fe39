/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

#include <dirent.h>
#include <malloc.h>

#include "base/sanitizer.h"

#if WITH_ADDRESS_SANITIZER
/* GCC has the function, and not always the header. */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

struct session hostile_running(struct fixture *fx)
{
	struct session s;

	s.g = fixture_running(fx, "x", s.c, s.e);
	return s;
}

struct session hostile_another(struct fixture *fx)
{
	struct session s;

	s.g = fixture_session(fx, s.c);
	fixture_exec(fx, s.c, "y", s.e);
	RUN_UNTIL(fx, s.g->execs == 1);
	return s;
}

void hostile_is_unharmed(struct fixture *fx, struct session *s)
{
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).status,
			 EXEC_RUNNING);
	guest_finish(s->g, WIRE_STATUS_OK, 0);
	fixture_wait_exec(fx, s->c, s->e, EXEC_OK);
}

void hostile_ends(struct fixture *fx, const struct session *s,
		  const char *reason)
{
	struct session other;

	fixture_wait_state(fx, s->c, SESSION_VIEW_ENDED);
	assert_string_equal(fixture_container(fx, s->c).ended_reason, reason);
	assert_int_equal(fixture_exec_view(fx, s->c, s->e).status,
			 EXEC_SESSION_LOST);
	assert_int_equal(vmd_running(&fx->vmd), 0);

	other = hostile_another(fx);
	hostile_is_unharmed(fx, &other);
}

void hostile_frame_begin(struct scripted_guest *g, enum wire_type type,
			 uint32_t call, size_t size)
{
	uint8_t bytes[sizeof(struct wire_header) + 1] = { 0 };

	frame_put_header(bytes, type, call, size);
	guest_say_raw(g, bytes, sizeof(bytes));
}

void hostile_frame(struct scripted_guest *g, enum wire_type type, uint32_t call,
		   const void *payload, size_t size)
{
	uint8_t header[sizeof(struct wire_header)];

	frame_put_header(header, type, call, size);
	guest_say_raw(g, header, sizeof(header));
	guest_say_raw(g, payload, size);
}

size_t hostile_memory(void)
{
#if WITH_ADDRESS_SANITIZER
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

unsigned hostile_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}
