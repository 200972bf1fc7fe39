/* SPDX-License-Identifier: Apache-2.0 */
#include "api/inline_file.h"

#include <errno.h>
#include <unistd.h>

#include "api/request.h"
#include "base/buf.h"
#include "base/cleanup.h"

static int read_all(int fd, size_t size, struct buf *ret)
{
	while (ret->length < size) {
		void *room;
		ssize_t n;
		int r;

		r = buf_reserve(ret, size - ret->length, &room);
		if (r < 0)
			return r;
		n = read(fd, room, size - ret->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		buf_commit(ret, (size_t)n);
	}
	return 0;
}

bool inline_file_write(struct request *req, const char *container,
		       const char *file_id, struct json_writer *w,
		       const char *key)
{
	_cleanup_(buf_done) struct buf bytes = BUF_INIT(INLINE_FILE_MAX);
	_cleanup_close_ int fd = -1;
	struct cfile_view file;

	if (core_cfile_open(req->core, &req->who, container, file_id, &file,
			    &fd, NULL) < 0 ||
	    file.bytes > INLINE_FILE_MAX ||
	    read_all(fd, (size_t)file.bytes, &bytes) < 0)
		return false;
	json_write_base64(w, key, bytes.data, bytes.length);
	return true;
}
