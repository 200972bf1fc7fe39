#include <stddef.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client_error.h"

static enum cli_exit exit_of(long status)
{
	if (status == 429 || status == 503)
		return CLI_BUSY;
	return status >= 500 ? CLI_BROKEN : CLI_REFUSED;
}

/* The sentence of the OpenAI envelope; NULL if it is none. */
static const char *envelope_message(const struct json_object *answer)
{
	const struct json_object *error = json_member(answer, "error");

	return json_string_of(json_member(error, "message")).data;
}

int client_refused(struct cli *cli, long status, const struct buf *body)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	const char *message = NULL;

	if (json_parse(buf_str(body), body->length, &answer, NULL) >= 0)
		message = envelope_message(answer);
	if (message)
		return cli_fail(cli, exit_of(status), "%s", message);
	return cli_fail(cli, exit_of(status),
			"The daemon answered with HTTP status %ld", status);
}
