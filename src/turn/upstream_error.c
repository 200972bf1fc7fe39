/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/name.h"
#include "turn/upstream_json.h"

enum {
	WORDS_MAX = 400, /* of the server's, in our message */
	CODE_MAX = 48,
};

/** struct words - What is found in an error object */
struct words {
	const char *message;
	size_t length;
	const char *code;
	const char *type;
	const char *param;
	long status; /* a code that is a number; or 0 */
};

/* Some put a status where others have a word. */
static long status_of(const struct json_object *error)
{
	uint64_t code = upstream_json_uint(error, "code");

	return code < 1000 ? (long)code : 0;
}

/* The object has many forms: {"error":{…}}, {"error":"…"}, {"message":"…"}. */
static struct words read_words(const struct json_object *value)
{
	static const char *const keys[] = { "message", "detail", "error" };
	const struct json_object *error = json_member(value, "error");
	struct words w = { .message = "", .code = "", .type = "", .param = "" };
	struct json_string s = json_string_of(value);
	size_t i;

	if (json_kind_of(error) == JSON_OBJECT)
		value = error;
	w.code = upstream_json_text(value, "code");
	w.type = upstream_json_text(value, "type");
	w.param = upstream_json_text(value, "param");
	w.status = status_of(value);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && !s.data; i++)
		s = json_string_of(json_member(value, keys[i]));
	if (s.data) {
		w.message = s.data;
		w.length = s.length;
	}
	return w;
}

static int add_clean(struct buf *b, const char *text, size_t size,
		     const char *key)
{
	const size_t key_size = key ? strlen(key) : 0;
	size_t at = 0, n;
	uint32_t c;
	int r = 0;

	while (at < size && r == 0 && b->length < WORDS_MAX) {
		if (key_size > 0 && size - at >= key_size &&
		    memcmp(text + at, key, key_size) == 0) {
			r = buf_add_str(b, "[key]");
			at += key_size;
			continue;
		}
		n = utf8_next(text + at, size - at, &c);
		if (n == 0 || char_is_control(c))
			r = buf_add_byte(b, ' ');
		else
			r = buf_add(b, text + at, n);
		at += n ? n : 1;
	}
	return r;
}

/* One line of printable text without the key; "" if nothing is left of it. */
static void clean(const char *text, size_t size, const char *key,
		  char ret[WORDS_MAX + 1])
{
	_cleanup_(buf_done) struct buf b = BUF_INIT(2 * WORDS_MAX);
	size_t cut;

	(void)add_clean(&b, text, size, key);
	while (b.length > 0 && strchr(" .", b.data[b.length - 1]))
		buf_truncate(&b, b.length - 1);
	cut = utf8_cut(b.data, b.length, WORDS_MAX);
	(void)snprintf(ret, WORDS_MAX + 1, "%.*s", (int)cut, buf_str(&b));
}

static bool says(const struct words *w, const char *word)
{
	return strstr(w->code, word) || strstr(w->type, word);
}

/* A quota that is used up stays so, however often one asks. */
static enum error_code kind_of(long status, const struct words *w,
			       bool *ret_transient)
{
	*ret_transient = false;
	if (says(w, "context_length_exceeded"))
		return ERR_BAD_REQUEST;
	if (status == 429 || says(w, "rate_limit") || says(w, "quota")) {
		*ret_transient = !says(w, "quota");
		return ERR_LIMIT;
	}
	if (status == 400 || status == 413 || status == 422 ||
	    (status == 0 && says(w, "invalid_request")))
		return ERR_BAD_REQUEST;
	*ret_transient = status == 0 || status == 408 || status == 409 ||
			 status >= 500;
	return status == 408 || status == 504 ? ERR_UPSTREAM_TIMEOUT
					      : ERR_UPSTREAM;
}

static void fill(struct upstream_failure *ret, long status,
		 const struct words *w, const char *key)
{
	struct error *err = &ret->error;
	enum error_code kind = kind_of(status, w, &ret->transient);
	char words[WORDS_MAX + 1];

	clean(w->message, w->length, key, words);
	if (says(w, "context_length_exceeded"))
		error_set_reason(err, "context_length_exceeded");
	else if (kind == ERR_LIMIT)
		error_set_reason(err, "rate_limit_exceeded");
	if (kind == ERR_BAD_REQUEST && *w->param)
		error_set_param(err, "%.60s", w->param);
	if (status >= 300 && status < 400)
		error_set(err, kind, "The model's server answered %ld: it "
			  "redirects, which is not followed", status);
	else if (status > 0)
		error_set(err, kind, "The model's server answered %ld%s%s",
			  status, *words ? ": " : "", words);
	else
		error_set(err, kind, "The model's server broke off%s%s",
			  *words ? ": " : "", words);
}

void upstream_error_of_status(long status, const char *body, size_t size,
			      unsigned retry_after_sec, const char *key,
			      struct upstream_failure *ret)
{
	_cleanup_(json_freep) struct json_object *value = NULL;
	struct words w = { .message = body, .length = size, .code = "",
			   .type = "", .param = "" };

	*ret = (struct upstream_failure){ .error = ERROR_INIT };
	if (size > 0 && json_parse(body, size, &value, NULL) == 0)
		w = read_words(value);
	fill(ret, status, &w, key);
	if (retry_after_sec > 0 && ret->transient)
		error_set_retry_after(&ret->error, retry_after_sec);
}

void upstream_error_of_event(const struct json_object *error, const char *key,
			     struct upstream_failure *ret)
{
	struct words w = read_words(error);

	*ret = (struct upstream_failure){ .error = ERROR_INIT };
	fill(ret, w.status, &w, key);
}
