#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/options.h"
#include "daemon/restore.h"

/* What is larger gets pages of its own; what is kept of freed heap. */
enum { HEAP_PIECE_MAX = 128 << 10, HEAP_SPARE_MAX = 1 << 20 };

/* Runs the stages and then the loop. What fails is kept in @d. */
static int run(struct daemon *d)
{
	const struct daemon_stage *stage;
	int r;

	for (stage = daemon_stages(); stage->name; stage++) {
		log_debug(NULL, "Start: %s", stage->name);
		r = stage->run(d, &d->failure);
		if (r < 0)
			return r;
	}
	r = sd_event_loop(d->event);
	if (r < 0)
		error_set_errno(&d->failure, r, "The event loop failed");
	return r;
}

static int serve(struct daemon *d)
{
	int r = configure_settings(d, &d->failure);

	if (r < 0)
		return r;
	if (d->options.restore)
		return restore_run(d, &d->failure);
	if (!d->options.check_config)
		return run(d);
	r = configure_check(d, &d->failure);
	if (r >= 0)
		puts("The settings are good");
	return r;
}

/* Where the sentence comes from below, which knows what fails and not why. */
static const char *remedy(enum error_code code)
{
	if (code == ERR_STORAGE_FULL)
		return ": make room on that file system and start again";
	return "";
}

/*
 * Bodies and chunks of files are given back when they are freed, and the threads
 * that write them share one heap beside the loop's. Left to itself malloc()
 * learns from the first chunk that is freed to keep all of them, in a heap for
 * each thread: 50 uploads at once left 17 MB behind.
 */
static void give_memory_back(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, HEAP_PIECE_MAX);
	(void)mallopt(M_TRIM_THRESHOLD, HEAP_SPARE_MAX);
	(void)mallopt(M_ARENA_MAX, 2);
}

int main(int argc, char **argv)
{
	struct daemon d;
	int r;

	give_memory_back();
	log_init("cupolad");
	daemon_init(&d);
	r = options_parse(argc, argv, &d.options, &d.failure);
	if (r >= 0 && d.options.help)
		options_print_help();
	else if (r >= 0 && d.options.version)
		puts("cupolad " PACKAGE_VERSION);
	else if (r >= 0)
		r = serve(&d);
	daemon_done(&d);

	/* One sentence, and nothing behind it, whoever reads it. */
	if (error_is_set(&d.failure))
		log_error(NULL, 0, "%s%s", d.failure.message,
			  remedy(d.failure.code));
	return r == 0 && !error_is_set(&d.failure) ? EXIT_SUCCESS :
						     EXIT_FAILURE;
}
