/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_STAGE_H
#define GUEST_STAGE_H

/* The boot trace: when each stage was first over. */

#include <stdint.h>

#include "wire/wire.h"

void stage_reached(enum wire_stage stage);

/* Copy all of them. */
void stage_read(uint64_t ret_usec[static WIRE_STAGE_COUNT]);

#endif
