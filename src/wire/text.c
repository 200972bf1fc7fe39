/* SPDX-License-Identifier: Apache-2.0 */

/* Which strings are what they are meant to be. */

#include "wire/message.h"

#include <string.h>

static bool byte_is_alnum(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

bool wire_exec_id_valid(struct bytes id)
{
	size_t i;

	if (id.size < 1 || id.size > WIRE_EXEC_ID_MAX)
		return false;
	for (i = 0; i < id.size; i++)
		if (!byte_is_alnum(id.data[i]) && id.data[i] != '_' &&
		    id.data[i] != '-')
			return false;
	return true;
}

/* What its parts mean is nothing to us. */
bool wire_trace_valid(struct bytes trace)
{
	size_t i;

	if (trace.size != WIRE_TRACE_SIZE)
		return false;
	for (i = 0; i < trace.size; i++)
		if (trace.data[i] != '-' &&
		    !(trace.data[i] >= '0' && trace.data[i] <= '9') &&
		    !(trace.data[i] >= 'a' && trace.data[i] <= 'f'))
			return false;
	return true;
}

bool wire_hostname_valid(struct bytes name)
{
	size_t i;

	if (name.size < 1 || name.size > WIRE_HOSTNAME_MAX)
		return false;
	for (i = 0; i < name.size; i++)
		if (name.data[i] != '-' &&
		    (!byte_is_alnum(name.data[i]) ||
		     (name.data[i] >= 'A' && name.data[i] <= 'Z')))
			return false;
	return name.data[0] != '-' && name.data[name.size - 1] != '-';
}

bool wire_mime_valid(struct bytes mime)
{
	size_t i;

	if (mime.size < 1 || mime.size > WIRE_MIME_MAX)
		return false;
	for (i = 0; i < mime.size; i++)
		if (mime.data[i] <= ' ' || mime.data[i] > '~')
			return false;
	return true;
}

static bool component_valid(const uint8_t *name, size_t size)
{
	if (size < 1 || size > WIRE_PATH_NAME_MAX)
		return false;
	if (size <= 2 && memcmp(name, "..", size) == 0)
		return false;
	return memchr(name, '\0', size) == NULL;
}

bool wire_path_valid(struct bytes path)
{
	size_t begin = 0, depth = 0, i;

	if (path.size < 1 || path.size > WIRE_PATH_MAX)
		return false;
	for (i = 0; i <= path.size; i++) {
		if (i < path.size && path.data[i] != '/')
			continue;
		if (!component_valid(path.data + begin, i - begin))
			return false;
		if (++depth > WIRE_PATH_DEPTH_MAX)
			return false;
		begin = i + 1;
	}
	return true;
}
