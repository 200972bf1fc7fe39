#ifndef CUPOLA_DAEMON_LIFECYCLE_H
#define CUPOLA_DAEMON_LIFECYCLE_H

/*
 * From the moment the loop runs: becoming ready, signals, the end.
 *
 *	SIGTERM, SIGINT	 end: refuse work, finish what runs, harvest, end all VMs,
 *			 leave nothing; a second one: without finishing
 *	SIGUSR2		 hand over: exit within 5 s and leave the VMs to the next
 *	SIGHUP		 read the files of certificate and keys and the log level again,
 *			 nothing else
 */

#include "base/error.h"

struct daemon;

/** lifecycle_prepare() - Watch signals; make the timer of the end */
int lifecycle_prepare(struct daemon *d, struct error *err);

/** lifecycle_begin() - Start core; READY follows when all is */
int lifecycle_begin(struct daemon *d, struct error *err);

/** lifecycle_fail() - The start cannot go on: end the loop with a failure */
void lifecycle_fail(struct daemon *d, const struct error *err);

#endif
