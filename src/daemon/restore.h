#ifndef CUPOLA_DAEMON_RESTORE_H
#define CUPOLA_DAEMON_RESTORE_H

/*
 * --restore: the daemon puts a backup into its directory, and serves nothing.
 *
 * A backup is a directory with db.sqlite, which "cupolactl backup" wrote, and
 * blobs/, a copy of the daemon's.
 */

#include "base/error.h"

struct daemon;

/**
 * restore_run() - Check the backup and put it in place
 *
 * Started by root, it opens the backup as root and then becomes the user that
 * the directory of state belongs to. It holds the directory's lock meanwhile.
 *
 * Return: 0 or a negative errno with @err
 */
int restore_run(struct daemon *d, struct error *err);

#endif
