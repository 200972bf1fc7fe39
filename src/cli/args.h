#ifndef CUPOLA_CLI_ARGS_H
#define CUPOLA_CLI_ARGS_H

/*
 * Options of a subcommand: one table says how they are spelled, what the help
 * prints and where the value goes.
 *
 * The options that all commands share (--socket, --url, --tenant, --json,
 * --help) are understood before and after the command's name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;

enum { ARGS_LIST_MAX = 64 };

/** struct args_list - Values of an option that may be repeated */
struct args_list {
	const char *items[ARGS_LIST_MAX];
	size_t count;
};

/**
 * struct args_option - One option
 * @name:	Long name, without dashes; NULL ends a table
 * @letter:	Short name, or 0
 * @value:	What the help calls its value; NULL for a switch
 * @help:	Half a line about it
 * @flag:	Set to true by a switch
 * @string:	Set to the value; the last one given counts
 * @list:	Gets each value
 * @seconds:	Set to the value as a positive number
 * @number:	Set to the value as a positive whole number
 * @words:	What the value may be, separated by blanks, where it is one of few
 * @names:	What the value names, for a shell that completes it: kinds of
 *		completion_names.c, separated by blanks
 *
 * Exactly one of @flag to @number is not NULL.
 */
struct args_option {
	const char *name;
	char letter;
	const char *value;
	const char *help;
	bool *flag;
	const char **string;
	struct args_list *list;
	double *seconds;
	int64_t *number;
	const char *words;
	const char *names;
};

/**
 * struct args - A command line after parsing
 * @count:	Arguments that are no options
 * @items:	They
 * @help:	--help was given, or only the options were asked for: that is
 *		answered, and there is nothing to do
 */
struct args {
	int count;
	char **items;
	bool help;
};

/**
 * args_parse() - Sort a command's arguments
 * @cli:	Takes the shared options; its command names the usage
 * @options:	The command's own table, or NULL
 * @min:	Fewest arguments that are no options
 * @max:	Most
 * @ret_args:	The result, pointing into @argv
 *
 * Return: 0, or minus CLI_USAGE
 */
int args_parse(struct cli *cli, int argc, char **argv,
	       const struct args_option *options, int min, int max,
	       struct args *ret_args);

/**
 * args_parse_shared() - The shared options in front of the command's name
 * @ret_used:	How many of @argv were options, argv[0] included
 * @ret_help:	--help was among them
 *
 * Return: 0, or minus CLI_USAGE
 */
int args_parse_shared(struct cli *cli, int argc, char **argv, int *ret_used,
		      bool *ret_help);

/** args_print_options() - The lines of a help text; NULL: the shared ones */
void args_print_options(const struct args_option *options);

#endif
