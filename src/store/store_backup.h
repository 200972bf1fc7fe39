/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CUPOLA_STORE_STORE_BACKUP_H
#define CUPOLA_STORE_STORE_BACKUP_H

/*
 * A copy of the database while it is in use.
 *
 * It is made page by page on the db worker, with commits in between; what they
 * change is changed in the copy as well, so that it shows the moment of its
 * end. The contents of files are not in it: blobs never change once they are
 * named, so they are copied by whatever copies files, after the database.
 */

#include "store/store.h"

/** store_backup_fn - @fd is a file that has no name any more, read from 0 on */
typedef void store_backup_fn(void *userdata, int r, int fd);

/**
 * store_backup() - Copy the database
 * @done:	Called exactly once, later; it takes over @fd if r is 0
 *
 * Return: 0, or -EBUSY while another copy is made
 */
int store_backup(struct store *store, store_backup_fn *done, void *userdata);

#endif
