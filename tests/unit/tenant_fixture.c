/* SPDX-License-Identifier: Apache-2.0 */
#include "tenant_fixture.h"

void tenant_set(struct fixture *fx, const char *id, bool create,
		struct tenant_limits limits, struct answer *ret)
{
	*ret = (struct answer){ .called = false };
	assert_int_equal(core_admin_tenant_set(fx->core, id, &limits, create,
					       on_json, ret, &ret->err),
			 0);
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
}

struct principal tenant_act_for(struct fixture *fx, const char *tenant)
{
	struct error err = ERROR_INIT;
	struct principal who;

	assert_int_equal(core_local(fx->core, tenant, 0, &who, &err), 0);
	return who;
}

/* A key of a tenant, and whom it is for. */
void tenant_make_key(struct fixture *fx, const struct key_spec *spec,
		     char key[128], struct principal *ret)
{
	struct answer a = { .called = false };
	const char *at;

	assert_int_equal(
		core_admin_key_create(fx->core, spec, on_json, &a, &a.err), 0);
	RUN_UNTIL(fx, a.called);
	at = strstr(a.text, "\"key\":\"");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "\"key\":\"%127[^\"]", key), 1);
	assert_int_equal(core_authenticate(fx->core, key, strlen(key), ret,
					   &a.err),
			 0);
}

int tenant_create(struct fixture *fx, const struct principal *who,
		  struct answer *ret)
{
	const struct container_spec spec = { .name = "x" };
	int r;

	*ret = (struct answer){ .called = false };
	r = core_container_create(fx->core, who, &spec, on_container, ret,
				  &ret->err);
	if (r < 0)
		return r;
	RUN_UNTIL(fx, ret->called);
	assert_false(ret->failed);
	return 0;
}
