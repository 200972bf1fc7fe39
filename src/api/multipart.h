/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MULTIPART_H
#define API_MULTIPART_H

/*
 * multipart/form-data, as it arrives.
 *
 * libmicrohttpd's post processor is not used: it knows neither "filename*" nor
 * escaped quotes, and it insists on taking every byte it is given, while a
 * receiver that writes to a disk must be able to say "not now". This parser
 * holds no content at all: what it has seen of a possible delimiter is a prefix
 * of the delimiter, so it need not be stored.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	MULTIPART_PARTS_MAX = 64,
	MULTIPART_HEAD_MAX = 4096,	/* bytes of one part's header lines */
	MULTIPART_NAME_MAX = 1024,	/* bytes of a name, encoded */
};

struct multipart;

/**
 * struct multipart_part - What a part says about itself
 * @name:	Field, as in "purpose" or "expires_after[seconds]"
 * @filename:	As the client wrote it, decoded; NULL for a plain field
 * @type:	Its Content-Type, or NULL
 */
struct multipart_part {
	const char *name;
	const char *filename;
	const char *type;
};

/**
 * struct multipart_sink - Who receives the parts
 * @begin:	A part begins; what it points to is valid until the call returns
 * @data:	Bytes of it; may answer -EAGAIN and has then taken nothing
 * @end:	It is complete
 *
 * All return 0 or a negative errno, which ends the parsing, with @err filled in
 * unless it is -EAGAIN.
 */
struct multipart_sink {
	int (*begin)(void *userdata, const struct multipart_part *part,
		     struct error *err);
	int (*data)(void *userdata, const void *data, size_t size,
		    struct error *err);
	int (*end)(void *userdata, struct error *err);
};

/**
 * multipart_new() - Begin to parse a body
 * @content_type: The request's, with its boundary
 * @sink:	Must outlive the parser
 */
int multipart_new(const char *content_type, const struct multipart_sink *sink,
		  void *userdata, struct multipart **ret, struct error *err);

/**
 * multipart_feed() - Parse the next bytes
 * @ret_used:	How many were taken, set in all cases
 *
 * Return: 0 when all were taken; -EAGAIN when the sink wants to be asked again
 * later with the rest; another negative errno with @err when it is over
 */
int multipart_feed(struct multipart *m, const void *data, size_t size,
		   size_t *ret_used, struct error *err);

/** multipart_finish() - Check, at the end of the body, that it was complete */
int multipart_finish(const struct multipart *m, struct error *err);

void multipart_free(struct multipart *m);
void multipart_freep(struct multipart **m);

#endif
