/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

/*
 * Session hours of a tenant per day (UTC).
 *
 * What counts is VM time, each day's on its day: of sessions that ended today,
 * which the ledger sums up, and of those that live, from midnight or their
 * assignment on. When it is
 * used up, creates are refused until midnight and what lives ends, with reason
 * "budget".
 */

#include <stdint.h>

#include "base/error.h"

struct container;
struct core;
struct tenant;

/** budget_begin(), budget_end() - A session has a VM; it has ended */
void budget_begin(struct container *c);
void budget_end(struct container *c);

/** budget_check() - Whether a tenant may begin a session */
int budget_check(struct core *core, struct tenant *tenant, struct error *err);

/** budget_enforce() - End the sessions of tenants that used theirs up */
void budget_enforce(struct core *core);

#endif
