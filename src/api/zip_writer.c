/* SPDX-License-Identifier: Apache-2.0 */
#include "api/zip_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/*
 * @out:	NULL: what is written goes nowhere
 * @utf8:	The library converts names through the locale's character set, and
 *		what has none there gets lost; the daemon's own locale is "C"
 */
struct zip_writer {
	struct archive *archive;
	struct archive_entry *entry;
	struct buf *out;
	locale_t utf8;
};

static la_ssize_t on_write(struct archive *archive, void *userdata,
			   const void *data, size_t size)
{
	struct zip_writer *w = userdata;
	int r;

	if (!w->out)
		return (la_ssize_t)size;
	r = buf_add(w->out, data, size);
	if (r == 0)
		return (la_ssize_t)size;
	archive_set_error(archive, -r, "No room");
	return -1;
}

static int result(int r)
{
	return r >= ARCHIVE_WARN ? 0 : -EIO;
}

static int begin(struct zip_writer *w)
{
	struct archive *archive = w->archive;

	if (archive_write_set_format_zip(archive) != ARCHIVE_OK ||
	    archive_write_zip_set_compression_store(archive) != ARCHIVE_OK ||
	    archive_write_set_options(archive, "zip:hdrcharset=UTF-8") !=
		    ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK)
		return -EIO;
	return result(archive_write_open(archive, w, NULL, on_write, NULL));
}

static void zip_writer_freep(struct zip_writer **w)
{
	zip_writer_free(*w);
}

struct zip_writer *zip_writer_new(struct buf *out)
{
	_cleanup_(zip_writer_freep) struct zip_writer *w = NULL;
	locale_t before;
	int r;

	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->out = out;
	w->archive = archive_write_new();
	w->entry = archive_entry_new();
	w->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!w->archive || !w->entry || !w->utf8)
		return NULL;
	before = uselocale(w->utf8);
	r = begin(w);
	(void)uselocale(before);
	return r == 0 ? take_ptr(w) : NULL;
}

int zip_writer_file(struct zip_writer *w, const char *name, uint64_t bytes,
		    int64_t modified)
{
	locale_t before = uselocale(w->utf8);
	int r;

	archive_entry_clear(w->entry);
	archive_entry_set_pathname_utf8(w->entry, name);
	archive_entry_set_filetype(w->entry, AE_IFREG);
	archive_entry_set_perm(w->entry, 0644);
	archive_entry_set_uid(w->entry, 0);
	archive_entry_set_gid(w->entry, 0);
	archive_entry_set_size(w->entry, (la_int64_t)bytes);
	archive_entry_set_mtime(w->entry, (time_t)modified, 0);
	r = archive_write_header(w->archive, w->entry);
	(void)uselocale(before);
	/* Even a warning: it is about the name. */
	return r == ARCHIVE_OK ? 0 : -EIO;
}

int zip_writer_data(struct zip_writer *w, const void *data, size_t size)
{
	la_ssize_t n = archive_write_data(w->archive, data, size);

	return n == (la_ssize_t)size ? 0 : -EIO;
}

int zip_writer_end(struct zip_writer *w)
{
	return result(archive_write_close(w->archive));
}

void zip_writer_free(struct zip_writer *w)
{
	if (!w)
		return;
	/*
	 * The library now writes the end that may lack. It goes nowhere, but has
	 * to be let: when told to fail, libarchive 3.6 forgets some memory.
	 */
	w->out = NULL;
	if (w->archive)
		(void)archive_write_free(w->archive);
	archive_entry_free(w->entry);
	if (w->utf8)
		freelocale(w->utf8);
	free(w);
}
