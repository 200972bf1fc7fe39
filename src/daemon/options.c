#include "daemon/options.h"

#define TO(field) .offset = offsetof(struct options, field)

static const struct option_row rows[] = {
	{ "dev", "DIR", "development mode, with all state below DIR",
	  OPTION_STRING, TO(dev), .min = 1 },
	{ "config", "FILE", "read settings from FILE", OPTION_STRING,
	  TO(config) },
	{ "set", "SECTION.KEY=VALUE", "override one setting; may be repeated",
	  OPTION_LIST, TO(set), .max = OPTIONS_SET_MAX },
	{ "check-config", NULL, "say whether the settings are good, and end",
	  OPTION_FLAG, TO(check_config) },
	{ "restore", "BACKUP", "put the backup in this directory in place, and "
	  "end", OPTION_STRING, TO(restore), .min = 1 },
	{ "replace", NULL, "with --restore: discard the state that is there",
	  OPTION_FLAG, TO(replace) },
	{ "help", NULL, "print this text", OPTION_FLAG, TO(help) },
	{ "version", NULL, "print the version", OPTION_FLAG, TO(version) },
};

static const struct option_table table = {
	.program = "cupolad",
	.summary = "Serve Cupola's API and run its microVMs",
	.manual = "cupolad(8) explains them, cupolad.conf(5) the settings",
	.rows = rows,
	.count = sizeof(rows) / sizeof(rows[0]),
};

int options_parse(int argc, char **argv, struct options *ret_options,
		  struct error *err)
{
	int r;

	*ret_options = (struct options){ .dev = NULL };
	r = option_table_parse(&table, argc, argv, ret_options, err);
	if (r >= 0 && ret_options->replace && !ret_options->restore)
		return error_set(err, ERR_BAD_REQUEST,
				 "--replace belongs to --restore");
	return r;
}

void options_print_help(void)
{
	option_table_print(&table);
}
