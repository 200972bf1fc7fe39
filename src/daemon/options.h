#ifndef CUPOLA_DAEMON_OPTIONS_H
#define CUPOLA_DAEMON_OPTIONS_H

/* The command line of cupolad. */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/option_table.h"

/* cupola-vmd gets them all, and its own list must hold what else it is told. */
enum { OPTIONS_SET_MAX = 120 };

/**
 * struct options - What was asked for; strings point into argv
 * @dev:	Development mode: directory that holds all state, or NULL
 * @config:	Settings file, or NULL for the default one if it exists
 * @set:	Assignments "section.key=value", in order
 * @check_config: Only say whether the settings are good
 * @restore:	Only put the backup in this directory in place, or NULL
 * @replace:	It may discard the state that is there
 * @help:	Only print the help text
 * @version:	Only print the version
 */
struct options {
	const char *dev;
	const char *config;
	struct option_list set;
	bool check_config;
	const char *restore;
	bool replace;
	bool help;
	bool version;
};

/**
 * options_parse() - Read the command line
 *
 * Return: 0 or a negative errno with @err
 */
int options_parse(int argc, char **argv, struct options *ret_options,
		  struct error *err);

/** options_print_help() - What --help prints */
void options_print_help(void);

#endif
