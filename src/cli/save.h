#ifndef CUPOLA_CLI_SAVE_H
#define CUPOLA_CLI_SAVE_H

/*
 * Where a file that came out of a container may land on this machine.
 *
 * Its path was chosen by the code that ran, so it is treated as hostile:
 *
 *  - It stays below the directory the user named. Every step is opened
 *    without following links, so that a link planted there earlier leads
 *    nowhere either.
 *  - It replaces nothing: "chart.png" becomes "chart-1.png" when the first is
 *    taken. With overwrite, only a regular file is replaced, and only by a
 *    complete one.
 *  - It is not hidden and is no option: a name that begins with a dot or a
 *    dash begins with "_" instead, so that neither ".bashrc" saved into a
 *    home directory nor "-rf" below a glob can do harm.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

/* NAME_MAX and the depth that the daemon lists, plus one for good measure. */
#define SAVE_NAME_MAX 255
#define SAVE_PATH_MAX 4096
#define SAVE_DEPTH_MAX 17

/**
 * save_path_clean() - Turn a container's path into a harmless relative one
 * @path:	As the API gives it, "/mnt/data/plots/chart.png"
 * @clean:	Filled with "plots/chart.png"
 * @size:	Its room
 *
 * Each step is cleaned on its own: control characters (see text.h) and backslashes become
 * "_", as do a leading dot or dash; empty steps vanish. Steps beyond
 * SAVE_DEPTH_MAX are refused.
 *
 * Return: 0; -ENAMETOOLONG if a step or the whole does not fit, or is too
 * deep; -EINVAL if nothing is left of it
 */
int save_path_clean(const char *path, char *clean, size_t size);

struct save;

/**
 * save_begin() - Create a file below a directory to write into
 * @directory:	An existing directory
 * @path:	The container's path; cleaned as above
 * @overwrite:	Replace a regular file of that name instead of evading it
 * @ret_save:	The file being written; end it with save_commit() or save_free()
 *
 * Folders in between are created.
 *
 * Return: 0 or a negative errno; -ELOOP if a link stands in the way
 */
int save_begin(const char *directory, const char *path, bool overwrite,
	       struct save **ret_save);

/* The descriptor to write to, and the name it will have below @directory. */
int save_fd(const struct save *s);
const char *save_name(const struct save *s);

/**
 * save_commit() - Keep the file, now that it is complete
 *
 * Return: 0 or a negative errno. save_free() is still due.
 */
int save_commit(struct save *s);

/**
 * save_free() - Let go; removes a file that was not committed
 */
void save_free(struct save *s);
DEFINE_FREEP(struct save, save_free);

#endif
