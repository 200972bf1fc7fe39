/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "test.h"

#include "base/log.h"

enum { ENTRIES_MAX = 4096, ENTRY_SIZE = 4096 };

/* Each begins with a line end, so that all fields stand between two. */
static char *entries[ENTRIES_MAX];
static size_t entry_count;

int __wrap_journal_send(const struct iovec *fields, size_t count);

int __wrap_journal_send(const struct iovec *fields, size_t count)
{
	char text[ENTRY_SIZE] = "\n";
	size_t used = 1;
	size_t i;

	for (i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%.*s\n", (int)fields[i].iov_len,
					 (const char *)fields[i].iov_base);
	assert_true(used < sizeof(text));
	if (entry_count < ENTRIES_MAX)
		entries[entry_count++] = strdup(text);
	return 0;
}

static void forget(void)
{
	while (entry_count > 0)
		free(entries[--entry_count]);
}

void journal_begin(void)
{
	char stream[64];
	struct stat st;

	forget();
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%llu:%llu",
		       (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino);
	assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
	log_init("test");
	log_set_level(LOG_INFO);
}

void journal_end(void)
{
	(void)unsetenv("JOURNAL_STREAM");
	log_init("test");
	forget();
}

bool journal_has(const char *entry, const char *field)
{
	char line[ENTRY_SIZE];

	(void)snprintf(line, sizeof(line), "\n%s\n", field);
	return strstr(entry, line) != NULL;
}

const char *journal_find(const char *field)
{
	size_t i;

	for (i = entry_count; i > 0; i--)
		if (journal_has(entries[i - 1], field))
			return entries[i - 1];
	return NULL;
}

size_t journal_count(const char *field)
{
	size_t i, n = 0;

	for (i = 0; i < entry_count; i++)
		n += journal_has(entries[i], field);
	return n;
}
