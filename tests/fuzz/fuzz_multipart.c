/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multipart body gives the same parts however it is cut into pieces, and
 * whether or not the receiver is slow. The first byte says how it is cut, the
 * rest is the body.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/multipart.h"
#include "base/buf.h"
#include "fuzz.h"

struct said {
	struct buf text;
	unsigned refuse;
	unsigned pieces;
	bool open;
};

static int on_begin(void *userdata, const struct multipart_part *part,
		    struct error *err)
{
	struct said *said = userdata;

	(void)err;
	if (said->open || !part->name)
		abort();
	said->open = true;
	return buf_printf(&said->text, "%s|%s|%s=", part->name,
			  part->filename ? part->filename : "",
			  part->type ? part->type : "");
}

static int on_data(void *userdata, const void *data, size_t size,
		   struct error *err)
{
	struct said *said = userdata;

	(void)err;
	if (!said->open || size == 0)
		abort();
	if (said->refuse && ++said->pieces % said->refuse == 0)
		return -EAGAIN;
	return buf_add(&said->text, data, size);
}

static int on_end(void *userdata, struct error *err)
{
	struct said *said = userdata;

	(void)err;
	if (!said->open)
		abort();
	said->open = false;
	return buf_add_byte(&said->text, ';');
}

static const struct multipart_sink sink = { on_begin, on_data, on_end };

static int parse(struct said *said, const uint8_t *data, size_t size,
		 size_t step)
{
	struct error err = ERROR_INIT;
	struct multipart *m;
	size_t at = 0, used;
	int r;

	if (multipart_new("multipart/form-data; boundary=b", &sink, said, &m,
			  &err) < 0)
		abort();
	do {
		size_t piece = size - at < step ? size - at : step;
		uint8_t *copy = malloc(piece ? piece : 1);

		if (!copy)
			abort();
		memcpy(copy, data + at, piece);
		r = multipart_feed(m, copy, piece, &used, &err);
		free(copy);
		if (used > piece || (r == 0 && used != piece))
			abort();
		at += used;
	} while (at < size && (r == 0 || r == -EAGAIN));
	if (r == 0)
		r = multipart_finish(m, &err);
	multipart_free(m);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct said whole = { .text = BUF_INIT(1 << 20) };
	struct said cut = { .text = BUF_INIT(1 << 20) };
	int r;

	if (size < 1)
		return 0;
	cut.refuse = data[0] & 3;
	if (cut.refuse == 1)
		cut.refuse = 0;		/* would refuse for ever */
	r = parse(&whole, data + 1, size - 1, SIZE_MAX);
	if (parse(&cut, data + 1, size - 1, 1 + (data[0] >> 2)) != r)
		abort();
	if (r == 0 && (whole.open || cut.text.length != whole.text.length ||
		       memcmp(buf_str(&cut.text), buf_str(&whole.text),
			      whole.text.length) != 0))
		abort();
	buf_done(&whole.text);
	buf_done(&cut.text);
	return 0;
}
