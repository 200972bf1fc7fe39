#include <stdio.h>

#include "cli/completion.h"

/* A text between brackets, or before a colon, inside single quotes. */
static void print_text(const char *text)
{
	char one[2] = "";

	for (; *text; text++) {
		if (*text == '[' || *text == ']' || *text == ':')
			(void)putchar('\\');
		one[0] = *text;
		completion_quoted(one);
	}
}

static void print_spelling(const struct args_option *o, const char *spelling)
{
	printf(" \\\n\t\t'*%s[", spelling);
	print_text(o->help);
	(void)putchar(']');
	if (o->value && o->words)
		printf(":%s:(%s)", o->value, o->words);
	else if (o->value && o->names)
		printf(":%s: _cupolactl_names \"%s\"", o->value, o->names);
	else if (o->value)
		printf(":%s:%s", o->value,
		       completion_takes_file(o) ? "_files" : "");
	(void)putchar('\'');
}

static void print_options(const struct args_option *o)
{
	char spelling[64];

	for (; o && o->name; o++) {
		(void)snprintf(spelling, sizeof(spelling), "--%s%s", o->name,
			       o->value ? "=" : "");
		print_spelling(o, spelling);
		if (!o->letter)
			continue;
		(void)snprintf(spelling, sizeof(spelling), "-%c%s", o->letter,
			       o->value ? "+" : "");
		print_spelling(o, spelling);
	}
}

static void zsh_begin(const struct args_option *shared)
{
	const struct cli_command *c;

	(void)puts("#compdef cupolactl\n# zsh completion, written by cupolactl\n"
		   "_cupolactl_names()\n{\n"
		   "\tlocal -a lines ids\n"
		   "\tlines=(\"${(@f)$(_call_program names $typed[1] completion "
		   "names ${(q)1} -- ${(q)typed[2,-1]} 2>/dev/null)}\")\n"
		   "\tids=(\"${(@)lines%%$'\\t'*}\")\n"
		   "\tlines=(\"${(@)lines//$'\\t'/  }\")\n"
		   "\t[[ -n $ids ]] && compadd -l -d lines -a ids || _files\n"
		   "}\n\n"
		   "_cupolactl_commands()\n{\n\tlocal -a commands=(");
	for (c = cli_commands(); c->name; c++) {
		printf("\t\t'%s:", c->name);
		print_text(c->summary);
		(void)puts("'");
	}
	printf("\t)\n\t_describe command commands\n}\n\n"
	       "_cupolactl()\n{\n\tlocal curcontext=$curcontext state line\n"
	       "\tlocal -a typed=(\"${(@)words}\")\n"
	       "\tlocal -a shared=(");
	print_options(shared);
	(void)puts(")\n\t_arguments -C $shared '--version[print the version]' "
		   "\\\n\t\t'1:command:_cupolactl_commands' '*::argument:->rest'"
		   "\n\t[[ $state == rest ]] || return\n\tcase $words[1] in");
}

static void zsh_command(const struct cli_command *command,
			const struct args_option *options)
{
	printf("\t%s)\n\t\t_arguments $shared", command->name);
	print_options(options);
	if (command->words[0])
		printf(" \\\n\t\t'1:what:(%s)'", command->words);
	if (command->names)
		printf(" \\\n\t\t'*:argument: _cupolactl_names \"%s\"' ;;\n",
		       command->names);
	else
		(void)puts(" \\\n\t\t'*:argument:_files' ;;");
}

static void zsh_end(const struct args_option *shared)
{
	(void)shared;
	(void)puts("\tesac\n}\n\n_cupolactl \"$@\"");
}

const struct completion_shell completion_zsh = {
	"zsh",
	zsh_begin,
	zsh_command,
	zsh_end,
};
