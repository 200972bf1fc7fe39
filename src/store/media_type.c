/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "store/media_type.h"

/*
 * Coarse enough that libmagic does not get it wrong: JSON, CSV and source
 * code are all text to it, and office documents are all archives.
 */
enum media_class {
	CLASS_TEXT,
	CLASS_IMAGE,
	CLASS_AUDIO,
	CLASS_VIDEO,
	CLASS_BINARY,
};

static const struct {
	const char *extension;
	const char *type;
	enum media_class class;
} known[] = {
	{ "bmp", "image/bmp", CLASS_IMAGE },
	{ "bz2", "application/x-bzip2", CLASS_BINARY },
	{ "c", "text/x-c", CLASS_TEXT },
	{ "cpp", "text/x-c++", CLASS_TEXT },
	{ "css", "text/css", CLASS_TEXT },
	{ "csv", "text/csv", CLASS_TEXT },
	{ "docx",
	  "application/vnd.openxmlformats-officedocument."
	  "wordprocessingml.document",
	  CLASS_BINARY },
	{ "feather", "application/vnd.apache.arrow.file", CLASS_BINARY },
	{ "gif", "image/gif", CLASS_IMAGE },
	{ "gz", "application/gzip", CLASS_BINARY },
	{ "h5", "application/x-hdf5", CLASS_BINARY },
	{ "html", "text/html", CLASS_TEXT },
	{ "htm", "text/html", CLASS_TEXT },
	{ "ipynb", "application/x-ipynb+json", CLASS_TEXT },
	{ "java", "text/x-java", CLASS_TEXT },
	{ "jpeg", "image/jpeg", CLASS_IMAGE },
	{ "jpg", "image/jpeg", CLASS_IMAGE },
	{ "js", "text/javascript", CLASS_TEXT },
	{ "json", "application/json", CLASS_TEXT },
	{ "jsonl", "application/jsonl", CLASS_TEXT },
	{ "log", "text/plain", CLASS_TEXT },
	{ "md", "text/markdown", CLASS_TEXT },
	{ "mp3", "audio/mpeg", CLASS_AUDIO },
	{ "mp4", "video/mp4", CLASS_VIDEO },
	{ "npy", "application/octet-stream", CLASS_BINARY },
	{ "ods", "application/vnd.oasis.opendocument.spreadsheet",
	  CLASS_BINARY },
	{ "parquet", "application/vnd.apache.parquet", CLASS_BINARY },
	{ "pdf", "application/pdf", CLASS_BINARY },
	{ "php", "text/x-php", CLASS_TEXT },
	{ "pkl", "application/octet-stream", CLASS_BINARY },
	{ "png", "image/png", CLASS_IMAGE },
	{ "pptx",
	  "application/vnd.openxmlformats-officedocument."
	  "presentationml.presentation",
	  CLASS_BINARY },
	{ "py", "text/x-python", CLASS_TEXT },
	{ "rb", "text/x-ruby", CLASS_TEXT },
	{ "sh", "text/x-sh", CLASS_TEXT },
	{ "sql", "application/sql", CLASS_TEXT },
	{ "sqlite", "application/vnd.sqlite3", CLASS_BINARY },
	{ "svg", "image/svg+xml", CLASS_TEXT },
	{ "tar", "application/x-tar", CLASS_BINARY },
	{ "tex", "text/x-tex", CLASS_TEXT },
	{ "tif", "image/tiff", CLASS_IMAGE },
	{ "tiff", "image/tiff", CLASS_IMAGE },
	{ "ts", "text/typescript", CLASS_TEXT },
	{ "tsv", "text/tab-separated-values", CLASS_TEXT },
	{ "txt", "text/plain", CLASS_TEXT },
	{ "wav", "audio/x-wav", CLASS_AUDIO },
	{ "webp", "image/webp", CLASS_IMAGE },
	{ "xls", "application/vnd.ms-excel", CLASS_BINARY },
	{ "xlsx",
	  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	  CLASS_BINARY },
	{ "xml", "application/xml", CLASS_TEXT },
	{ "yaml", "application/yaml", CLASS_TEXT },
	{ "yml", "application/yaml", CLASS_TEXT },
	{ "zip", "application/zip", CLASS_BINARY },
	{ "zst", "application/zstd", CLASS_BINARY },
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

static enum media_class class_of(const char *found)
{
	if (is_text(found))
		return CLASS_TEXT;
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
