/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_SKIP_H
#define CORE_SKIP_H

/*
 * Why a file that the guest told of did not become a file of the container.
 * Clients branch on the words, so that none is ever renamed.
 */

#include "wire/wire.h"

/**
 * enum skip_reason - The reasons in "skipped"
 *
 *    SYMLINK, SPECIAL_FILE - Not a regular file: nothing is followed or opened
 *    UNREADABLE - The guest could not open it
 *    TOO_DEEP - Below more than WIRE_PATH_DEPTH_MAX directories
 *    NAME_TOO_LONG - Its path has more than WIRE_PATH_MAX bytes; it is cut here
 *    TOO_LARGE - Larger than the pool allows
 *    TOO_MUCH - The execution's files together are larger than is allowed
 *    TOO_MANY - One entry for all that were not listed, with their count
 *    QUOTA - The tenant's quota is used up
 *    CHANGED - It did not hold still while it was read, or was gone again
 *    HOST_STORAGE_FULL - The host's disk has no room
 *    SESSION_ENDED - The session ended before it was fetched
 *    FAILED - Anything else: the guest's disk, memory
 */
enum skip_reason {
	SKIP_SYMLINK,
	SKIP_SPECIAL_FILE,
	SKIP_UNREADABLE,
	SKIP_TOO_DEEP,
	SKIP_NAME_TOO_LONG,
	SKIP_TOO_LARGE,
	SKIP_TOO_MUCH,
	SKIP_TOO_MANY,
	SKIP_QUOTA,
	SKIP_CHANGED,
	SKIP_HOST_STORAGE_FULL,
	SKIP_SESSION_ENDED,
	SKIP_FAILED,

	SKIP_REASON_COUNT,
};

/** skip_reason_name() - The API's word: a constant */
const char *skip_reason_name(enum skip_reason reason);

/** skip_reason_parse() - Back from the word; SKIP_FAILED if it is none */
enum skip_reason skip_reason_parse(const char *name);

/** skip_reason_of_wire() - What the guest says instead of listing a file */
enum skip_reason skip_reason_of_wire(enum wire_skip skip);

/** skip_reason_of_status() - What it says when it is asked for the file */
enum skip_reason skip_reason_of_status(enum wire_file_status status);

#endif
