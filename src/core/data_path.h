/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DATA_PATH_H
#define CORE_DATA_PATH_H

/*
 * Paths of container files, in the guest and for everybody else.
 *
 * In the guest a path is bytes below /mnt/data. Clients and the store read
 * UTF-8: the absolute path with U+FFFD for each byte that is none and then,
 * since that says too little, the bytes as base64 beside it.
 */

#include "wire/message.h"

/* Where container files are, with the slash. */
#define CORE_DATA_DIR "/mnt/data/"

/** struct data_path - Both, on the heap: for data_path_done() */
struct data_path {
	char *text;
	char *b64; /* NULL if the text is exact */
};

/** data_path_from_guest() - Return: 0 or -ENOMEM */
int data_path_from_guest(struct bytes name, struct data_path *ret);

/**
 * data_path_to_guest() - The bytes below /mnt/data
 * @b64:	NULL or empty if @text is exact
 *
 * Return: 0, or -EINVAL for what data_path_from_guest() never makes
 */
int data_path_to_guest(const char *text, const char *b64,
		       char ret[WIRE_PATH_MAX + 1]);

/** data_path_done() - Release the strings */
void data_path_done(struct data_path *path);

#endif
