#ifndef CUPOLA_CLI_WATCH_H
#define CUPOLA_CLI_WATCH_H

/*
 * Commands that show how something is can show it again and again.
 *
 * On a terminal each look replaces the one before, on a screen of its own that
 * goes away at the end. In a file or a pipe they follow each other, separated
 * by an empty line, or with --json as one document a line.
 */

#include <stdbool.h>

struct cli;

/**
 * struct watch - Whether and how often
 * @on:		Again and again, until a signal comes
 * @interval:	Seconds between two looks; 0: WATCH_INTERVAL
 */
struct watch {
	bool on;
	double interval;
};

#define WATCH_INTERVAL 2.0

/* The rows of a command's options, before the one that ends them. */
#define WATCH_INTERVAL_OPTION(w)                                     \
	{ "interval", 'i', "SECONDS", "time between two looks (2)", \
	  .seconds = &(w)->interval }
#define WATCH_OPTIONS(w)                                                \
	{ "watch", 'w', NULL, "look again and again, until interrupted", \
	  .flag = &(w)->on },                                            \
		WATCH_INTERVAL_OPTION(w)

/**
 * watch_run() - Look once, or again and again
 * @look:	Prints to standard output what there is to see
 *
 * A daemon that goes away in between is waited for. On a terminal the key q ends
 * it, and any other looks again.
 *
 * Return: what the only look returned, 0 after q, or minus an exit status
 */
int watch_run(struct cli *cli, const struct watch *w,
	      int (*look)(struct cli *cli, void *userdata), void *userdata);

/** watch_pause() - Wait for the next look; Return: 0 or minus an exit status */
int watch_pause(struct cli *cli, const struct watch *w);

#endif
