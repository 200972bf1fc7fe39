#include "base/cleanup.h"
#include "vmd/vmd_options.h"

/* Where descriptors of a caller begin, and how many a process may have. */
enum {
	SOCKET_FD_MIN = 3,
	SOCKET_FD_MAX = 1023,
};

#define TO(field) .offset = offsetof(struct vmd_options, field)

static const struct option_row rows[] = {
	{ "state", "DIR", "keep VMs, templates and libvirt's files below DIR",
	  OPTION_STRING, TO(state), .min = 1 },
	{ "config", "FILE", "read settings from FILE", OPTION_STRING,
	  TO(config) },
	{ "set", "SECTION.KEY=VALUE", "override one setting; may be repeated",
	  OPTION_LIST, TO(set), .max = OPTION_LIST_MAX },
	{ "socket-fd", "N", "serve the socket that is descriptor N, and end "
			    "with it", OPTION_INT, TO(socket_fd),
	  .min = SOCKET_FD_MIN, .max = SOCKET_FD_MAX },
	{ "client", "USER", "who may connect to systemd's socket (cupola)",
	  OPTION_STRING, TO(client), .min = 1 },
	{ "help", NULL, "print this text", OPTION_FLAG, TO(help) },
	{ "version", NULL, "print the version", OPTION_FLAG, TO(version) },
};

static const struct option_table table = {
	.program = "cupola-vmd",
	.summary = "Run microVMs for cupolad",
	.manual = "cupola-vmd(8) explains them, cupolad.conf(5) the settings",
	.rows = rows,
	.count = sizeof(rows) / sizeof(rows[0]),
};

int vmd_options_parse(int argc, char **argv, struct vmd_options *ret_options,
		      struct error *err)
{
	*ret_options = (struct vmd_options){
		.state = LOCALSTATEDIR "/lib/cupola/vmd",
		.socket_fd = -1,
		.client = "cupola",
	};
	return option_table_parse(&table, argc, argv, ret_options, err);
}

void vmd_options_print_help(void)
{
	option_table_print(&table);
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
	for (i = 0; i < options->set.count; i++) {
		r = settings_set(settings, options->set.items[i], err);
		if (r < 0)
			return r;
	}
	*ret_settings = take_ptr(settings);
	return 0;
}
