/* SPDX-License-Identifier: Apache-2.0 */
#include <magic.h>

#include "store/blob_impl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Looks at the first bytes only: no unpacking, no walking through archives. */
#define SNIFF_FLAGS                                                       \
	(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | \
	 MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_ELF)

/* A host without the database of types does without the hint. */
static magic_t sniffer_load(struct blob_sniffer *sniffer)
{
	magic_t cookie;

	if (sniffer->tried)
		return sniffer->cookie;
	sniffer->tried = true;
	cookie = magic_open(SNIFF_FLAGS);
	if (cookie && magic_load(cookie, NULL) < 0) {
		magic_close(cookie);
		cookie = NULL;
	}
	sniffer->cookie = cookie;
	return cookie;
}

/*
 * libmagic 5.44, and the regcomp() that it calls, use what they could not
 * allocate and end the program. More than they ever take is tried first.
 */
#define SNIFF_ROOM (1024u * 1024)

static bool has_room(void)
{
	/* Volatile, or the compiler takes both calls for nothing. */
	void *volatile room = malloc(SNIFF_ROOM);
	bool has = room != NULL;

	free(room);
	return has;
}

/* Return: a type that is valid until the next call, or NULL */
static const char *sniff(struct blob_sniffer *sniffer, const void *data,
			 size_t size)
{
	magic_t cookie;

	if (size == 0 || !has_room())
		return NULL;
	cookie = sniffer_load(sniffer);
	if (!cookie)
		return NULL;
	if (size > MEDIA_TYPE_SNIFF_MAX)
		size = MEDIA_TYPE_SNIFF_MAX;
	return magic_buffer(cookie, data, size);
}

void blob_sniff(struct blob_sniffer *sniffer, const void *data, size_t size,
		char ret_type[MEDIA_TYPE_SIZE])
{
	const char *found;

	(void)pthread_mutex_lock(&sniffer->lock);
	found = sniff(sniffer, data, size);
	if (!found || strlen(found) >= MEDIA_TYPE_SIZE)
		found = "";
	strcpy(ret_type, found);
	(void)pthread_mutex_unlock(&sniffer->lock);
}

void blob_sniffer_done(struct blob_sniffer *sniffer)
{
	if (sniffer->cookie)
		magic_close(sniffer->cookie);
	sniffer->cookie = NULL;
}
