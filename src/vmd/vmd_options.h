#ifndef VMD_OPTIONS_H
#define VMD_OPTIONS_H

/* The command line of cupola-vmd. */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/option_table.h"
#include "base/settings.h"

/**
 * struct vmd_options - What was asked for; strings point into argv
 * @state:	State directory
 * @config:	Settings file, or NULL for none
 * @socket_fd:	Connected socket of cupolad, or -1: listen on systemd's
 * @client:	User that may connect to systemd's socket
 * @set:	Assignments "section.key=value", in order
 * @help:	Only print the help text
 * @version:	Only print the version
 */
struct vmd_options {
	const char *state;
	const char *config;
	int socket_fd;
	const char *client;
	struct option_list set;
	bool help;
	bool version;
};

/** vmd_options_parse() - Read the command line; Return: 0 or negative errno */
int vmd_options_parse(int argc, char **argv, struct vmd_options *ret_options,
		      struct error *err);

/** vmd_options_print_help() - What --help prints */
void vmd_options_print_help(void);

/**
 * vmd_options_settings() - The settings as file and command line have them
 *
 * Read anew at each call. Return: 0 or negative errno
 */
int vmd_options_settings(const struct vmd_options *options,
			 struct settings **ret_settings, struct error *err);

#endif
