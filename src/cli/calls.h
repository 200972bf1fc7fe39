#ifndef CUPOLA_CLI_CALLS_H
#define CUPOLA_CLI_CALLS_H

/* The API's calls that several commands make. */

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct json_object;
struct table;

/**
 * calls_path() - Put a path together
 * @literal:	Its beginning, as it is; then in turn a segment, which is
 *		percent-encoded, and a literal; NULL ends it
 *
 * Segments are ids, but a person typed them: encoded, "../x" stays one segment.
 *
 * Return: a new string, or NULL without memory
 */
char *calls_path(const char *literal, ...) __attribute__((sentinel));

/** calls_get_json() - GET a JSON answer */
int calls_get_json(struct cli *cli, const char *path,
		   struct json_object **ret_answer);

/** calls_post_json() - POST a JSON body; @ret_answer may be NULL */
int calls_post_json(struct cli *cli, const char *path, const char *body,
		    struct json_object **ret_answer);

/** calls_delete() - DELETE; @quiet: a failure, "gone already" included, is
 * nobody's concern, since this tidies up */
int calls_delete(struct cli *cli, const char *path, bool quiet);

/**
 * calls_each() - Walk through a list of the API, page by page
 * @path:	With a query or without
 * @each:	Gets one object, valid during the call; what it returns below 0
 *		ends the walk
 *
 * Return: 0, or what ended it
 */
int calls_each(struct cli *cli, const char *path,
	       int (*each)(struct cli *cli, const struct json_object *object,
			   void *userdata),
	       void *userdata);

/**
 * calls_print_list() - Print a list as the person or program wants it
 * @path:	As for calls_each()
 * @t:		Table for the person
 * @add:	Adds one object to the table
 *
 * With --json prints {"object":"list","data":[…]}, with all pages in it.
 */
int calls_print_list(struct cli *cli, const char *path, struct table *t,
		     int (*add)(struct cli *cli,
				const struct json_object *object,
				struct table *t));

/** calls_print_json() - Print a JSON value and a newline */
int calls_print_json(struct cli *cli, const struct json_object *value);

#endif
