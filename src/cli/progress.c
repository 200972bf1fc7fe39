#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/text.h"

/* Seconds before the line appears, and between two of its pictures. */
#define APPEARS_AFTER 0.5
#define REFRESHES_AFTER 0.1

static struct {
	const char *what;
	double since;
	double painted;
	bool visible;
} line;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(const char *what)
{
	progress_end();
	if (!isatty(STDERR_FILENO))
		return;
	line.what = what;
	line.since = now();
}

void progress_update(uint64_t done, uint64_t total)
{
	char moved[TEXT_SHORT_MAX], all[TEXT_SHORT_MAX];
	double at = now();

	if (!line.what || at - line.since < APPEARS_AFTER ||
	    at - line.painted < REFRESHES_AFTER)
		return;
	line.painted = at;
	line.visible = true;
	(void)fputs("\r\033[K", stderr);
	text_print(stderr, line.what);
	if (total > 0)
		fprintf(stderr, ": %s of %s", text_bytes(done, moved),
			text_bytes(total, all));
	fprintf(stderr, " (%.0f s)", at - line.since);
	fflush(stderr);
}

void progress_wipe(void)
{
	if (!line.visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.visible = false;
}

void progress_end(void)
{
	progress_wipe();
	line.what = NULL;
}
