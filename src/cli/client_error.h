#ifndef CUPOLA_CLI_CLIENT_ERROR_H
#define CUPOLA_CLI_CLIENT_ERROR_H

/* What an answer that is no 2xx means for the person at the terminal. */

struct buf;
struct cli;

/**
 * client_refused() - Fail with what the daemon said
 * @status:	HTTP status
 * @body:	An error envelope, or anything at all
 *
 * Return: minus the exit status that stands for @status
 */
int client_refused(struct cli *cli, long status, const struct buf *body);

#endif
