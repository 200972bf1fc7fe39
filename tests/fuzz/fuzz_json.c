/*
 * Strict JSON: whatever the bytes are, they are refused with a sentence, or
 * give a tree that is written as text which reads as the same text again.
 */

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/name.h"
#include "fuzz.h"

enum {
	/* No byte of input gives more than six of output, or a few of digits. */
	OUTPUT_MAX = 64 << 20,
};

static void write_tree(const struct json_object *value, struct buf *b)
{
	struct json_writer w = JSON_WRITER_INIT(b);

	json_write_value(&w, NULL, value);
	if (json_write_end(&w) < 0)
		abort();
	if (!utf8_is_valid(b->data, b->length))
		abort();
}

static void round_trip(const struct json_object *value)
{
	struct buf once = BUF_INIT(OUTPUT_MAX), twice = BUF_INIT(OUTPUT_MAX);
	struct json_object *again = NULL;

	write_tree(value, &once);
	if (json_parse(buf_str(&once), once.length, &again, NULL) < 0)
		abort();
	write_tree(again, &twice);
	if (once.length != twice.length ||
	    memcmp(once.data, twice.data, once.length) != 0)
		abort();
	json_free(again);
	buf_done(&once);
	buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_object *value = NULL;
	struct error err = ERROR_INIT;
	/* Its own allocation, so that ASan sees one byte too far. */
	char *text = malloc(size ? size : 1);

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	if (json_parse(text, size, &value, &err) == 0)
		round_trip(value);
	else if (err.code != ERR_BAD_REQUEST || !err.message[0])
		abort();
	json_free(value);
	free(text);
	return 0;
}
