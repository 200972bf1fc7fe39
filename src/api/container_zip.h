/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_CONTAINER_ZIP_H
#define API_CONTAINER_ZIP_H

/*
 * All files of a container as one zip archive.
 *
 * What the list of files shows when the call comes is what the archive holds,
 * whatever happens meanwhile; it can be had as long as the files are kept. It is
 * made while the client reads, from the blobs and in small pieces on the loop, so
 * that a slow reader costs one piece and delays nobody. If a file is deleted
 * before its turn has come, or anything else fails, the connection is closed
 * without an end: no client takes a part for the whole.
 */

enum {
	/* Files of one archive. Their list is read in one go, so that it is that
	 * of one moment, and that must not hold the loop for 5 ms; their ids are
	 * held in memory, and in the end the archive's directory. */
	CONTAINER_ZIP_FILES_MAX = 5000,

	/* Archives that a tenant may be fetching at a time. */
	CONTAINER_ZIP_TENANT_MAX = 8,
};

#endif
