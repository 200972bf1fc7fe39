#include <getopt.h>
#include <stdio.h>

#include "daemon/options.h"

static int take_dev(struct options *o, const char *value, struct error *err)
{
	if (!value[0])
		return error_set(err, ERR_BAD_REQUEST,
				 "--dev needs a directory");
	o->dev = value;
	return 0;
}

static int take_config(struct options *o, const char *value, struct error *err)
{
	(void)err;
	o->config = value;
	return 0;
}

static int take_set(struct options *o, const char *value, struct error *err)
{
	if (o->set_count == OPTIONS_SET_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "--set can be given %d times at most",
				 OPTIONS_SET_MAX);
	o->set[o->set_count++] = value;
	return 0;
}

static int take_check(struct options *o, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	o->check_config = true;
	return 0;
}

static int take_help(struct options *o, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	o->help = true;
	return 0;
}

static int take_version(struct options *o, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	o->version = true;
	return 0;
}

static const struct {
	const char *name;
	const char *value; /* what the help calls it, or NULL */
	const char *help;
	int (*take)(struct options *o, const char *value, struct error *err);
} table[] = {
	{ "dev", "DIR", "development mode, with all state below DIR",
	  take_dev },
	{ "config", "FILE", "read settings from FILE", take_config },
	{ "set", "SECTION.KEY=VALUE", "override one setting; may be repeated",
	  take_set },
	{ "check-config", NULL, "say whether the settings are good, and end",
	  take_check },
	{ "help", NULL, "print this text", take_help },
	{ "version", NULL, "print the version", take_version },
};

enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };

static void fill_longs(struct option *longs)
{
	size_t i;

	for (i = 0; i < OPTION_COUNT; i++)
		longs[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].value ? required_argument :
						    no_argument,
			.val = 256 + (int)i,
		};
	longs[OPTION_COUNT] = (struct option){ .name = NULL };
}

int options_parse(int argc, char **argv, struct options *ret_options,
		  struct error *err)
{
	struct option longs[OPTION_COUNT + 1];
	int c, r;

	*ret_options = (struct options){ .dev = NULL };
	fill_longs(longs);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (c < 256)
			return error_set(err, ERR_BAD_REQUEST,
					 "Option '%s' %s; see cupolad --help",
					 argv[optind - 1],
					 c == ':' ? "needs a value" :
						    "is not known");
		r = table[c - 256].take(ret_options, optarg, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return error_set(err, ERR_BAD_REQUEST,
				 "Argument '%s' is not expected; see cupolad "
				 "--help",
				 argv[optind]);
	return 0;
}

void options_print_help(void)
{
	size_t i;

	printf("Usage: cupolad [OPTION]...\n\n"
	       "Serve Cupola's API and run its microVMs.\n\nOptions:\n");
	for (i = 0; i < OPTION_COUNT; i++) {
		char left[48];

		snprintf(left, sizeof(left), "--%s %s", table[i].name,
			 table[i].value ? table[i].value : "");
		printf("  %-25s %s\n", left, table[i].help);
	}
	printf("\ncupolad(8) explains them, cupolad.conf(5) the settings.\n");
}
