#ifndef CUPOLA_CLI_TRANSFER_H
#define CUPOLA_CLI_TRANSFER_H

/* Files between this machine and the daemon. Nothing is held in memory. */

#include <stdbool.h>

struct buf;
struct cli;
struct json_object;

/**
 * transfer_upload() - Send a file of this machine
 * @path:	Where to: /v1/files or a container's files
 * @file:	Local path
 * @purpose:	For /v1/files, or NULL
 * @ret_answer:	The object made, to be released with json_free()
 */
int transfer_upload(struct cli *cli, const char *path, const char *file,
		    const char *purpose, struct json_object **ret_answer);

/**
 * transfer_save() - Fetch a content into a directory of this machine
 * @path:	Of the content
 * @directory:	See save.h for what can happen to it
 * @name:	The container's name for it
 * @overwrite:	See save.h
 * @ret_name:	The name it got below @directory: a new string; may be NULL
 */
int transfer_save(struct cli *cli, const char *path, const char *directory,
		  const char *name, bool overwrite, char **ret_name);

/** transfer_copy() - Fetch a content into a descriptor */
int transfer_copy(struct cli *cli, const char *path, int fd, const char *what);

/** transfer_read_local() - Read a file whole, "-" for standard input */
int transfer_read_local(struct cli *cli, const char *file, struct buf *ret);

/** transfer_base_name() - What stands behind the last slash */
const char *transfer_base_name(const char *path);

#endif
