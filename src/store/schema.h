/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_SCHEMA_H
#define CUPOLA_STORE_SCHEMA_H

/*
 * The tables, and how older databases come to have them.
 *
 * The version is kept in SQLite's user_version. Each step leads from one
 * version to the next and is carried out in a transaction of its own, so that
 * a crash leaves a whole version. A step that was released is never edited.
 */

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"

/* "CUPO": tells our files from other SQLite databases. */
#define SCHEMA_APPLICATION_ID 0x4355504f

/* The first of them; in a file of its own. */
extern const char schema_version_1[];

/* schema_steps[n] leads from version n to n + 1. */
extern const char *const schema_steps[];
extern const size_t schema_step_count;

/* Steps that have a file of their own. */
extern const char schema_talk[];

/**
 * schema_check() - Whether a database is empty or ours, and not too new
 * @count:	Newest version that is known
 *
 * Return: its version; -EINVAL for a foreign file or a newer version
 */
int schema_check(sqlite3 *db, size_t count, struct error *err);

/**
 * schema_apply() - Bring a database to the version that the steps lead to
 * @db:		Open for writing; empty or ours
 *
 * Return: 0; -EINVAL for a foreign file or a newer version, untouched
 */
int schema_apply(sqlite3 *db, const char *const *steps, size_t count,
		 struct error *err);

#endif
