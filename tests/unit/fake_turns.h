/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_FAKE_TURNS_H
#define UNIT_FAKE_TURNS_H

/* Stands in for turns_new() in tests of src/api. */

#include "turn/turn.h"

struct turns *fake_turns_new(sd_event *event, struct clock *clock,
			     const struct settings *settings);
void fake_turns_free(struct turns *turns);

#endif
