/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <string.h>

#include "loop.h"

static uint64_t stages[WIRE_STAGE_COUNT];

void stage_reached(enum wire_stage stage)
{
	if (stages[stage] == 0)
		stages[stage] = clock_boot();
}

void stage_read(uint64_t ret_usec[static WIRE_STAGE_COUNT])
{
	memcpy(ret_usec, stages, sizeof(stages));
}
