#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/help.h"

enum { OPTIONS_MAX = 24 };

/* The shared options, pointed at one run's fields. */
struct shared {
	struct args_option options[6];
	bool help;
};

static void shared_init(struct shared *s, struct cli *cli)
{
	const struct args_option table[] = {
		{ "socket", 0, "PATH", "Unix socket of the daemon",
		  .string = &cli->socket },
		{ "url", 0, "URL", "address to use instead of the socket",
		  .string = &cli->url },
		{ "tenant", 0, "NAME", "tenant to act for on the socket",
		  .string = &cli->tenant, .names = "tenants" },
		{ "json", 0, NULL, "print JSON, for programs",
		  .flag = &cli->json },
		{ "help", 'h', NULL, "explain the command", .flag = &s->help },
		{ .name = NULL },
	};

	s->help = false;
	memcpy(s->options, table, sizeof(table));
}

static void print_option(const struct args_option *o)
{
	char left[40], letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name,
		 o->value ? " " : "", o->value ? o->value : "");
	printf("  %-24s  %s\n", left, o->help);
}

void args_print_options(const struct args_option *options)
{
	struct cli nobody;
	struct shared shared;

	shared_init(&shared, &nobody);
	if (!options)
		options = shared.options;
	for (; options->name; options++)
		print_option(options);
}

static void print_help(const struct cli *cli, const struct args_option *options)
{
	const struct cli_command *command = cli_command_find(cli->command);

	printf("Usage: cupolactl %s%s%s\n\n%s.\n", command->name,
	       command->synopsis[0] ? " " : "", command->synopsis,
	       command->summary);
	if (options && options->name) {
		printf("\nOptions:\n");
		args_print_options(options);
	}
	printf("\nOptions of every command:\n");
	args_print_options(NULL);
	help_print_more(command->name);
}

static int parse_seconds(struct cli *cli, const struct args_option *o,
			 const char *text)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(value) || value <= 0)
		return cli_fail(cli, CLI_USAGE,
				"--%s takes a positive number, not '%s'",
				o->name, text);
	*o->seconds = value;
	return 0;
}

static int parse_number(struct cli *cli, const struct args_option *o,
			const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value <= 0)
		return cli_fail(cli, CLI_USAGE,
				"--%s takes a positive whole number, not '%s'",
				o->name, text);
	*o->number = value;
	return 0;
}

/* Whether the first @length bytes of a list are all of @word. */
static bool is_word(const char *list, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(list, word, length) == 0;
}

static int check_word(struct cli *cli, const struct args_option *o,
		      const char *value)
{
	const char *word, *between = "";
	char all[256] = "";
	size_t length, used = 0;

	for (word = o->words; *word; word += length + (word[length] == ' ')) {
		length = strcspn(word, " ");
		if (is_word(word, length, value))
			return 0;
		if (used > 0)
			between = word[length] ? ", " : " or ";
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used,
						 "%s'%.*s'", between,
						 (int)length, word);
	}
	return cli_fail(cli, CLI_USAGE, "--%s takes %s, not '%s'", o->name, all,
			value);
}

static int option_take(struct cli *cli, const struct args_option *o,
		       const char *value)
{
	int r = o->words ? check_word(cli, o, value) : 0;

	if (r < 0)
		return r;
	if (o->flag) {
		*o->flag = true;
	} else if (o->string) {
		*o->string = value;
	} else if (o->seconds) {
		return parse_seconds(cli, o, value);
	} else if (o->number) {
		return parse_number(cli, o, value);
	} else if (o->list->count == ARGS_LIST_MAX) {
		return cli_fail(cli, CLI_USAGE,
				"--%s can be given %d times at most", o->name,
				ARGS_LIST_MAX);
	} else {
		o->list->items[o->list->count++] = value;
	}
	return 0;
}

/* Both spellings of a table's options, as getopt_long() wants them. */
struct spelling {
	struct option longs[OPTIONS_MAX + 1];
	const struct args_option *which[OPTIONS_MAX];
	char shorts[2 * OPTIONS_MAX + 4];
	size_t count;
};

static void spelling_add(struct spelling *s, const struct args_option *options)
{
	char letter[3];

	for (; options && options->name && s->count < OPTIONS_MAX; options++) {
		struct option *o = &s->longs[s->count];

		o->name = options->name;
		o->has_arg = options->value ? required_argument : no_argument;
		o->val = 256 + (int)s->count;
		s->which[s->count++] = options;
		if (!options->letter)
			continue;
		letter[0] = options->letter;
		letter[1] = options->value ? ':' : '\0';
		letter[2] = '\0';
		strcat(s->shorts, letter);
	}
}

static const struct args_option *spelling_find(const struct spelling *s, int c)
{
	size_t i;

	if (c >= 256)
		return s->which[c - 256];
	for (i = 0; i < s->count; i++)
		if (s->which[i]->letter == c)
			return s->which[i];
	return NULL;
}

static int bad_option(struct cli *cli, int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return cli_fail(cli, CLI_USAGE, "Option '%s' needs a value",
				word);
	return cli_fail(cli, CLI_USAGE,
			"Option '%s' is not known here; see cupolactl help%s%s",
			word, cli->command ? " " : "",
			cli->command ? cli->command : "");
}

static int parse_all(struct cli *cli, int argc, char **argv,
		     const struct spelling *s)
{
	int c, r;

	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, s->shorts, s->longs, NULL)) != -1) {
		const struct args_option *o =
			c == '?' || c == ':' ? NULL : spelling_find(s, c);

		if (!o)
			return bad_option(cli, c, argv);
		r = option_take(cli, o, optarg);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_count(struct cli *cli, int count, int min, int max)
{
	const struct cli_command *command = cli_command_find(cli->command);

	if (count >= min && count <= max)
		return 0;
	return cli_fail(cli, CLI_USAGE, "%s; usage: cupolactl %s%s%s",
			count < min ? "An argument is missing" :
				      "There are too many arguments",
			command->name, command->synopsis[0] ? " " : "",
			command->synopsis);
}

int args_parse(struct cli *cli, int argc, char **argv,
	       const struct args_option *options, int min, int max,
	       struct args *ret_args)
{
	struct spelling spelling = { .shorts = ":" };
	struct shared shared;
	int r;

	shared_init(&shared, cli);
	if (cli->told) {
		cli->told(options, shared.options, cli->told_userdata);
		ret_args->help = true;
		return 0;
	}
	spelling_add(&spelling, options);
	spelling_add(&spelling, shared.options);
	r = parse_all(cli, argc, argv, &spelling);
	if (r < 0)
		return r;
	if (shared.help)
		print_help(cli, options);
	else
		r = check_count(cli, argc - optind, min, max);
	if (r < 0)
		return r;
	ret_args->count = argc - optind;
	ret_args->items = argv + optind;
	ret_args->help = shared.help;
	return 0;
}

int args_parse_shared(struct cli *cli, int argc, char **argv, int *ret_used,
		      bool *ret_help)
{
	struct spelling spelling = { .shorts = "+:" }; /* + ends at a word */
	struct shared shared;
	int r;

	shared_init(&shared, cli);
	spelling_add(&spelling, shared.options);
	r = parse_all(cli, argc, argv, &spelling);
	if (r < 0)
		return r;
	*ret_used = optind;
	*ret_help = shared.help;
	return 0;
}
