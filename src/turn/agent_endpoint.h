/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_AGENT_ENDPOINT_H
#define TURN_AGENT_ENDPOINT_H

#include <stdint.h>

#include "base/error.h"

/**
 * agent_endpoint_choose() - Which version an agent's own path leads to
 * @profile:	The agent's, checked when it was kept
 * @ret:	0: it does not say, so the one that counts
 */
int agent_endpoint_choose(const char *profile, uint64_t *ret,
			  struct error *err);

#endif
