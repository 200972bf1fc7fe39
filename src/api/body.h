/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_BODY_H
#define API_BODY_H

/*
 * Where the bytes of a request's body go: JSON is collected up to its limit,
 * the parts of a form are either small fields, which are kept, or the file,
 * which streams on to core. So memory does not depend on what is uploaded.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/multipart.h"
#include "api/router.h"
#include "base/buf.h"
#include "base/error.h"
#include "core/core.h"

enum {
	BODY_FIELDS_MAX = 32,
	BODY_FIELD_BYTES_MAX = 4096,
	/* By how much heads and fields may make a form larger than its file. */
	BODY_FORM_OVERHEAD = 256 << 10,
	/* What any JSON body may take, and the values it becomes, too. What all
	 * take together beyond that is bounded by listen.json_memory, and what
	 * one tenant takes by half of it: many slow clients must not fill the
	 * memory. */
	BODY_JSON_FREE = 64 << 10,
};

/** struct body_field - A plain field of a form; both strings are owned */
struct body_field {
	char *name;
	char *value;
};

/**
 * struct body - A body being received
 * @is_form:	It is multipart/form-data
 * @json:	Bytes of another body
 * @field:	The form's plain fields, in the order they came
 * @upload:	Bytes of the file; NULL if it was not there (yet)
 * @filename:	Base name of the file, checked
 */
struct body {
	bool is_form;
	struct buf json;
	struct body_field field[BODY_FIELDS_MAX];
	size_t fields;
	struct core_upload *upload;
	char *filename;

	/* Private to body.c. */
	struct multipart *form;
	struct buf value;		/* of the field being read */
	uint64_t form_bytes;
	uint64_t file_bytes;
	uint64_t *charged_to;		/* NULL: nothing was */
	uint64_t charged;
	enum { PART_FIELD, PART_FILE } part;
};

/**
 * body_begin() - The head is there: is this body wanted, and where does it go
 * @req:	Routed and authenticated; owner of its body
 *
 * Return: 0; ERR_MEDIA_TYPE; ERR_TOO_LARGE by the length that was announced;
 * what core_upload_new() says
 */
int body_begin(struct request *req, struct error *err);

/**
 * body_feed() - Take bytes
 * @ret_used:	How many were taken
 *
 * Return: 0 when all were; -EAGAIN, @err untouched, when the rest must wait
 * until core calls back that there is room; or a negative errno, which may be
 * -EAGAIN too, with @err: ERR_CAPACITY when large JSON bodies take too much
 * memory together
 */
int body_feed(struct request *req, const char *data, size_t size,
	      size_t *ret_used, struct error *err);

/**
 * body_charge_values() - Count the values that a JSON body became
 *
 * Written shortly they take a hundred times as much memory as their text.
 * Return: 0 or ERR_CAPACITY, as body_feed() says
 */
int body_charge_values(struct request *req, size_t values, struct error *err);

/** body_end() - Check, at its end, that it was complete */
int body_end(struct request *req, struct error *err);

/** body_field() - A plain field's value; NULL if there is none */
const char *body_field(const struct body *body, const char *name);

void body_done(struct body *body);

#endif
