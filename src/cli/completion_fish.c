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
		printf(" -d '");
		completion_quoted(o->help);
		(void)puts("'");
	}
}

static void fish_begin(const struct args_option *shared)
{
	const struct cli_command *c;

	(void)puts("# fish completion of cupolactl, written by it\n" COMPLETE
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
