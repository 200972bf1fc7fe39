#ifndef CUPOLA_DAEMON_USER_H
#define CUPOLA_DAEMON_USER_H

/* Becoming another user for good, which only root can. */

#include <pwd.h>

/**
 * user_become() - Take a user's identity, with its groups and kvm
 *
 * The way back is closed. Return: 0 or a negative errno
 */
int user_become(const struct passwd *user);

#endif
