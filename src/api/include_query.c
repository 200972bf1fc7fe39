/* SPDX-License-Identifier: Apache-2.0 */
#include "api/include_query.h"

#include <ctype.h>
#include <string.h>

#include "api/request.h"
#include "turn/turn.h"

static bool is_include(const char *name)
{
	static const char word[] = "include";

	if (strncmp(name, word, strlen(word)) != 0)
		return false;
	name += strlen(word);
	if (!*name)
		return true;
	if (*name++ != '[')
		return false;
	while (isdigit((unsigned char)*name))
		name++;
	return strcmp(name, "]") == 0;
}

int include_query(const struct request *req, unsigned *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < req->uri.params && r >= 0; i++)
		if (is_include(req->uri.param[i].name))
			r = item_include_word(req->uri.param[i].value, ret,
					      err);
	return r;
}
