/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/name.h"
#include "turn/item_private.h"

/*
 * The parts of a message: text, images and files.
 *
 * Nothing is fetched for a client. Where an image is, is told to the model's
 * server, which may fetch it; a file that is only an address is refused.
 */

static const char *const details[] = { "auto", "low", "high", "original",
				       NULL };

typedef int read_fn(const struct item_reading *reading,
		    const struct json_object *part, const char *path,
		    struct error *err);

/* --------------------------------------------------------- what a model said */

static int check_annotation(const struct json_object *annotation,
			    const char *path, struct error *err)
{
	static const char *const words[] = { "container_file_citation",
					     "file_citation", "file_path",
					     "url_citation", NULL };
	static const struct json_field table[] = {
		{ .name = "type", .kind = JSON_STRING, .required = true,
		  .choices = words },
	};
	struct json_string type;

	return json_read_fields(annotation, path, table, 1,
				JSON_UNKNOWN_IGNORED, &type, err);
}

static int check_annotations(const struct json_object *annotations,
			     const char *path, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < json_array_size(annotations); i++)
		r = check_annotation(json_array_at(annotations, i),
				     item_place_at(path, i).path, err);
	return r;
}

struct text_fields {
	struct json_string text;
	struct json_object *annotations;
	struct json_object *logprobs;
};

static int read_output_text(const struct item_reading *reading,
			    const struct json_object *part, const char *path,
			    struct error *err)
{
	static const struct json_field table[] = {
		JSON_STRING_FIELD("text", struct text_fields, text,
				  .required = true, .text = true),
		JSON_ARRAY_FIELD("annotations", struct text_fields,
				 annotations),
		JSON_ARRAY_FIELD("logprobs", struct text_fields, logprobs),
	};
	struct text_fields f = { .annotations = NULL };
	struct json_writer *w = reading->w;
	int r;

	r = json_read_fields(part, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r >= 0)
		r = check_annotations(f.annotations,
				      item_place(path, "annotations").path,
				      err);
	if (r < 0)
		return r;
	json_write_bytes(w, "text", f.text.data, f.text.length);
	json_write_array(w, "annotations");
	for (size_t i = 0; i < json_array_size(f.annotations); i++)
		json_write_value(w, NULL, json_array_at(f.annotations, i));
	json_write_close(w);
	json_write_array(w, "logprobs");
	for (size_t i = 0; i < json_array_size(f.logprobs); i++)
		json_write_value(w, NULL, json_array_at(f.logprobs, i));
	json_write_close(w);
	return 0;
}

static int read_one_text(const struct item_reading *reading, const char *key,
			 const struct json_object *part, const char *path,
			 struct error *err)
{
	const struct json_field table[] = {
		{ .name = key, .kind = JSON_STRING, .required = true,
		  .text = true },
	};
	struct json_string text = { .data = NULL };
	int r;

	r = json_read_fields(part, path, table, 1, JSON_UNKNOWN_IGNORED, &text,
			     err);
	if (r >= 0)
		json_write_bytes(reading->w, key, text.data, text.length);
	return r;
}

static int read_refusal(const struct item_reading *reading,
			const struct json_object *part, const char *path,
			struct error *err)
{
	return read_one_text(reading, "refusal", part, path, err);
}

/* ------------------------------------------------------ what a model is given */

static int read_input_text(const struct item_reading *reading,
			   const struct json_object *part, const char *path,
			   struct error *err)
{
	return read_one_text(reading, "text", part, path, err);
}

/* The tenant's, and there now. */
static int check_file(const struct item_reading *reading, const char *id,
		      const char *path, struct error *err)
{
	struct file_view file;
	int r;

	r = core_file_get(reading->core, reading->who, id, &file, err);
	if (r < 0)
		error_move_param(err, "%s", item_place(path, "file_id").path);
	return r;
}

static bool begins(struct json_string s, const char *with)
{
	return s.length >= strlen(with) &&
	       strncasecmp(s.data, with, strlen(with)) == 0;
}

static int check_image_url(struct json_string url, const char *path,
			   struct error *err)
{
	if (strlen(url.data) == url.length &&
	    (begins(url, "https://") || begins(url, "http://") ||
	     begins(url, "data:image/")))
		return 0;
	return item_refuse(err, item_place(path, "image_url").path,
			   "it must be an http or https URL, or a data URL of "
			   "an image");
}

struct image_fields {
	struct json_string image_url;
	struct json_string file_id;
	struct json_string detail;
};

static int check_image(const struct item_reading *reading,
		       const struct image_fields *f, const char *path,
		       struct error *err)
{
	if (!f->image_url.data == !f->file_id.data)
		return item_refuse(err, path,
				   "an input_image needs either 'image_url' or "
				   "'file_id'");
	return f->file_id.data ?
		       check_file(reading, f->file_id.data, path, err) :
		       check_image_url(f->image_url, path, err);
}

static int read_input_image(const struct item_reading *reading,
			    const struct json_object *part, const char *path,
			    struct error *err)
{
	static const struct json_field table[] = {
		JSON_STRING_FIELD("image_url", struct image_fields, image_url),
		JSON_STRING_FIELD("file_id", struct image_fields, file_id,
				  .min = 1, .max = ID_MAX),
		JSON_STRING_FIELD("detail", struct image_fields, detail,
				  .choices = details),
	};
	struct image_fields f = { .detail = { .data = NULL } };
	int r;

	r = json_read_fields(part, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r >= 0)
		r = check_image(reading, &f, path, err);
	if (r < 0)
		return r;
	if (f.image_url.data)
		json_write_bytes(reading->w, "image_url", f.image_url.data,
				 f.image_url.length);
	else
		json_write_string(reading->w, "file_id", f.file_id.data);
	json_write_string(reading->w, "detail",
			  f.detail.data ? f.detail.data : "auto");
	return 0;
}

struct file_fields {
	struct json_string file_id;
	struct json_string file_data;
	struct json_string file_url;
	struct json_string filename;
};

static int check_file_data(const struct file_fields *f, const char *path,
			   struct error *err)
{
	int r;

	if (!begins(f->file_data, "data:") ||
	    !strstr(f->file_data.data, ";base64,"))
		return item_refuse(err, item_place(path, "file_data").path,
				   "it must be a data URL in base64");
	if (!f->filename.data) {
		r = error_set(err, ERR_BAD_REQUEST,
			      "Missing required parameter: '%s'",
			      item_place(path, "filename").path);
		error_set_reason(err, "missing_required_parameter");
	} else {
		r = name_check_file(f->filename.data, f->filename.length, err);
	}
	if (r < 0)
		error_set_param(err, "%s", item_place(path, "filename").path);
	return r;
}

static int check_input_file(const struct item_reading *reading,
			    const struct file_fields *f, const char *path,
			    struct error *err)
{
	if (f->file_url.data)
		return item_refuse(err, item_place(path, "file_url").path,
				   "files are not fetched from elsewhere: send "
				   "it as 'file_data', or upload it and give "
				   "its 'file_id'");
	if (!f->file_id.data == !f->file_data.data)
		return item_refuse(err, path,
				   "an input_file needs either 'file_id' or "
				   "'file_data'");
	return f->file_id.data ?
		       check_file(reading, f->file_id.data, path, err) :
		       check_file_data(f, path, err);
}

static int read_input_file(const struct item_reading *reading,
			   const struct json_object *part, const char *path,
			   struct error *err)
{
	static const struct json_field table[] = {
		JSON_STRING_FIELD("file_id", struct file_fields, file_id,
				  .min = 1, .max = ID_MAX),
		JSON_STRING_FIELD("file_data", struct file_fields, file_data),
		JSON_STRING_FIELD("file_url", struct file_fields, file_url),
		JSON_STRING_FIELD("filename", struct file_fields, filename),
	};
	struct file_fields f = { .filename = { .data = NULL } };
	int r;

	r = json_read_fields(part, path, table,
			     sizeof(table) / sizeof(table[0]),
			     JSON_UNKNOWN_IGNORED, &f, err);
	if (r >= 0)
		r = check_input_file(reading, &f, path, err);
	if (r < 0)
		return r;
	if (f.file_id.data) {
		json_write_string(reading->w, "file_id", f.file_id.data);
		return 0;
	}
	json_write_bytes(reading->w, "filename", f.filename.data,
			 f.filename.length);
	json_write_bytes(reading->w, "file_data", f.file_data.data,
			 f.file_data.length);
	return 0;
}

/* ------------------------------------------------------------------- all of them */

static const struct {
	const char *word;
	enum item_parts which;
	read_fn *read;
} parts_known[] = {
	{ "input_text", ITEM_PARTS_GIVEN, read_input_text },
	{ "input_image", ITEM_PARTS_GIVEN, read_input_image },
	{ "input_file", ITEM_PARTS_GIVEN, read_input_file },
	{ "output_text", ITEM_PARTS_SAID, read_output_text },
	{ "refusal", ITEM_PARTS_SAID, read_refusal },
};

static int read_type(const struct json_object *part, const char *path,
		     struct json_string *ret, struct error *err)
{
	static const struct json_field table[] = {
		{ .name = "type", .kind = JSON_STRING, .required = true },
	};

	return json_read_fields(part, path, table, 1, JSON_UNKNOWN_IGNORED, ret,
				err);
}

static int read_part(const struct item_reading *reading,
		     const struct json_object *part, const char *path,
		     enum item_parts which, struct error *err)
{
	struct json_string type = { .data = NULL };
	size_t i;
	int r;

	r = read_type(part, path, &type, err);
	if (r < 0)
		return r;
	for (i = 0; i < sizeof(parts_known) / sizeof(parts_known[0]); i++) {
		if (parts_known[i].which != which ||
		    !item_string_is(type, parts_known[i].word))
			continue;
		json_write_object(reading->w, NULL);
		json_write_string(reading->w, "type", type.data);
		r = parts_known[i].read(reading, part, path, err);
		json_write_close(reading->w);
		return r;
	}
	return item_refuse(err, item_place(path, "type").path,
			   "it is '%.64s' and must be one of %s", type.data,
			   which == ITEM_PARTS_GIVEN ?
				   "'input_text', 'input_image', 'input_file'" :
				   "'output_text', 'refusal'");
}

static void write_text_part(struct json_writer *w, struct json_string text,
			    enum item_parts which)
{
	bool said = which == ITEM_PARTS_SAID;

	json_write_object(w, NULL);
	json_write_string(w, "type", said ? "output_text" : "input_text");
	json_write_bytes(w, "text", text.data, text.length);
	if (said) {
		json_write_array(w, "annotations");
		json_write_close(w);
		json_write_array(w, "logprobs");
		json_write_close(w);
	}
	json_write_close(w);
}

static int read_array(const struct item_reading *reading,
		      const struct json_object *parts, const char *path,
		      enum item_parts which, struct error *err)
{
	size_t count = json_array_size(parts), i;
	int r = 0;

	if (count > ITEM_PARTS_MAX) {
		r = error_set(err, ERR_BAD_REQUEST,
			      "Invalid '%s': it has %zu parts, at most %d are "
			      "allowed",
			      path, count, ITEM_PARTS_MAX);
		error_set_param(err, "%s", path);
		error_set_reason(err, "array_above_max_length");
		return r;
	}
	for (i = 0; r >= 0 && i < count; i++)
		r = read_part(reading, json_array_at(parts, i),
			      item_place_at(path, i).path, which, err);
	return r;
}

int item_parts_read(const struct item_reading *reading,
		    const struct json_object *parts, const char *key,
		    const char *path, enum item_parts which, struct error *err)
{
	int r = 0;

	json_write_array(reading->w, key);
	switch (json_kind_of(parts)) {
	case JSON_STRING:
		write_text_part(reading->w, json_string_of(parts), which);
		break;
	case JSON_ARRAY:
		r = read_array(reading, parts, path, which, err);
		break;
	case JSON_NULL:
		r = error_set(err, ERR_BAD_REQUEST,
			      "Missing required parameter: '%s'", path);
		error_set_param(err, "%s", path);
		error_set_reason(err, "missing_required_parameter");
		break;
	default:
		r = error_set(err, ERR_BAD_REQUEST,
			      "Invalid type for '%s': expected a string or an "
			      "array of parts, but got %s instead",
			      path, json_kind_name(json_kind_of(parts)));
		error_set_param(err, "%s", path);
		error_set_reason(err, "invalid_type");
	}
	json_write_close(reading->w);
	return r;
}
