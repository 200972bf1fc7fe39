/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/name.h"

#define DATA_PATH_TEXT_MAX (sizeof(CORE_DATA_DIR) + 3 * WIRE_PATH_MAX)

void data_path_done(struct data_path *path)
{
	free(path->text);
	free(path->b64);
	*path = (struct data_path){ NULL, NULL };
}

static int keep_bytes(struct bytes name, char **ret)
{
	char *b64 = malloc(BASE64_SIZE(name.size) + 1);

	if (!b64)
		return -ENOMEM;
	base64_encode(name.data, name.size, b64);
	*ret = b64;
	return 0;
}

int data_path_from_guest(struct bytes name, struct data_path *ret)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(DATA_PATH_TEXT_MAX);
	_cleanup_(data_path_done) struct data_path path = { NULL, NULL };
	int r;

	r = buf_add_str(&text, CORE_DATA_DIR);
	if (r >= 0)
		r = utf8_add_fixed(&text, name.data, name.size);
	if (r >= 0 && !utf8_is_valid(name.data, name.size))
		r = keep_bytes(name, &path.b64);
	if (r < 0)
		return r;
	path.text = strdup(buf_str(&text));
	if (!path.text)
		return -ENOMEM;
	*ret = path;
	path = (struct data_path){ NULL, NULL };
	return 0;
}

int data_path_to_guest(const char *text, const char *b64,
		       char ret[WIRE_PATH_MAX + 1])
{
	const char *name = text + strlen(CORE_DATA_DIR);
	ssize_t n;

	if (b64 && b64[0]) {
		n = base64_decode(b64, ret, WIRE_PATH_MAX);
		if (n < 0)
			return -EINVAL;
		ret[n] = '\0';
		return 0;
	}
	if (strlen(name) > WIRE_PATH_MAX)
		return -EINVAL;
	strcpy(ret, name);
	return 0;
}
