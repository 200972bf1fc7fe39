/* SPDX-License-Identifier: Apache-2.0 */
#include <magic.h>

#include "store/blob_impl.h"

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

const char *blob_sniff(struct blob_sniffer *sniffer, const void *data,
		       size_t size)
{
	magic_t cookie = sniffer_load(sniffer);

	if (!cookie || size == 0)
		return NULL;
	if (size > MEDIA_TYPE_SNIFF_MAX)
		size = MEDIA_TYPE_SNIFF_MAX;
	return magic_buffer(cookie, data, size);
}

void blob_sniffer_done(struct blob_sniffer *sniffer)
{
	if (sniffer->cookie)
		magic_close(sniffer->cookie);
	sniffer->cookie = NULL;
}
