/*
 * The main() of a fuzz target in a build without a fuzzer: plays the corpus, so
 * that what was once found stays found. The corpus of fuzz_NAME is what lies in
 * tests/fuzz/corpus/NAME; files may also be given as arguments.
 *
 * Each input is tried with each of its beginnings too, as far as it is short:
 * most parsers go wrong where something ends early.
 */

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* A target that takes milliseconds is played every so manieth beginning. */
#ifndef REPLAY_STEP
#define REPLAY_STEP 1
#endif

enum {
	INPUT_MAX = 1 << 20,
	PREFIXES_MAX = 4096,
};

static unsigned tests;

static void play(const char *path)
{
	static uint8_t data[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t size, length;

	if (!f) {
		printf("not ok %u - %s: %s\n", ++tests, path, strerror(errno));
		return;
	}
	size = fread(data, 1, sizeof(data), f);
	(void)fclose(f);
	for (length = 0; length < size && length < PREFIXES_MAX;
	     length += REPLAY_STEP)
		(void)LLVMFuzzerTestOneInput(data, length);
	(void)LLVMFuzzerTestOneInput(data, size);
	printf("ok %u - %s\n", ++tests,
	       strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	(void)fflush(stdout);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void play_corpus(const char *target)
{
	const char *top = getenv("abs_top_srcdir");
	char directory[PATH_MAX / 2], path[PATH_MAX];
	struct dirent **entries;
	int count, i;

	(void)snprintf(directory, sizeof(directory), "%s/tests/fuzz/corpus/%s",
		       top ? top : "..", target);
	count = scandir(directory, &entries, is_visible, alphasort);
	if (count <= 0) {
		printf("not ok %u - no corpus in %s\n", ++tests, directory);
		return;
	}
	for (i = 0; i < count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory,
			       entries[i]->d_name);
		play(path);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	int i;

	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz_", 5) == 0)
		name += 5;
	for (i = 1; i < argc; i++)
		play(argv[i]);
	if (argc == 1)
		play_corpus(name);
	printf("1..%u\n", tests);
	return 0;
}
