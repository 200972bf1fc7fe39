/* SPDX-License-Identifier: Apache-2.0 */
#include "api/inline_file.h"

#include "api/request.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

int inline_file_content(struct request *req, const struct cfile_view *file,
			struct buf *bytes, struct error *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (file->bytes > INLINE_FILE_MAX)
		return error_set(err, ERR_TOO_LARGE,
				 "The file has %llu bytes; more than %d are to "
				 "be downloaded: GET its URL with the API key",
				 (unsigned long long)file->bytes,
				 INLINE_FILE_MAX);
	r = core_cfile_content(req->core, file, &fd, err);
	if (r < 0)
		return r;
	r = fs_read_fd(fd, (size_t)file->bytes, bytes);
	return r < 0 ? error_set_errno(err, r, "Cannot read a file") : 0;
}

int inline_file_read(struct request *req, const char *container,
		     const char *file_id, struct cfile_view *ret,
		     struct buf *bytes, struct error *err)
{
	int r;

	r = core_cfile_get(req->core, &req->who, container, file_id, ret, err);
	return r < 0 ? r : inline_file_content(req, ret, bytes, err);
}

bool inline_file_write(struct request *req, const char *container,
		       const char *file_id, struct json_writer *w,
		       const char *key)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(INLINE_FILE_MAX);
	struct cfile_view file;

	if (inline_file_read(req, container, file_id, &file, &bytes, NULL) < 0)
		return false;
	json_write_base64(w, key, bytes.data, bytes.length);
	return true;
}
