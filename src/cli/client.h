#ifndef CUPOLA_CLI_CLIENT_H
#define CUPOLA_CLI_CLIENT_H

/*
 * HTTP to the daemon, over its Unix socket or an address.
 *
 * SIGINT, SIGTERM and SIGHUP are taken over: while a call runs they end it
 * with CLI_INTERRUPTED, at once, so that the caller can tidy up in the daemon
 * before the program ends. A call marked as unbroken is not ended by them,
 * and has a deadline instead.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cleanup.h"

struct cli;
struct client;
struct json_object;

/* What an answer may weigh that is gathered in memory. */
#define CLIENT_ANSWER_MAX (64 * 1024 * 1024)

/**
 * struct client_request - One call
 * @method:	"GET", "POST", "DELETE"
 * @path:	From the first slash on, already percent-encoded
 * @json:	Body, or NULL
 * @upload:	Path of a file to send as the multipart part "file", or NULL
 * @upload_name: Name the daemon shall know it by
 * @purpose:	Multipart part "purpose", or NULL
 * @sink:	Gets the bytes of a good answer as they come; NULL gathers them.
 *		Ends the call by returning anything but 0, after cli_fail()
 * @userdata:	For @sink
 * @progress:	What the progress line says, or NULL for none
 * @unbroken:	Signals do not end it, 30 s do: for what must not be left
 *		in doubt, and for tidying up
 */
struct client_request {
	const char *method;
	const char *path;
	const char *json;
	const char *upload;
	const char *upload_name;
	const char *purpose;
	int (*sink)(const void *data, size_t length, void *userdata);
	void *userdata;
	const char *progress;
	bool unbroken;
};

/**
 * client_new() - Prepare to talk to the daemon that @cli names
 * @cli:	Outlives the client
 *
 * Return: 0, or minus an exit status
 */
int client_new(struct cli *cli, struct client **ret_client);

void client_free(struct client *client);
DEFINE_FREEP(struct client, client_free);

/**
 * client_call() - Make a call and wait for the whole answer
 * @body:	Gets the answer where the request has no sink; may be NULL
 *
 * An answer that is no 2xx is a failure with the daemon's own sentence.
 *
 * Return: 0, or minus an exit status
 */
int client_call(struct client *client, const struct client_request *request,
		struct buf *body);

/**
 * client_call_json() - The same, for an answer in JSON
 * @ret_answer:	The caller's to json_free(); may be NULL
 */
int client_call_json(struct client *client,
		     const struct client_request *request,
		     struct json_object **ret_answer);

/**
 * client_pause() - Wait, unless a signal comes
 *
 * Return: 0, or minus CLI_INTERRUPTED
 */
int client_pause(struct client *client, unsigned msec);

/**
 * client_await() - Wait until a file descriptor can be read, or a signal came
 * @msec:	Not longer than that; -1: for ever
 *
 * A signal goes first, also one from before. It is taken: no later call ends
 * by it.
 *
 * Return: 0, or the signal's number
 */
int client_await(struct client *client, int fd, int msec);

#endif
