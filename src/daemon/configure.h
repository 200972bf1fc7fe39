#ifndef CUPOLA_DAEMON_CONFIGURE_H
#define CUPOLA_DAEMON_CONFIGURE_H

/* The first stages of the start, before the loop exists. */

#include "base/error.h"

struct daemon;

/** configure_settings() - Defaults, file, command line; sets the log level */
int configure_settings(struct daemon *d, struct error *err);

/**
 * configure_check() - Whether the files that the settings name can be used
 *
 * Root becomes the daemon's user for good, who is to read them.
 */
int configure_check(struct daemon *d, struct error *err);

/** configure_reload() - Read them anew and take over the log level, no more */
int configure_reload(const struct daemon *d, struct error *err);

/** configure_directory() - Find, make and hand over the directory of state */
int configure_directory(struct daemon *d, struct error *err);

/** configure_user() - Open what only the first user can, then be the last */
int configure_user(struct daemon *d, struct error *err);

/** configure_lock() - Be the only daemon of the directory */
int configure_lock(struct daemon *d, struct error *err);

#endif
