/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_target.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/settings.h"
#include "turn/upstream_key.h"

static const struct {
	const char *name;
	const char *path;
} protocols[] = {
	[UPSTREAM_CHAT] = { "chat", "/chat/completions" },
	[UPSTREAM_RESPONSES] = { "responses", "/responses" },
};
static_assert(sizeof(protocols) / sizeof(protocols[0]) ==
		      UPSTREAM_PROTOCOL_COUNT,
	      "protocols[] doesn't match enum upstream_protocol");

const char *upstream_protocol_name(enum upstream_protocol protocol)
{
	return protocols[protocol].name;
}

static void url_freep(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void curl_strp(char **s)
{
	curl_free(*s);
}

static bool url_has(CURLU *url, CURLUPart part)
{
	_cleanup_(curl_strp) char *value = NULL;

	return curl_url_get(url, part, &value, 0) == CURLUE_OK;
}

static bool url_is_http(CURLU *url)
{
	_cleanup_(curl_strp) char *scheme = NULL;

	return curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	       (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
}

/* Puts the protocol's path behind the base's, which may end in a slash. */
static int add_path(CURLU *url, const char *path)
{
	_cleanup_(curl_strp) char *base = NULL;
	_cleanup_free_ char *whole = NULL;
	size_t length;

	if (curl_url_get(url, CURLUPART_PATH, &base, 0) != CURLUE_OK)
		return -ENOMEM;
	length = strlen(base);
	while (length > 0 && base[length - 1] == '/')
		length--;
	if (asprintf(&whole, "%.*s%s", (int)length, base, path) < 0)
		return -ENOMEM;
	return curl_url_set(url, CURLUPART_PATH, whole, 0) == CURLUE_OK
		       ? 0
		       : -ENOMEM;
}

static int read_url(struct upstream_target *t, const char *base,
		    struct error *err)
{
	_cleanup_(url_freep) CURLU *url = curl_url();
	_cleanup_(curl_strp) char *whole = NULL;

	if (!url)
		return error_set_errno(err, -ENOMEM, "Cannot read addresses");
	if (curl_url_set(url, CURLUPART_URL, base, 0) != CURLUE_OK ||
	    !url_is_http(url))
		return error_set(err, ERR_BAD_REQUEST,
				 "%s.url: '%s' is no http:// or https:// "
				 "address", t->section, base);
	/* Addresses are shown in messages and logs; a fragment is never sent. */
	if (url_has(url, CURLUPART_USER) || url_has(url, CURLUPART_PASSWORD) ||
	    url_has(url, CURLUPART_FRAGMENT))
		return error_set(err, ERR_BAD_REQUEST,
				 "%s.url must have neither user and password "
				 "nor '#…': a key belongs in %s.key_file",
				 t->section, t->section);
	if (add_path(url, protocols[t->protocol].path) < 0 ||
	    curl_url_get(url, CURLUPART_URL, &whole, 0) != CURLUE_OK)
		return error_set_errno(err, -ENOMEM, "Cannot read addresses");
	t->url = strdup(whole);
	return t->url ? 0 : error_set_errno(err, -ENOMEM,
					    "Cannot read addresses");
}

static enum upstream_protocol protocol_of(const char *name)
{
	return strcmp(name, protocols[UPSTREAM_RESPONSES].name) == 0
		       ? UPSTREAM_RESPONSES
		       : UPSTREAM_CHAT;
}

/* The first section has no name of its own; the others may have a better one. */
static int read_names(struct upstream_target *t, const char *instance,
		      const struct settings *s, struct error *err)
{
	const char *name = settings_string(s, t->section, "name");
	const char *remote = settings_string(s, t->section, "upstream_name");

	if (!name[0] && strcmp(instance, "default") == 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "Setting model.url needs model.name as well: "
				 "what clients call the model");
	t->model.name = name[0] ? name : instance;
	t->model.owner = "cupola";
	t->remote_name = remote[0] ? remote : t->model.name;
	return 0;
}

static void read_limits(struct upstream_target *t, const struct settings *s)
{
	const char *ca = settings_string(s, t->section, "ca_file");

	t->ca_file = ca[0] ? ca : NULL;
	t->limit_field = settings_string(s, t->section, "limit_field");
	t->max_output_tokens = settings_uint(s, t->section,
					     "max_output_tokens");
	t->connect_timeout_usec = settings_usec(s, t->section,
						"connect_timeout");
	t->idle_timeout_usec = settings_usec(s, t->section, "idle_timeout");
	t->timeout_usec = settings_usec(s, t->section, "timeout");
	t->retries = (unsigned)settings_uint(s, t->section, "retries");
	t->calls_max = (unsigned)settings_uint(s, t->section, "calls");
}

static int read_target(struct upstream_targets *targets, const char *instance,
		       const struct settings *s, struct error *err)
{
	struct upstream_target *t = &targets->list[targets->count];
	const char *url;
	int r;

	targets->count++;
	if (asprintf(&t->section, "model.%s", instance) < 0) {
		t->section = NULL;
		return error_set_errno(err, -ENOMEM, "Cannot read the models");
	}
	url = settings_string(s, t->section, "url");
	t->protocol = protocol_of(settings_string(s, t->section, "protocol"));
	if (!url[0])
		return error_set(err, ERR_BAD_REQUEST,
				 "Setting %s.url is missing: the address of "
				 "the model's server", t->section);
	r = read_url(t, url, err);
	if (r >= 0)
		r = read_names(t, instance, s, err);
	if (r < 0)
		return r;
	if (upstream_targets_find(targets, t->model.name) != t)
		return error_set(err, ERR_BAD_REQUEST,
				 "Two models are called '%s'; the second is "
				 "that of section '%s'",
				 t->model.name, t->section);
	read_limits(t, s);
	return 0;
}

/* "default" is in every list of instances; it is a model once it is spoken of. */
static bool is_spoken_of(const struct settings *s, const char *instance)
{
	return strcmp(instance, "default") != 0 ||
	       settings_is_set(s, "model.default", "url") ||
	       settings_is_set(s, "model.default", "name");
}

int upstream_targets_read(const struct settings *settings,
			  struct upstream_targets *ret, struct error *err)
{
	const char *instance;
	size_t i;
	int r = 0;

	ret->count = 0;
	ret->list = calloc(LIMIT_SETTING_INSTANCES + 1, sizeof(*ret->list));
	if (!ret->list)
		return error_set_errno(err, -ENOMEM, "Cannot read the models");
	for (i = 0; r >= 0 && i <= LIMIT_SETTING_INSTANCES; i++) {
		instance = settings_instance(settings, "model", i);
		if (!instance)
			break;
		if (is_spoken_of(settings, instance))
			r = read_target(ret, instance, settings, err);
	}
	return r;
}

static int read_key(struct upstream_target *t, const char *file,
		    struct error *err)
{
	char *key = NULL;
	int r = upstream_key_read(file, &key, err);

	if (r < 0)
		return error_wrap(err, r, "%s.key_file", t->section);
	upstream_key_free(t->key);
	t->key = key;
	return 0;
}

int upstream_targets_read_keys(struct upstream_targets *targets,
			       const struct settings *settings,
			       bool credentials, struct error *err)
{
	struct upstream_target *t;
	const char *file;
	int r, first = 0;

	for (t = targets->list; t < targets->list + targets->count; t++) {
		file = settings_string(settings, t->section, "key_file");
		if (!file[0] || (!credentials && !strchr(file, '/')))
			continue;
		r = read_key(t, file, first < 0 ? NULL : err);
		if (first == 0)
			first = r;
	}
	return first;
}

static int check_ca(const struct upstream_target *t, struct error *err)
{
	static const char mark[] = "-----BEGIN ";
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_CA_FILE);
	int r;

	if (!t->ca_file)
		return 0;
	r = fs_read_file(AT_FDCWD, t->ca_file, &text);
	if (r < 0)
		r = error_set_errno(err, r, "Cannot read '%s'", t->ca_file);
	else if (!memmem(text.data, text.length, mark, strlen(mark)))
		r = error_set(err, ERR_BAD_REQUEST,
			      "'%s' holds no certificate in PEM form",
			      t->ca_file);
	return r < 0 ? error_wrap(err, r, "%s.ca_file", t->section) : 0;
}

int upstream_targets_check_ca(const struct upstream_targets *targets,
			      struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < targets->count; i++)
		r = check_ca(&targets->list[i], err);
	return r;
}

void upstream_targets_done(struct upstream_targets *targets)
{
	struct upstream_target *t;

	for (t = targets->list; t < targets->list + targets->count; t++) {
		free(t->section);
		free(t->url);
		upstream_key_free(t->key);
	}
	free(targets->list);
	*targets = (struct upstream_targets){ .count = 0 };
}

struct upstream_target *
upstream_targets_find(const struct upstream_targets *targets, const char *name)
{
	size_t i;

	for (i = 0; i < targets->count; i++)
		if (strcmp(targets->list[i].model.name, name) == 0)
			return &targets->list[i];
	return NULL;
}
