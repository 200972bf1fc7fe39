/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "core/container.h"
#include "core/usage.h"
#include "store/store_usage.h"

struct live {
	const struct tenant *tenant;
	usec_t midnight;
	usec_t used;
};

static void add_live(void *object, void *userdata)
{
	const struct container *c = object;
	struct live *live = userdata;
	usec_t now = clock_wall(c->core->clock);
	usec_t today = usec_sub(now, live->midnight);
	usec_t assigned = usage_assigned(c);

	if (c->tenant == live->tenant && c->state != SESSION_VIEW_ENDED)
		live->used += assigned < today ? assigned : today;
}

static int budget_used(struct core *core, const struct tenant *tenant,
		       usec_t *ret, struct error *err)
{
	usec_t now = clock_wall(core->clock);
	struct live live = {
		.tenant = tenant,
		.midnight = now - now % USEC_PER_DAY,
	};
	uint64_t ended;
	int r;

	r = store_usage_assigned(core->store, tenant->id,
				 (int64_t)(now / USEC_PER_DAY), &ended);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the budget");
	map_each(&core->containers, add_live, &live);
	*ret = ended + live.used;
	return 0;
}

int budget_check(struct core *core, const struct tenant *tenant,
		 struct error *err)
{
	uint64_t budget_sec =
		tenant_limits_of(core, tenant).session_seconds_per_day;
	usec_t used = 0, now = clock_wall(core->clock);
	int r;

	if (budget_sec == 0)
		return 0;
	r = budget_used(core, tenant, &used, err);
	if (r < 0 || used < budget_sec * USEC_PER_SEC)
		return r;
	r = error_set(err, ERR_LIMIT,
		      "The budget of %.2f session hours a day is used up: "
		      "%.2f were used today, which ends at 00:00 UTC",
		      (double)budget_sec / 3600,
		      (double)used / USEC_PER_SEC / 3600);
	error_set_reason(err, "budget");
	error_set_retry_after(
		err, (unsigned)((USEC_PER_DAY - now % USEC_PER_DAY) /
					USEC_PER_SEC +
				1));
	return r;
}

static void end_session(void *object, void *userdata)
{
	struct container *c = object;

	if (c->tenant == userdata)
		container_end(c, END_BUDGET);
}

static void enforce_one(void *object, void *userdata)
{
	struct tenant *tenant = object;
	struct core *core = userdata;
	struct error err = ERROR_INIT;

	if (tenant->sessions == 0 || budget_check(core, tenant, &err) >= 0 ||
	    err.code != ERR_LIMIT)
		return;
	map_each(&core->containers, end_session, tenant);
}

void budget_enforce(struct core *core)
{
	map_each(&core->tenants, enforce_one, core);
}
