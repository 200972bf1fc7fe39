#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "vmd/vmd_options.h"

static int take_state(struct vmd_options *o, const char *value,
		      struct error *err)
{
	(void)err;
	o->state = value;
	return 0;
}

static int take_config(struct vmd_options *o, const char *value,
		       struct error *err)
{
	(void)err;
	o->config = value;
	return 0;
}

static int take_set(struct vmd_options *o, const char *value,
		    struct error *err)
{
	if (o->set_count == VMD_OPTIONS_SET_MAX)
		return error_set(err, ERR_BAD_REQUEST,
				 "--set can be given %d times at most",
				 VMD_OPTIONS_SET_MAX);
	o->set[o->set_count++] = value;
	return 0;
}

static int take_socket(struct vmd_options *o, const char *value,
		       struct error *err)
{
	char *end;
	long fd = strtol(value, &end, 10);

	if (*value == '\0' || *end != '\0' || fd < 3 || fd > 1023)
		return error_set(err, ERR_BAD_REQUEST,
				 "--socket-fd needs a number from 3 to 1023");
	o->socket_fd = (int)fd;
	return 0;
}

static int take_client(struct vmd_options *o, const char *value,
		       struct error *err)
{
	(void)err;
	o->client = value;
	return 0;
}

static int take_help(struct vmd_options *o, const char *value,
		     struct error *err)
{
	(void)value;
	(void)err;
	o->help = true;
	return 0;
}

static int take_version(struct vmd_options *o, const char *value,
			struct error *err)
{
	(void)value;
	(void)err;
	o->version = true;
	return 0;
}

static const struct {
	const char *name;
	const char *value;	/* what the help calls it, or NULL */
	const char *help;
	int (*take)(struct vmd_options *o, const char *value,
		    struct error *err);
} table[] = {
	{ "state", "DIR", "keep VMs, templates and libvirt's files below DIR",
	  take_state },
	{ "config", "FILE", "read settings from FILE", take_config },
	{ "set", "SECTION.KEY=VALUE", "override one setting; may be repeated",
	  take_set },
	{ "socket-fd", "N", "serve the socket that is descriptor N, and end "
			    "with it", take_socket },
	{ "client", "USER", "who may connect to systemd's socket (cupola)",
	  take_client },
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

int vmd_options_parse(int argc, char **argv, struct vmd_options *ret_options,
		      struct error *err)
{
	struct option longs[OPTION_COUNT + 1];
	int c, r;

	*ret_options = (struct vmd_options){
		.state = "/var/lib/cupola",
		.socket_fd = -1,
		.client = "cupola",
	};
	fill_longs(longs);
	optind = 0;		/* glibc: begin anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (c < 256)
			return error_set(err, ERR_BAD_REQUEST,
					 "Option '%s' %s; see cupola-vmd "
					 "--help", argv[optind - 1],
					 c == ':' ? "needs a value" :
						    "is not known");
		r = table[c - 256].take(ret_options, optarg, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return error_set(err, ERR_BAD_REQUEST,
				 "Argument '%s' is not expected; see "
				 "cupola-vmd --help", argv[optind]);
	return 0;
}

void vmd_options_print_help(void)
{
	size_t i;

	printf("Usage: cupola-vmd [OPTION]...\n\n"
	       "Run microVMs for cupolad.\n\nOptions:\n");
	for (i = 0; i < OPTION_COUNT; i++) {
		char left[48];

		(void)snprintf(left, sizeof(left), "--%s %s", table[i].name,
			       table[i].value ? table[i].value : "");
		printf("  %-25s %s\n", left, table[i].help);
	}
	printf("\ncupola-vmd(8) explains them, cupola.conf(5) the "
	       "settings.\n");
}

int vmd_options_settings(const struct vmd_options *options,
			 struct settings **ret_settings, struct error *err)
{
	_cleanup_(settings_freep) struct settings *settings = NULL;
	size_t i;
	int r;

	r = settings_new(settings_table, settings_table_count, &settings);
	if (r < 0)
		return error_set_errno(err, r, "Cannot read the settings");
	if (options->config) {
		r = settings_load_file(settings, options->config, err);
		if (r < 0)
			return r;
	}
	for (i = 0; i < options->set_count; i++) {
		r = settings_set(settings, options->set[i], err);
		if (r < 0)
			return r;
	}
	*ret_settings = take_ptr(settings);
	return 0;
}
