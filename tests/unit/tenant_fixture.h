/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_TESTS_TENANT_FIXTURE_H
#define CUPOLA_TESTS_TENANT_FIXTURE_H

/* Tenants and keys in a whole core; each call waits for its answer. */

#include "core_fixture.h"

void tenant_set(struct fixture *fx, const char *id, bool create,
		struct tenant_limits limits, struct answer *ret);

struct principal tenant_act_for(struct fixture *fx, const char *tenant);

void tenant_make_key(struct fixture *fx, const struct key_spec *spec,
		     char key[128], struct principal *ret);

int tenant_create(struct fixture *fx, const struct principal *who,
		  struct answer *ret);

#endif
