/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/media_type.h"

/*
 * Coarse enough that libmagic does not get it wrong: JSON, CSV and source
 * code are all text to it, and office documents are all archives.
 */
enum media_class {
	CLASS_TEXT,
	CLASS_IMAGE,
	CLASS_AUDIO,
	CLASS_VIDEO,
	CLASS_PDF,
	CLASS_TAR,
	CLASS_ZIP,		/* and what is made of it */
	CLASS_BINARY,
};

static const struct {
	const char *extension;
	const char *type;
	enum media_class class;
	bool input;		/* the hosted service takes it */
} known[] = {
	{ "bmp", "image/bmp", CLASS_IMAGE, false },
	{ "bz2", "application/x-bzip2", CLASS_BINARY, false },
	{ "c", "text/x-c", CLASS_TEXT, true },
	{ "cpp", "text/x-c++", CLASS_TEXT, true },
	{ "css", "text/css", CLASS_TEXT, true },
	{ "csv", "application/csv", CLASS_TEXT, true },
	{ "docx",
	  "application/vnd.openxmlformats-officedocument."
	  "wordprocessingml.document",
	  CLASS_ZIP, true },
	{ "feather", "application/vnd.apache.arrow.file", CLASS_BINARY, false },
	{ "gif", "image/gif", CLASS_IMAGE, true },
	{ "gz", "application/gzip", CLASS_BINARY, false },
	{ "h5", "application/x-hdf5", CLASS_BINARY, false },
	{ "html", "text/html", CLASS_TEXT, true },
	{ "htm", "text/html", CLASS_TEXT, false },
	{ "ipynb", "application/x-ipynb+json", CLASS_TEXT, false },
	{ "java", "text/x-java", CLASS_TEXT, true },
	{ "jpeg", "image/jpeg", CLASS_IMAGE, true },
	{ "jpg", "image/jpeg", CLASS_IMAGE, true },
	{ "js", "text/javascript", CLASS_TEXT, true },
	{ "json", "application/json", CLASS_TEXT, true },
	{ "jsonl", "application/jsonl", CLASS_TEXT, false },
	{ "log", "text/plain", CLASS_TEXT, false },
	{ "md", "text/markdown", CLASS_TEXT, true },
	{ "mp3", "audio/mpeg", CLASS_AUDIO, false },
	{ "mp4", "video/mp4", CLASS_VIDEO, false },
	{ "npy", "application/octet-stream", CLASS_BINARY, false },
	{ "ods", "application/vnd.oasis.opendocument.spreadsheet",
	  CLASS_ZIP, false },
	{ "parquet", "application/vnd.apache.parquet", CLASS_BINARY, false },
	{ "pdf", "application/pdf", CLASS_PDF, true },
	{ "php", "text/x-php", CLASS_TEXT, true },
	{ "pkl", "application/octet-stream", CLASS_BINARY, false },
	{ "png", "image/png", CLASS_IMAGE, true },
	{ "pptx",
	  "application/vnd.openxmlformats-officedocument."
	  "presentationml.presentation",
	  CLASS_ZIP, true },
	{ "py", "text/x-python", CLASS_TEXT, true },
	{ "rb", "text/x-ruby", CLASS_TEXT, true },
	{ "sh", "text/x-sh", CLASS_TEXT, false },
	{ "sql", "application/sql", CLASS_TEXT, false },
	{ "sqlite", "application/vnd.sqlite3", CLASS_BINARY, false },
	{ "svg", "image/svg+xml", CLASS_TEXT, false },
	{ "tar", "application/x-tar", CLASS_TAR, true },
	{ "tex", "text/x-tex", CLASS_TEXT, true },
	{ "tif", "image/tiff", CLASS_IMAGE, false },
	{ "tiff", "image/tiff", CLASS_IMAGE, false },
	{ "ts", "application/typescript", CLASS_TEXT, true },
	{ "tsv", "text/tab-separated-values", CLASS_TEXT, false },
	{ "txt", "text/plain", CLASS_TEXT, true },
	{ "wav", "audio/x-wav", CLASS_AUDIO, false },
	{ "webp", "image/webp", CLASS_IMAGE, false },
	{ "xls", "application/vnd.ms-excel", CLASS_BINARY, false },
	{ "xlsx",
	  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	  CLASS_ZIP, true },
	{ "xml", "application/xml", CLASS_TEXT, true },
	{ "yaml", "application/yaml", CLASS_TEXT, false },
	{ "yml", "application/yaml", CLASS_TEXT, false },
	{ "zip", "application/zip", CLASS_ZIP, true },
	{ "zst", "application/zstd", CLASS_BINARY, false },
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

/* Index into known[], or KNOWN_COUNT. */
static size_t known_find(const char *name)
{
	const char *base = strrchr(name, '/');
	const char *dot;
	size_t i;

	base = base ? base + 1 : name;
	dot = strrchr(base, '.');
	/* ".csv" is a hidden file without an extension. */
	if (!dot || dot == base)
		return KNOWN_COUNT;
	for (i = 0; i < KNOWN_COUNT; i++)
		if (strcasecmp(dot + 1, known[i].extension) == 0)
			return i;
	return KNOWN_COUNT;
}

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Text that libmagic files under other headings. */
static bool is_text(const char *found)
{
	static const char *const also[] = {
		"application/json",
		"application/javascript",
		"application/xml",
		"application/x-ndjson",
		"application/x-wine-extension-ini",
		"image/svg+xml",
		"message/",
	};
	size_t i;

	if (has_prefix(found, "text/"))
		return true;
	for (i = 0; i < sizeof(also) / sizeof(also[0]); i++)
		if (has_prefix(found, also[i]))
			return true;
	return false;
}

/* Zip archives, and the kinds of documents that are. */
static bool is_zip(const char *found)
{
	static const char *const kinds[] = {
		"application/zip",
		"application/epub+zip",
		"application/java-archive",
		"application/vnd.oasis.opendocument.",
		"application/vnd.openxmlformats-officedocument.",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (has_prefix(found, kinds[i]))
			return true;
	return false;
}

static enum media_class class_of(const char *found)
{
	if (is_text(found))
		return CLASS_TEXT;
	if (is_zip(found))
		return CLASS_ZIP;
	if (strcmp(found, "application/pdf") == 0)
		return CLASS_PDF;
	if (strcmp(found, "application/x-tar") == 0)
		return CLASS_TAR;
	if (has_prefix(found, "image/"))
		return CLASS_IMAGE;
	if (has_prefix(found, "audio/"))
		return CLASS_AUDIO;
	if (has_prefix(found, "video/"))
		return CLASS_VIDEO;
	return CLASS_BINARY;
}

/* What libmagic answers when it has no opinion is no contradiction. */
static bool is_opinion(const char *found)
{
	return found && strcmp(found, "application/octet-stream") != 0 &&
	       !has_prefix(found, "inode/");
}

const char *media_type_of_name(const char *name)
{
	size_t i = known_find(name);

	return i < KNOWN_COUNT ? known[i].type : NULL;
}

const char *media_type_decide(const char *name, const char *found)
{
	size_t i = name ? known_find(name) : KNOWN_COUNT;

	if (!is_opinion(found))
		return i < KNOWN_COUNT ? known[i].type :
					 "application/octet-stream";
	if (i < KNOWN_COUNT && known[i].class == class_of(found))
		return known[i].type;
	return found;
}

bool media_type_is_input(const char *name)
{
	size_t i = known_find(name);

	return i < KNOWN_COUNT && known[i].input;
}

int media_type_inputs(struct buf *b)
{
	const char *separator = "";
	size_t i;
	int r = 0;

	for (i = 0; i < KNOWN_COUNT && r == 0; i++) {
		if (!known[i].input)
			continue;
		r = buf_printf(b, "%s.%s", separator, known[i].extension);
		separator = " ";
	}
	return r;
}
