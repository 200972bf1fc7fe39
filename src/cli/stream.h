#ifndef CUPOLA_CLI_STREAM_H
#define CUPOLA_CLI_STREAM_H

/* Following an execution's events until it is over. */

struct buf;
struct cli;
struct json_object;

/**
 * stream_run() - Start code and print what it says as it comes
 * @container:	Where
 * @body:	Body of the exec call, with "stream" set
 * @ret_id:	Id of the execution as soon as it is known: room for
 *		STREAM_ID_SIZE, else untouched
 * @ret_done:	The execution at its end, to be released with json_free()
 */
int stream_run(struct cli *cli, const char *container, const char *body,
	       char *ret_id, struct json_object **ret_done);

enum { STREAM_ID_SIZE = 80 };

#endif
