/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/proof.h"

#include <string.h>

static const char *const words[] = {
	[WIRE_HOST] = "host",
	[WIRE_GUEST] = "guest",
};
static_assert(sizeof(words) / sizeof(words[0]) == WIRE_SIDE_COUNT,
	      "words[] doesn't match enum wire_side");

size_t proof_input(enum wire_side side,
		   const uint8_t guest[static WIRE_CHALLENGE_SIZE],
		   const uint8_t host[static WIRE_CHALLENGE_SIZE],
		   uint8_t ret_input[static PROOF_INPUT_MAX])
{
	size_t word = strlen(words[side]);

	memcpy(ret_input, words[side], word);
	memcpy(ret_input + word, guest, WIRE_CHALLENGE_SIZE);
	memcpy(ret_input + word + WIRE_CHALLENGE_SIZE, host,
	       WIRE_CHALLENGE_SIZE);
	return word + 2 * WIRE_CHALLENGE_SIZE;
}

int proof_equal(const uint8_t a[static WIRE_PROOF_SIZE],
		const uint8_t b[static WIRE_PROOF_SIZE])
{
	unsigned difference = 0;
	size_t i;

	for (i = 0; i < WIRE_PROOF_SIZE; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}
