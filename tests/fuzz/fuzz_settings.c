/*
 * Settings: whatever is in the file, each value that results is one that the
 * table allows, and each refusal says why.
 */

#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "fuzz.h"

static void check(const struct settings *s)
{
	const char *name;
	size_t i;

	if (settings_usec(s, "session", "hard") < USEC_PER_SEC ||
	    settings_usec(s, "session", "hard") > USEC_PER_DAY)
		abort();
	if (settings_bytes(s, "pool.default", "memory") < 128 << 20)
		abort();
	if (settings_number(s, "host", "memory_commit") < 0.05)
		abort();
	for (i = 0; (name = settings_instance(s, "pool", i)); i++)
		if (!name[0])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = ERROR_INIT;
	struct settings *s;
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';

	if (settings_new(settings_table, settings_table_count, &s) < 0)
		abort();
	if (settings_load_text(s, "file", text, size, &err) < 0 &&
	    !err.message[0])
		abort();
	error_clear(&err);
	if (settings_set(s, text, &err) < 0 && !err.message[0])
		abort();
	check(s);
	settings_free(s);
	free(text);
	return 0;
}
