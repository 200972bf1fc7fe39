#ifndef CUPOLA_DAEMON_DEV_H
#define CUPOLA_DAEMON_DEV_H

/*
 * Development mode's directory and user.
 *
 * All state lives below one directory. Started by root, the daemon becomes the
 * system user "cupola", since libvirt, which reads what a hijacked QEMU says,
 * must never run as root; the directory then becomes that user's.
 */

#include "base/error.h"

#define DEV_USER "cupola"

/**
 * dev_directory() - Make the directory if need be, and hand it over
 * @dir:	As it was typed
 * @ret_path:	Its absolute path: a new string
 *
 * As root, only an empty directory, one that root filled with files alone, or
 * one that is the user's already is handed over: nobody wants /etc to change
 * its owner because of a slip.
 *
 * Return: 0 or a negative errno with @err
 */
int dev_directory(const char *dir, char **ret_path, struct error *err);

/**
 * dev_become_user() - As root, become the user that may run VMs
 * @dir:	Absolute path of the directory, HOME from now on
 *
 * Nothing happens when the daemon was not started by root, but for HOME.
 *
 * Return: 0 or a negative errno with @err, which says so, too, if the user
 * cannot reach the directory
 */
int dev_become_user(const char *dir, struct error *err);

#endif
