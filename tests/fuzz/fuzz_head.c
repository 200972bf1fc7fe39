/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client writes into a request's head: "METHOD TARGET VERSION", then
 * fields, one a line. What gets through means one thing.
 */

#include <stdlib.h>
#include <string.h>

#include "api/header.h"
#include "api/http_head.h"
#include "api/uri.h"
#include "base/limits.h"
#include "base/name.h"
#include "fuzz.h"

/* How often @sub is in @text, either case of letters. */
static size_t count_of(const char *text, const char *sub)
{
	size_t n = 0;

	while ((text = strcasestr(text, sub))) {
		text++;
		n++;
	}
	return n;
}

/* A segment has a slash only where the target has an escaped one. */
static void check_target(const char *target)
{
	size_t slashes = 0, i;
	struct uri uri;
	int r;

	r = uri_parse(target, &uri, NULL);
	if (r >= 0 && strlen(target) > LIMIT_URI_BYTES)
		abort();
	for (i = 0; i < uri.segments; i++) {
		slashes += count_of(uri.segment[i], "/");
		if (!utf8_is_valid(uri.segment[i], strlen(uri.segment[i])))
			abort();
	}
	if (slashes > count_of(target, "%2f"))
		abort();
	uri_done(&uri);
}

static void check_value(const char *value)
{
	char out[64], *copy = strdup(value);

	if (!copy)
		abort();
	if (header_param(value, "boundary", out, sizeof(out)) == 0 &&
	    strlen(out) >= sizeof(out))
		abort();
	header_decode_form(copy);
	if (strlen(copy) > strlen(value))
		abort();
	strcpy(copy, value);
	if (header_decode_ext(copy) == 0 && strlen(copy) > strlen(value))
		abort();
	free(copy);
}

static void check_head(struct http_head *head, char *line)
{
	const char *method = strtok(line, " ");
	const char *target = strtok(NULL, " ");
	const char *version = strtok(NULL, " ");

	if (!method || !target || !version)
		return;
	check_target(target);
	if (http_head_check(head, method, version, 100, NULL) < 0)
		return;
	if (head->chunked && head->value[FIELD_CONTENT_LENGTH])
		abort();
	if (!header_is_token(method, strlen(method)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_head head = HTTP_HEAD_INIT;
	char *text = malloc(size + 1);
	char *line, *next;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	line = strchr(text, '\n');
	if (line)
		*line++ = '\0';
	for (; line; line = next) {
		char *colon;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon++ = '\0';
		check_value(colon);
		if (http_head_add(&head, line, strlen(line), colon,
				  strlen(colon), NULL) < 0)
			break;
	}
	if (!line)
		check_head(&head, text);
	free(text);
	return 0;
}
