#ifndef CUPOLA_DAEMON_ANNOUNCE_H
#define CUPOLA_DAEMON_ANNOUNCE_H

/*
 * What development mode leaves in its directory for others to find:
 *
 *	DIR/api-key	a key of tenant "default", made once and kept, mode 0600
 *	DIR/url		where the API listens, there as long as the daemon is
 *
 * The key is there before the address is.
 */

#include "base/error.h"

struct daemon;

/**
 * announce_begin() - Write both
 * @done:	Called once; @err is NULL if it went well. Maybe from within the
 *		call
 *
 * Outside of development mode there is nothing to write.
 */
int announce_begin(struct daemon *d,
		   void (*done)(struct daemon *d, const struct error *err),
		   struct error *err);

/** announce_withdraw() - Remove the address */
void announce_withdraw(struct daemon *d);

#endif
