#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/options.h"

/* The end of a start that cannot work: one sentence, whoever reads it. */
static int refuse(const struct error *err)
{
	log_error(NULL, 0, "%s", err->message);
	return EXIT_FAILURE;
}

static int run(struct daemon *d)
{
	const struct daemon_stage *stage;
	struct error err = ERROR_INIT;
	int r;

	for (stage = daemon_stages(); stage->name; stage++) {
		log_debug(NULL, "Start: %s", stage->name);
		if (stage->run(d, &err) < 0)
			return refuse(&err);
	}
	r = sd_event_loop(d->event);
	if (error_is_set(&d->failure))
		return refuse(&d->failure);
	if (r < 0)
		log_error(NULL, r, "The event loop failed");
	return r < 0 ? EXIT_FAILURE : r;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct daemon d;
	int status = EXIT_SUCCESS;

	log_init("cupolad");
	daemon_init(&d);
	if (options_parse(argc, argv, &d.options, &err) < 0)
		return refuse(&err);
	if (d.options.help)
		options_print_help();
	else if (d.options.version)
		puts("cupolad " PACKAGE_VERSION);
	else if (configure_settings(&d, &err) < 0)
		status = refuse(&err);
	else if (d.options.check_config)
		puts("The settings are good");
	else
		status = run(&d);
	daemon_done(&d);
	return status;
}
