/* SPDX-License-Identifier: Apache-2.0 */
#include "api/definitions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/api_error.h"
#include "api/request.h"
#include "base/json.h"

int definitions_check_call(struct request *req, struct error *err)
{
	const char *version;
	int r;

	r = uri_param(&req->uri, "api-version", &version, err);
	if (r < 0)
		return r;
	if (!version || !*version)
		return api_refuse(
			err, "api-version",
			"is missing from the query: any will do, as in "
			"'?api-version=v1'",
			NULL);
	if (definition_project_is_valid(req->match.project))
		return 0;
	return error_set(err, ERR_NOT_FOUND, "There is no such project");
}

int definitions_read_name(struct request *req, enum definition_kind kind,
			  struct definition_name *ret, struct error *err)
{
	int r;

	r = definitions_check_call(req, err);
	if (r < 0)
		return r;
	*ret = (struct definition_name){ kind, req->match.project,
					 req->match.param[0] };
	if (definition_name_is_valid(ret->name))
		return 0;
	return error_set(err, ERR_NOT_FOUND, "%s '%.100s' not found",
			 definition_word(kind), ret->name);
}

int definitions_read_version(const char *text,
			     const struct definition_name *name, uint64_t *ret,
			     struct error *err)
{
	if (definition_version_parse(text, ret) >= 0)
		return 0;
	return error_set(err, ERR_NOT_FOUND, "%s '%s' has no version '%.100s'",
			 definition_word(name->kind), name->name, text);
}

int definitions_refuse_name(struct error *err)
{
	return api_refuse(err, "name",
			  "must be 1 to 63 letters, digits and inner hyphens",
			  NULL);
}

void definitions_write_version(struct json_writer *w, const char *key,
			       uint64_t version)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)version);
	json_write_string(w, key, text);
}

int definitions_write_end(struct json_writer *w, struct error *err)
{
	int r;

	json_write_close(w);
	r = json_write_end(w);
	if (r == -EMSGSIZE)
		return error_set(err, ERR_BAD_REQUEST,
				 "The version is larger than %d bytes",
				 CORE_DEFINITION_MAX);
	return r < 0 ? error_set_errno(err, r, "Cannot write the version") : 0;
}
