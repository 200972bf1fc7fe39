/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TURN_UPSTREAM_TARGET_H
#define TURN_UPSTREAM_TARGET_H

/* One configured model: where it is, how it is spoken to, with which key. */

#include <stddef.h>

#include "base/histogram.h"
#include "turn/upstream.h"

enum upstream_protocol {
	UPSTREAM_CHAT,      /* Chat Completions */
	UPSTREAM_RESPONSES, /* the Responses API */

	UPSTREAM_PROTOCOL_COUNT,
};

/** struct upstream_counts - How a model's answers went */
struct upstream_counts {
	uint64_t ended[UPSTREAM_FINISH_COUNT];
	uint64_t repeated;
	uint64_t input_tokens;
	uint64_t output_tokens;
	struct histogram first;
	struct histogram whole;
};

/**
 * struct upstream_target - A model; strings are the settings', but for owned ones
 * @section:	Of the settings, for messages: "model.default"; owned
 * @model:	What clients see
 * @url:	Of its calls; owned
 * @remote_name: What its server calls it
 * @key:	For calls that begin now; owned; or NULL
 * @ca_file:	NULL: the host's certificates
 * @limit_field: How a limit of tokens is called
 * @max_output_tokens: For rounds that set none; 0: none
 * @calls, @calls_max: Under way, and at most
 */
struct upstream_target {
	char *section;
	struct upstream_model model;
	char *url;
	const char *remote_name;
	char *key;
	const char *ca_file;
	enum upstream_protocol protocol;
	const char *limit_field;
	uint64_t max_output_tokens;
	usec_t connect_timeout_usec;
	usec_t idle_timeout_usec;
	usec_t timeout_usec;
	unsigned retries;
	unsigned calls;
	unsigned calls_max;
	struct upstream_counts counts;
};

/** struct upstream_targets - All of them, in the settings' order */
struct upstream_targets {
	struct upstream_target *list;
	size_t count;
};

/**
 * upstream_targets_read() - Read and check the sections; not the keys
 * @ret:	Empty at first; for upstream_targets_done(), on failure as well
 */
int upstream_targets_read(const struct settings *settings,
			  struct upstream_targets *ret, struct error *err);

/**
 * upstream_targets_read_keys() - Read the files of keys, for the first time or anew
 * @settings:	What @targets were read from
 * @credentials: Those of systemd as well
 * @err:	The first failure
 *
 * Each by itself: where one fails, that model's key stays as it was.
 */
int upstream_targets_read_keys(struct upstream_targets *targets,
			       const struct settings *settings,
			       bool credentials, struct error *err);

/**
 * upstream_targets_check_ca() - Look at the files of certificates
 *
 * libcurl reads them for each call, which would be late to learn that there is
 * none.
 */
int upstream_targets_check_ca(const struct upstream_targets *targets,
			      struct error *err);

void upstream_targets_done(struct upstream_targets *targets);

const char *upstream_protocol_name(enum upstream_protocol protocol);

/** upstream_targets_find() - NULL if there is none of that name */
struct upstream_target *
upstream_targets_find(const struct upstream_targets *targets,
		      const char *name);

#endif
