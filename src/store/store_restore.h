/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_RESTORE_H
#define CUPOLA_STORE_STORE_RESTORE_H

/*
 * Putting a backup in the place of a store that nobody has open.
 *
 * The rename of the database is the moment in which it happens. What comes
 * before leaves the old store as it was: contents are added under their digests,
 * where they harm nobody and are removed at the next start if no row names them,
 * and the database is looked through under another name. What is there of an
 * older database is gone afterwards.
 *
 * All of it blocks: it is for a process that does nothing else.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/error.h"

/**
 * struct store_restore_spec - What comes from where
 * @event:	A loop, which need not run
 * @path:	Of the database, as in struct store_config
 * @blobs:	Directory of its blobs, as in struct blobs_config
 * @free_floor_bytes: As there
 * @from_database: The copy, read from 0 on
 * @from_blobs:	Directory of the contents, or -1 if the backup has none
 * @replace:	Whether a database may be there already
 */
struct store_restore_spec {
	sd_event *event;
	const char *path;
	const char *blobs;
	uint64_t free_floor_bytes;
	int from_database;
	int from_blobs;
	bool replace;
};

/**
 * struct store_restored - What was done
 * @version:	Of the database; an older one is brought up to date by the next
 *		store_open()
 * @copied:	Contents that were copied
 * @present:	Contents that were there
 * @missing:	Contents that the backup names and does not have: what was
 *		deleted between the copy of the database and theirs
 */
struct store_restored {
	int version;
	uint64_t copied;
	uint64_t present;
	uint64_t missing;
};

/**
 * store_restore() - Check a backup and put it in place
 *
 * Return: 0; -EEXIST (ERR_CONFLICT) if a database is there and may not be
 * replaced; -EBADMSG or -EINVAL for a backup that is damaged, foreign or of a
 * newer version; or another negative errno
 */
int store_restore(const struct store_restore_spec *spec,
		  struct store_restored *ret_restored, struct error *err);

#endif
