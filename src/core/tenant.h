/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TENANT_H
#define CORE_TENANT_H

/*
 * Tenants and their keys, as far as they are used: who may have how much of the
 * service at a time.
 *
 * All tenants are in memory from the start on; a key comes in when it is first
 * used. What the settings say holds for each tenant that has no limit of its
 * own. A tenant that was deleted is closed: nobody can act for it any more, its
 * sessions end, the store's sweep erases what it has, and the object goes when
 * its row has gone.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "core/core.h"
#include "core/map.h"
#include "store/rows.h"

struct store_batch;

/* Tenants that there may be; each takes some hundred bytes. */
#define TENANTS_MAX 10000

/**
 * struct bucket - Requests that may still be made
 *
 * It fills at the rate of the limit and holds what comes in BUCKET_USEC, so
 * that a client which was quiet may make some at once.
 */
struct bucket {
	double tokens;
	usec_t at; /* boot; 0: full */
};

#define BUCKET_USEC (10 * USEC_PER_SEC)

/**
 * struct meter - VM time of today of a tenant's live sessions; budget.c
 * @day:	Since 1970
 * @sessions:	That have a VM
 * @begun:	When in the day they began to count, all together
 *
 * Each has used what the day is old less its begin, so all of them have used
 * @sessions times the one, less @begun: whatever their number.
 */
struct meter {
	uint64_t day;
	uint64_t sessions;
	usec_t begun;
};

/** struct tenant - What a tenant may have, and holds at the moment */
struct tenant {
	struct map_node node;
	char id[CORE_TENANT_MAX + 1];
	usec_t created_usec; /* wall */
	usec_t closed_usec;  /* wall; 0: in business */
	struct tenant_limits own;
	uint64_t sessions;
	uint64_t executions;
	uint64_t requests;
	struct bucket bucket;
	struct meter meter;
};

/**
 * struct key - A key in use
 * @by_digest:	While @row is what the store has
 */
struct key {
	struct map_node node;
	struct map_node by_digest;
	char digest[2 * HASH_SIZE + 1];
	struct store_key row;
	struct tenant *tenant;
	uint64_t requests;
	struct bucket bucket;
	usec_t used_usec; /* last noted in the store; wall */
};

/** tenant_find() - One that is in business, or NULL */
struct tenant *tenant_find(struct core *core, const char *id);

/** tenant_get() - One that has rows, closed or not; NULL: no memory */
struct tenant *tenant_get(struct core *core, const char *id);

/**
 * tenant_make() - Have a tenant, and its row in a batch if it is new
 *
 * Return: 1 if it is new, 0 if not; ERR_CONFLICT for one that is being erased
 */
int tenant_make(struct core *core, const char *id, struct store_batch *batch,
		struct tenant **ret, struct error *err);

/** tenant_unmake() - Its row could not be written: it never was; NULL is fine */
void tenant_unmake(struct core *core, struct tenant *tenant);

/** tenant_check_id() - Whether a name can be a tenant's; @param: who gave it */
int tenant_check_id(const char *id, const char *param, struct error *err);

/** tenant_put_row() - Write its row as it is now */
void tenant_put_row(const struct tenant *tenant, struct store_batch *batch);

/** tenant_limits_of() - What holds for it: its own limits or the settings' */
struct tenant_limits tenant_limits_of(const struct core *core,
				      const struct tenant *tenant);

/** tenant_restore() - Take one up from its row, at the start */
int tenant_restore(struct core *core, const struct store_tenant *row);

/** tenant_gc() - Forget closed tenants of which the store has nothing left */
void tenant_gc(struct core *core);

void tenants_done(struct core *core);

/** key_use() - The key of a row, noted as used; NULL: no memory */
struct key *key_use(struct core *core, const struct store_key *row,
		    struct tenant *tenant);

/**
 * key_find() - The row of the key with this SHA-256, in memory or in the store
 *
 * Every commit makes SQLite drop what it has cached for the next reader, so a
 * key that is in use is not read again until key_changed().
 */
int key_find(struct core *core, const uint8_t hash[HASH_SIZE],
	     struct store_key *ret);

/** key_changed() - The store has another row of this key now */
void key_changed(struct core *core, const char *id);

/*
 * Rooms of a tenant: taken in the step in which it is decided, given back
 * exactly when it is over. Refusals are ERR_LIMIT with the numbers.
 */
int tenant_take_session(struct core *core, struct tenant *tenant,
			struct error *err);
void tenant_give_session(struct core *core, struct tenant *tenant);

/** tenant_check_execution() - Whether it may have one more */
int tenant_check_execution(const struct core *core, const struct tenant *tenant,
			   struct error *err);

#endif
