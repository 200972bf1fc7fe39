/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "turn/upstream_private.h"
#include "turn/upstream_transfers.h"

DEFINE_FREEP(struct upstream, upstream_free);

int upstream_check_settings(const struct settings *settings, struct error *err)
{
	_cleanup_(upstream_targets_done) struct upstream_targets targets = {
		.count = 0,
	};

	return upstream_targets_read(settings, &targets, err);
}

/* All that the settings name, as far as there is a place for it. */
static int read_files(struct upstream_targets *targets,
		      const struct settings *settings, bool credentials,
		      struct error *err)
{
	int r = upstream_targets_read(settings, targets, err);

	if (r >= 0)
		r = upstream_targets_read_keys(targets, settings, credentials,
					       err);
	return r < 0 ? r : upstream_targets_check_ca(targets, err);
}

int upstream_check_files(const struct settings *settings, struct error *err)
{
	_cleanup_(upstream_targets_done) struct upstream_targets targets = {
		.count = 0,
	};

	return read_files(&targets, settings,
			  getenv("CREDENTIALS_DIRECTORY") != NULL, err);
}

int upstream_new(const struct upstream_config *config, struct upstream **ret,
		 struct error *err)
{
	_cleanup_(upstream_freep) struct upstream *u = calloc(1, sizeof(*u));
	size_t i;
	int r;

	if (!u)
		return error_set_errno(err, -ENOMEM, "Cannot prepare models");
	u->config = *config;
	TAILQ_INIT(&u->probes);
	r = read_files(&u->targets, config->settings, true, err);
	if (r < 0)
		return r;
	r = upstream_transfers_new(config->event, &u->transfers);
	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare models");
	for (i = 0; i < u->targets.count; i++)
		u->targets.list[i].model.created_at =
			(int64_t)(clock_wall(config->clock) / USEC_PER_SEC);
	*ret = take_ptr(u);
	return 0;
}

int upstream_reload(struct upstream *u, struct error *err)
{
	return upstream_targets_read_keys(&u->targets, u->config.settings, true,
					  err);
}

void upstream_free(struct upstream *u)
{
	if (!u)
		return;
	upstream_end_probes(u);
	upstream_transfers_free(u->transfers);
	upstream_targets_done(&u->targets);
	free(u);
}

/* "'a', 'b'", as far as there is room. */
static void list_names(const struct upstream *u, char *text, size_t size)
{
	size_t i, length = 0;

	text[0] = '\0';
	for (i = 0; i < u->targets.count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length,
					   "%s'%s'", i ? ", " : "",
					   u->targets.list[i].model.name);
}

struct upstream_target *upstream_find_target(const struct upstream *u,
					     const char *name,
					     struct error *err)
{
	struct upstream_target *t = upstream_targets_find(&u->targets, name);
	char names[ERROR_MESSAGE_MAX / 2];

	if (t)
		return t;
	list_names(u, names, sizeof(names));
	error_set_reason(err, "model_not_found");
	error_set_param(err, "model");
	error_set(err, ERR_NOT_FOUND, "There is no model '%.64s'; %s%s", name,
		  names[0] ? "there are " : "none is configured", names);
	return NULL;
}

static struct upstream_model model_of(const struct upstream_target *t)
{
	struct upstream_model model = t->model;

	model.url = t->url;
	model.protocol = upstream_protocol_name(t->protocol);
	model.upstream_name = t->remote_name;
	model.has_key = t->key != NULL;
	model.under_way = t->calls;
	return model;
}

int upstream_model_find(const struct upstream *u, const char *name,
			struct upstream_model *ret, struct error *err)
{
	const struct upstream_target *t = upstream_find_target(u, name, err);

	if (!t)
		return -ENOENT;
	*ret = model_of(t);
	return 0;
}

void upstream_each_model(const struct upstream *u,
			 void (*each)(void *userdata,
				      const struct upstream_model *model),
			 void *userdata)
{
	struct upstream_model model;
	size_t i;

	for (i = 0; i < u->targets.count; i++) {
		model = model_of(&u->targets.list[i]);
		each(userdata, &model);
	}
}
