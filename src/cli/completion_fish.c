#include <stdio.h>

#include "cli/completion.h"

#define COMPLETE "complete -c cupolactl"

static void print_options(const char *command, const struct args_option *o)
{
	for (; o && o->name; o++) {
		printf(COMPLETE);
		if (command)
			printf(" -n '__fish_seen_subcommand_from %s'", command);
		printf(" -l %s", o->name);
		if (o->letter)
			printf(" -s %c", o->letter);
		if (o->value)
			printf("%s", completion_takes_file(o) ? " -rF" : " -x");
		if (o->words)
			printf(" -a '%s'", o->words);
		else if (o->names)
			printf(" -a '(__cupolactl_names \"%s\")'", o->names);
		printf(" -d '");
		completion_quoted(o->help);
		(void)puts("'");
	}
}

/* Behind a word if the command has any; in the order of the daemon. */
static void print_names(const struct cli_command *command)
{
	printf(COMPLETE " -n '__fish_seen_subcommand_from %s", command->name);
	if (command->words[0])
		printf("; and __fish_seen_subcommand_from %s", command->words);
	printf("' -k -a '(__cupolactl_names \"%s\")'\n", command->names);
}

static void fish_begin(const struct args_option *shared)
{
	const struct cli_command *c;

	(void)puts("# fish completion of cupolactl, written by it\n"
		   "function __cupolactl_names\n"
		   "\tset -l typed (commandline -opc)\n"
		   "\t$typed[1] completion names $argv[1] -- $typed[2..-1] "
		   "2>/dev/null\nend\n" COMPLETE
		   " -n __fish_use_subcommand -f -l version "
		   "-d 'print the version'");
	for (c = cli_commands(); c->name; c++) {
		printf(COMPLETE " -n __fish_use_subcommand -f -a %s -d '",
		       c->name);
		completion_quoted(c->summary);
		(void)puts("'");
	}
	print_options(NULL, shared);
}

static void fish_command(const struct cli_command *command,
			 const struct args_option *options)
{
	print_options(command->name, options);
	if (command->words[0])
		printf(COMPLETE " -n '__fish_seen_subcommand_from %s; and not "
				"__fish_seen_subcommand_from %s' -f -a '%s'\n",
		       command->name, command->words, command->words);
	if (command->names)
		print_names(command);
}

static void fish_end(const struct args_option *shared)
{
	(void)shared;
}

const struct completion_shell completion_fish = {
	"fish",
	fish_begin,
	fish_command,
	fish_end,
};
