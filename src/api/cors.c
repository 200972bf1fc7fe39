/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cors.h"

#include <microhttpd.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reply.h"
#include "api/request.h"
#include "base/settings.h"

/* How long a browser may remember what it was told before the call. */
#define MAX_AGE "600"

/* What a page may see of the header, beyond what every page may. */
#define EXPOSED                                                                \
	"x-request-id, x-should-retry, Retry-After, ETag, Location, "          \
	"Content-Disposition, Content-Range, Operation-Location, "             \
	"Mcp-Session-Id, Cupola-Idle-Expires-At, Cupola-Hard-Expires-At"

static const char *origins(const struct settings *settings)
{
	return settings_string(settings, "listen", "cors_origins");
}

/* Takes the next word of @list; NULL at its end. */
static const char *next_word(const char **list, size_t *ret_size)
{
	const char *word = *list + strspn(*list, " ");

	*ret_size = strcspn(word, " ");
	*list = word + *ret_size;
	return *ret_size > 0 ? word : NULL;
}

/* "https://host:port", as browsers write it: without a path. */
static bool is_origin(const char *word, size_t size)
{
	static const char *const schemes[] = { "http://", "https://" };
	size_t i;

	for (i = 0; i < 2; i++) {
		size_t length = strlen(schemes[i]);

		if (size > length && memcmp(word, schemes[i], length) == 0)
			return !memchr(word + length, '/', size - length) &&
			       !memchr(word + length, '*', size - length);
	}
	return false;
}

int cors_check(const struct settings *settings, struct error *err)
{
	const char *list = origins(settings), *word;
	size_t size;

	if (strcmp(list, "*") == 0)
		return 0;
	while ((word = next_word(&list, &size)))
		if (!is_origin(word, size))
			return error_set(err, ERR_BAD_REQUEST,
					 "Setting listen.cors_origins: '%.*s' "
					 "is no origin as in "
					 "https://app.example:8443, nor is it "
					 "'*' alone", (int)size, word);
	return 0;
}

/* What to answer as the allowed origin; NULL: none. */
static const char *allowed(const struct request *req)
{
	const char *origin = req->head.value[FIELD_ORIGIN];
	const char *list = origins(req->api->config.settings), *word;
	size_t size;

	if (!origin || !*list)
		return NULL;
	if (strcmp(list, "*") == 0)
		return list;
	while ((word = next_word(&list, &size)))
		if (strlen(origin) == size && memcmp(origin, word, size) == 0)
			return origin;
	return NULL;
}

bool cors_allows(const struct request *req)
{
	return allowed(req) != NULL;
}

static bool is_preflight(const struct request *req)
{
	return strcmp(req->method, "OPTIONS") == 0 &&
	       req->head.value[FIELD_REQUEST_METHOD];
}

/*
 * Any header field may be sent: none gives more than the key does, and what
 * SDKs send changes from version to version.
 */
static void add_preflight(struct request *req)
{
	const char *fields = req->head.value[FIELD_REQUEST_HEADERS];

	reply_header(req, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS,
		     req->allow);
	if (fields)
		reply_header(req, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS,
			     fields);
	reply_header(req, MHD_HTTP_HEADER_ACCESS_CONTROL_MAX_AGE, MAX_AGE);
}

void cors_add(struct request *req)
{
	const char *origin = allowed(req);

	if (!origin)
		return;
	reply_header(req, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, origin);
	reply_header(req, MHD_HTTP_HEADER_VARY, "Origin");
	if (is_preflight(req))
		add_preflight(req);
	else
		reply_header(req,
			     MHD_HTTP_HEADER_ACCESS_CONTROL_EXPOSE_HEADERS,
			     EXPOSED);
}

int cors_write(const struct request *req, struct buf *b)
{
	const char *origin = allowed(req);

	if (!origin)
		return 0;
	return buf_printf(b, "Access-Control-Allow-Origin: %s\r\n"
			     "Vary: Origin\r\n", origin);
}
