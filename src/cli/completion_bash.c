#include <stdio.h>

#include "cli/completion.h"

/*
 * Words and names first; where none of them fits, readline completes names of
 * files. That is also what happens behind an option that takes a value of no
 * other kind. Options come where a dash was typed: among them one could not see
 * the words, and the only name there is would not be completed.
 *
 * Names are compared here and not by compgen, which would expand them, and so
 * carry out what somebody called a thing.
 */

static void print_words(const struct args_option *o)
{
	for (; o && o->name; o++) {
		printf(" --%s", o->name);
		if (o->letter)
			printf(" -%c", o->letter);
	}
}

static void print_skipped(const struct args_option *o)
{
	for (; o->name; o++)
		if (o->value)
			printf("\t\t--%s) ((i++)) ;;\n", o->name);
}

/* What is offered behind an option that takes a value. */
static void print_values(const struct args_option *o)
{
	for (; o && o->name; o++) {
		if (!o->value)
			continue;
		printf("\t\t--%s", o->name);
		if (o->letter)
			printf("|-%c", o->letter);
		if (o->words)
			printf(") _cupolactl_words '%s'; return ;;\n", o->words);
		else if (o->names)
			printf(") _cupolactl_names '%s'; return ;;\n", o->names);
		else
			(void)puts(") return ;;");
	}
}

static void bash_begin(const struct args_option *shared)
{
	const struct cli_command *c;

	(void)puts("# bash completion of cupolactl, written by it\n"
		   "_cupolactl_words()\n{\n"
		   "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
		   "}\n\n"
		   "_cupolactl_names()\n{\n"
		   "\tlocal name about\n"
		   "\twhile IFS=$'\\t' read -r name about; do\n"
		   "\t\t[[ $name == \"$cur\"* ]] || continue\n"
		   "\t\tprintf -v name %q \"$name\"\n"
		   "\t\tCOMPREPLY+=(\"$name\")\n"
		   "\tdone < <(\"${COMP_WORDS[0]}\" completion names \"$1\" -- "
		   "\"${COMP_WORDS[@]:1}\" 2>/dev/null)\n}\n\n"
		   "_cupolactl()\n{\n"
		   "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words= options=\n"
		   "\tlocal command= names= i\n"
		   "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]} place=1\n"
		   "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		   "\t\tcase ${COMP_WORDS[i]} in");
	print_skipped(shared);
	(void)puts("\t\t-*) ;;\n"
		   "\t\t*) command=${COMP_WORDS[i]} place=$((i + 1)); break ;;\n"
		   "\t\tesac\n\tdone\n\tcase $prev in");
	print_values(shared);
	printf("\tesac\n\tcase $command in\n\t'')\n"
	       "\t\toptions=' --version'\n\t\twords='");
	for (c = cli_commands(); c->name; c++)
		printf("%s ", c->name);
	(void)puts("' ;;");
}

static void bash_command(const struct cli_command *command,
			 const struct args_option *options)
{
	printf("\t%s)\n\t\tcase $prev in\n", command->name);
	print_values(options);
	printf("\t\tesac\n\t\toptions='");
	print_words(options);
	(void)puts("'");
	if (command->words[0])
		printf("\t\t((COMP_CWORD == place)) && words='%s'\n",
		       command->words);
	if (command->names)
		printf("\t\t((COMP_CWORD %s place)) && names='%s'\n",
		       command->words[0] ? ">" : ">=", command->names);
	(void)puts("\t\t;;");
}

static void bash_end(const struct args_option *shared)
{
	printf("\tesac\n\toptions+='");
	print_words(shared);
	(void)puts("'\n\t[[ $cur == -* ]] && words=$options\n"
		   "\t_cupolactl_words \"$words\"\n"
		   "\t[[ $names && $cur != -* ]] && _cupolactl_names \"$names\"\n"
		   "\treturn 0\n}\n"
		   "complete -o default -F _cupolactl cupolactl");
}

const struct completion_shell completion_bash = {
	"bash",
	bash_begin,
	bash_command,
	bash_end,
};
