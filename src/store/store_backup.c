/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/impl.h"

/* A megabyte at a time: some milliseconds in which no commit goes on. */
#define BACKUP_PAGES 256

static void backup_end(struct backup_job *b)
{
	if (b->backup)
		(void)sqlite3_backup_finish(take_ptr(b->backup));
	db_closep(&b->to);
	b->to = NULL;
}

static int backup_begin(struct backup_job *b)
{
	int r;

	/* What a daemon that was killed left behind. */
	if (unlink(b->path) < 0 && errno != ENOENT)
		return -errno;
	r = db_open(b->path, false, &b->to);
	if (r < 0)
		return r;
	b->backup = sqlite3_backup_init(b->to, "main", writer_db(b->asked.writer),
					"main");
	return b->backup ? 0 : -EIO;
}

/* Return: 1 when it is complete, 0 if there is more to copy */
static int backup_step(struct backup_job *b)
{
	int rc = sqlite3_backup_step(b->backup, BACKUP_PAGES);

	if (rc == SQLITE_DONE)
		return 1;
	return rc == SQLITE_OK ? 0 : db_errno(b->to, rc);
}

/* The copy without its name: nobody has to remove it. */
static int backup_open(struct backup_job *b)
{
	_cleanup_close_ int fd = -1;
	int rc;

	rc = sqlite3_backup_finish(take_ptr(b->backup));
	if (rc != SQLITE_OK)
		return db_errno(b->to, rc);
	backup_end(b);
	fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	b->fd = take_fd(fd);
	return 0;
}

static void backup_run(struct job *job)
{
	struct backup_job *b = JOB_OWNER(job, struct backup_job, asked.job);
	int r = b->backup ? 0 : backup_begin(b);

	if (r >= 0)
		r = backup_step(b);
	b->more = r == 0;
	if (r > 0)
		r = backup_open(b);
	b->asked.result = r;
	if (b->more)
		return;
	backup_end(b);
	(void)unlink(b->path);
}

static void backup_done(struct job *job)
{
	struct backup_job *b = JOB_OWNER(job, struct backup_job, asked.job);
	struct store *store = JOB_OWNER(b, struct store, copy);

	/* Behind the commits that have gathered meanwhile. */
	if (b->more) {
		(void)worker_submit(store->worker, &b->asked.job);
		return;
	}
	b->asked.busy = false;
	b->done(b->asked.userdata, b->asked.result, take_fd(b->fd));
}

int store_backup(struct store *store, store_backup_fn *done, void *userdata)
{
	struct backup_job *b = &store->copy;

	if (b->asked.busy)
		return -EBUSY;
	*b = (struct backup_job){
		.path = store->backup_path,
		.fd = -1,
		.done = done,
	};
	return store_job_begin(store, &b->asked, backup_run, backup_done,
			       userdata);
}
