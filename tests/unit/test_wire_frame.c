/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "wire/frame.h"
#include "wire/proof.h"

/* A header as a peer may send it, rules or not. */
static void header(uint8_t *buf, uint32_t length, uint16_t type,
		   uint16_t reserved, uint32_t call)
{
	const struct wire_header h = {
		.length = le32_put(length),
		.type = le16_put(type),
		.reserved = le16_put(reserved),
		.call = le32_put(call),
	};

	memcpy(buf, &h, sizeof(h));
}

static int next(uint32_t length, uint16_t type, uint16_t reserved,
		uint32_t call)
{
	uint8_t buf[sizeof(struct wire_header)];
	struct frame f;
	size_t used;

	header(buf, length, type, reserved, call);
	return frame_next(buf, sizeof(buf), &f, &used);
}

static void numbers_are_little_endian_at_any_address(void **state)
{
	uint8_t bytes[9] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8 };
	le64 n;

	(void)state;
	memcpy(&n, bytes + 1, sizeof(n));
	assert_true(le64_get(n) == 0x0807060504030201ull);
	assert_int_equal(le16_get(le16_put(0xfedc)), 0xfedc);
	assert_true(le32_get(le32_put(0xfedcba98u)) == 0xfedcba98u);
	assert_true(le64_get(le64_put(UINT64_MAX - 1)) == UINT64_MAX - 1);
}

static void a_frame_is_found_when_its_last_byte_is_there(void **state)
{
	uint8_t buf[sizeof(struct wire_header) + 4];
	struct frame f;
	size_t used, n;

	(void)state;
	frame_put_header(buf, WIRE_PING, 0, 4);
	memcpy(buf + sizeof(struct wire_header), "abcd", 4);
	for (n = 0; n < sizeof(buf); n++)
		assert_int_equal(frame_next(buf, n, &f, &used), 0);
	assert_int_equal(frame_next(buf, n, &f, &used), 1);
	assert_int_equal(used, sizeof(buf));
	assert_int_equal(f.type, WIRE_PING);
	assert_int_equal(f.length, 4);
	assert_ptr_equal(f.payload, buf + sizeof(struct wire_header));
}

static void an_oversized_frame_is_refused_before_it_arrives(void **state)
{
	(void)state;
	assert_int_equal(next(WIRE_PAYLOAD_MAX, WIRE_DATA, 0, 0), 0);
	assert_int_equal(next(WIRE_PAYLOAD_MAX + 1, WIRE_DATA, 0, 0),
			 -EMSGSIZE);
	assert_int_equal(next(UINT32_MAX, WIRE_DATA, 0, 0), -EMSGSIZE);
}

static void what_is_no_header_is_refused_before_its_payload(void **state)
{
	(void)state;
	assert_int_equal(next(9, 0, 0, 0), -EPROTO);
	assert_int_equal(next(9, 0xffff, 0, 1), -EPROTO);
	assert_int_equal(next(9, WIRE_PING, 1, 0), -EPROTO);
}

static void a_call_is_there_exactly_where_it_belongs(void **state)
{
	(void)state;
	assert_int_equal(next(9, WIRE_PING, 0, 7), -EPROTO);
	assert_int_equal(next(9, WIRE_HELLO, 0, 7), -EPROTO);
	assert_int_equal(next(9, WIRE_OUTPUT, 0, 0), -EPROTO);
	assert_int_equal(next(9, WIRE_OUTPUT, 0, 7), 0);
}

static void nobody_may_say_the_others_frames(void **state)
{
	(void)state;
	assert_true(frame_may_say(WIRE_HOST, WIRE_PHASE_WORK, WIRE_EXEC));
	assert_false(frame_may_say(WIRE_GUEST, WIRE_PHASE_WORK, WIRE_EXEC));
	assert_true(frame_may_say(WIRE_GUEST, WIRE_PHASE_WORK, WIRE_DONE));
	assert_false(frame_may_say(WIRE_HOST, WIRE_PHASE_WORK, WIRE_DONE));
}

static void each_phase_has_its_frames(void **state)
{
	(void)state;
	assert_false(frame_may_say(WIRE_HOST, WIRE_PHASE_OPENING, WIRE_EXEC));
	assert_false(frame_may_say(WIRE_HOST, WIRE_PHASE_SETUP, WIRE_EXEC));
	assert_false(frame_may_say(WIRE_HOST, WIRE_PHASE_WORK,
				   WIRE_CONFIGURE));
	assert_false(frame_may_say(WIRE_GUEST, WIRE_PHASE_WORK, WIRE_HELLO));
	assert_true(frame_may_say(WIRE_HOST, WIRE_PHASE_RECEIVING, WIRE_DATA));
	assert_false(frame_may_say(WIRE_GUEST, WIRE_PHASE_RECEIVING,
				   WIRE_DATA));
	assert_true(frame_may_say(WIRE_GUEST, WIRE_PHASE_SENDING, WIRE_DATA));
	assert_false(frame_may_say(WIRE_HOST, WIRE_PHASE_SENDING, WIRE_DATA));
}

static void nothing_may_be_said_after_the_end(void **state)
{
	unsigned type, side;

	(void)state;
	for (type = 0; type < 0x400; type++)
		for (side = 0; side < WIRE_SIDE_COUNT; side++)
			assert_false(frame_may_say((enum wire_side)side,
						   WIRE_PHASE_CLOSED,
						   (enum wire_type)type));
}

static void the_two_proofs_differ(void **state)
{
	uint8_t g[WIRE_CHALLENGE_SIZE], h[WIRE_CHALLENGE_SIZE];
	uint8_t host[PROOF_INPUT_MAX], guest[PROOF_INPUT_MAX];

	(void)state;
	memset(g, 'g', sizeof(g));
	memset(h, 'h', sizeof(h));
	assert_int_equal(proof_input(WIRE_HOST, g, h, host), 4 + 64);
	assert_int_equal(proof_input(WIRE_GUEST, g, h, guest), 5 + 64);
	assert_memory_equal(host, "hostgggg", 8);
	assert_memory_equal(guest, "guestgggg", 9);
	assert_memory_equal(host + 4 + 32, h, sizeof(h));
	assert_true(proof_equal(g, g));
	assert_false(proof_equal(g, h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian_at_any_address),
		cmocka_unit_test(a_frame_is_found_when_its_last_byte_is_there),
		cmocka_unit_test(
			an_oversized_frame_is_refused_before_it_arrives),
		cmocka_unit_test(
			what_is_no_header_is_refused_before_its_payload),
		cmocka_unit_test(a_call_is_there_exactly_where_it_belongs),
		cmocka_unit_test(nobody_may_say_the_others_frames),
		cmocka_unit_test(each_phase_has_its_frames),
		cmocka_unit_test(nothing_may_be_said_after_the_end),
		cmocka_unit_test(the_two_proofs_differ),
	};

	return RUN_TESTS(tests);
}
