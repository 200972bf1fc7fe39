#ifndef CUPOLA_CLI_ADDRESS_H
#define CUPOLA_CLI_ADDRESS_H

#include <stdbool.h>

/**
 * address_base() - What paths of the API go behind
 * @url:	As --url has it: it may end in slashes, and in "/v1" as an SDK's
 *		base URL does
 *
 * Return: the caller's to free; NULL if there is no memory
 */
char *address_base(const char *url);

/** address_is_operators() - Whether a path is served on the Unix socket only */
bool address_is_operators(const char *path);

#endif
