#ifndef CUPOLA_CLI_EXECUTE_H
#define CUPOLA_CLI_EXECUTE_H

/*
 * One execution in a container: its output printed as it comes, its end told
 * in words, its files brought back.
 *
 * If the connection breaks, the execution goes on in the daemon, also across
 * its restart; so the stream is taken up again behind the last event seen.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/views.h"

struct cli;
struct json_object;

/**
 * struct execute_options - What is run, and where its files go
 * @container:	Id
 * @code:	Source
 * @timeout_s:	Limit, or 0 for the daemon's
 * @out:	Existing directory for the artifacts, or NULL to leave them
 * @force:	Replace files that exist
 * @interrupt:	On a signal, stop the code in the container: it stays. Without
 *		it, the caller deletes the container
 */
struct execute_options {
	const char *container;
	const struct buf *code;
	double timeout_s;
	const char *out;
	bool force;
	bool interrupt;
};

/**
 * execute_run() - Run, print, save
 *
 * With --json nothing is printed until the end, and then the execution object
 * with a member "saved" that names the local files.
 *
 * Return: CLI_OK, CLI_NEGATIVE or CLI_LOST by how the code ended, or minus an
 * exit status
 */
int execute_run(struct cli *cli, const struct execute_options *options);

/**
 * execute_read_code() - Read source from a file or, for "-", standard input
 * @ret:	BUF_INIT(EXECUTE_CODE_MAX)
 */
int execute_read_code(struct cli *cli, const char *file, struct buf *ret);

enum { EXECUTE_CODE_MAX = 512 * 1024 };

/** execute_make_directory() - Have @out exist before anything is begun */
int execute_make_directory(struct cli *cli, const char *out);

#endif
