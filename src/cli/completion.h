#ifndef CUPOLA_CLI_COMPLETION_H
#define CUPOLA_CLI_COMPLETION_H

/*
 * What the three shells' completions are written from: the table of commands
 * and each command's own table of options, the same that parse a command line
 * and print its help. So none of them can name what is not there. Ids and names
 * they ask for when a person types, by "completion names KINDS -- WORDS".
 */

#include "cli/args.h"
#include "cli/cli.h"

/**
 * struct completion_shell - How one shell is told
 * @name:	What is typed behind "completion"
 * @begin:	Before all commands; @shared are the options of every command
 * @command:	Each command, with its own options
 * @end:	Behind all commands
 */
struct completion_shell {
	const char *name;
	void (*begin)(const struct args_option *shared);
	void (*command)(const struct cli_command *command,
			const struct args_option *options);
	void (*end)(const struct args_option *shared);
};

extern const struct completion_shell completion_bash;
extern const struct completion_shell completion_zsh;
extern const struct completion_shell completion_fish;

/**
 * completion_print_names() - What there is to name, a line each
 * @what:	As struct cli_command's @names
 * @words:	All that was typed, where --socket may be among
 *
 * Return: 0; a daemon that does not answer has no names
 */
int completion_print_names(struct cli *cli, const char *what, int count,
			   char **words);

/** completion_quoted() - Print a text as it stands between single quotes */
void completion_quoted(const char *text);

/** completion_takes_file() - Whether an option's value names a file here */
bool completion_takes_file(const struct args_option *option);

#endif
