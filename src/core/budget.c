/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "core/container.h"
#include "core/vm.h"
#include "store/store_usage.h"

static usec_t begun_in_day(const struct container *c, uint64_t day)
{
	return usec_sub(c->metered_usec, day * USEC_PER_DAY);
}

static void meter_one(void *object, void *userdata)
{
	const struct container *c = object;
	struct tenant *tenant = userdata;

	if (c->tenant == tenant && c->metered_usec)
		tenant->meter.begun += begun_in_day(c, tenant->meter.day);
}

/* At the first look on a day all is counted anew, and only then. */
static struct meter *meter_of(struct core *core, struct tenant *tenant)
{
	struct meter *m = &tenant->meter;
	uint64_t day = clock_wall(core->clock) / USEC_PER_DAY;

	if (m->day == day)
		return m;
	m->day = day;
	m->begun = 0;
	if (m->sessions > 0)
		map_each(&core->containers, meter_one, tenant);
	return m;
}

void budget_begin(struct container *c)
{
	struct meter *m = meter_of(c->core, c->tenant);

	if (c->metered_usec)
		return;
	c->metered_usec = c->vm->assigned_usec;
	m->sessions++;
	m->begun += begun_in_day(c, m->day);
}

void budget_end(struct container *c)
{
	struct meter *m = meter_of(c->core, c->tenant);

	if (!c->metered_usec)
		return;
	m->sessions--;
	m->begun -= begun_in_day(c, m->day);
	c->metered_usec = 0;
}

static int budget_used(struct core *core, struct tenant *tenant, usec_t *ret,
		       struct error *err)
{
	const struct meter *m = meter_of(core, tenant);
	usec_t now = clock_wall(core->clock);
	uint64_t ended;
	int r;

	r = store_usage_assigned(core->store, tenant->id, (int64_t)m->day,
				 &ended);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the budget");
	*ret = ended + usec_sub(m->sessions * (now % USEC_PER_DAY), m->begun);
	return 0;
}

int budget_check(struct core *core, struct tenant *tenant, struct error *err)
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
