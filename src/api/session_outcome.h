/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SESSION_OUTCOME_H
#define API_SESSION_OUTCOME_H

/* Dynamic sessions: an execution as the two families of calls show it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/core.h"

struct request;

/**
 * struct session_form - How an execution is shown; begins what @req->work is
 * @identifier:	The session's, borrowed from the request
 * @old:	The old family's way
 * @async:	Whoever started it did not wait for it
 * @command:	Its value is an exit status
 * @jupyter:	Its value is a bundle of MIME types
 * @output_max:	Where outputs are cut; 0: nowhere
 */
struct session_form {
	const char *identifier;
	bool old;
	bool async;
	bool command;
	bool jupyter;
	uint64_t output_max;
};

/**
 * session_form_note() - What an execution is to be kept with
 *
 * So that it looks the same to whoever asks for it later.
 */
void session_form_note(const struct session_form *form,
		       char ret[CORE_NOTE_SIZE]);

/** session_form_read() - Take all but @identifier and @old from its note */
void session_form_read(struct session_form *form, const char *note);

/** session_outcome_old() - Answer POST code/execute; see exec_outcome_fn */
int session_outcome_old(struct request *req, const struct exec_view *exec,
			struct error *err);

/** session_outcome_new() - Answer a call of executions, over or not */
int session_outcome_new(struct request *req, const struct exec_view *exec,
			struct error *err);

/** session_outcome_later() - Answer that it runs and can be looked at */
int session_outcome_later(struct request *req, const struct exec_view *exec,
			  struct error *err);

#endif
