/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_RESULT_H
#define TURN_RESULT_H

/*
 * What came of running code, in words for a model.
 *
 * What a program prints may be a stranger's text, and that text may try to give
 * orders; so may the name of a file. So both stand between two marks that nobody
 * in there can foresee, and are called data. What ended it is said outside.
 *
 * A mark is the same each time that a result is told again, so that a server can
 * keep what it has read already. It comes from the call's id and a secret, since
 * a client may choose the ids of calls that it tells us of.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/core.h"

enum {
	RESULT_SECRET_SIZE = 32,
};

/**
 * struct result - What is told
 * @id:		Of the call's item
 * @secret:	RESULT_SECRET_SIZE bytes, the same for all results
 * @text:	What was printed; cut to @max_bytes, head and tail
 * @figures:	That were shown to the user
 * @unknown:	It was not kept what came of it
 * @files:	Lines about those that it made, or NULL
 * @notes:	Lines of our own about it, or NULL
 */
struct result {
	const char *id;
	const uint8_t *secret;
	const char *text;
	size_t size;
	size_t max_bytes;
	unsigned figures;
	bool unknown;
	const char *files;
	const char *notes;
};

/** result_write() - Return: as buf_add() */
int result_write(const struct result *result, struct buf *ret);

/**
 * result_logs() - What an execution printed, as the user is shown it: streams,
 * values, traceback
 *
 * Return: as buf_add(), of which there is none for what is too long: it is cut
 */
int result_logs(const struct exec_view *exec, struct buf *ret);

/** result_notes() - How it ended and what was lost, a line each */
int result_notes(const struct exec_view *exec, struct buf *ret);

/** result_files() - What it made, a line each, whatever is in its name */
int result_files(const struct exec_view *exec, struct buf *ret);

/** result_path() - The path of a file, on one line: controls are shown as \x0a */
int result_path(struct buf *ret, const char *path);

/** result_outputs() - A call's "outputs": logs and figures
 * @ret_figures: How many there are
 */
int result_outputs(struct core *core, const struct principal *who,
		   const struct exec_view *exec, const struct buf *logs,
		   struct buf *ret, unsigned *ret_figures);

#endif
