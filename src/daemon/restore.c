#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/settings.h"
#include "daemon/configure.h"
#include "daemon/daemon.h"
#include "daemon/dev.h"
#include "daemon/restore.h"
#include "daemon/user.h"
#include "store/store_restore.h"

/**
 * struct backup - What was opened by the first user, who can
 * @blobs:	-1 if there is no such directory
 */
struct backup {
	int database;
	int blobs;
};

static void backup_done(struct backup *b)
{
	close_fd(&b->database);
	close_fd(&b->blobs);
}

/* The last commits of such a copy are in the log, or are not. */
static int check_log(int dir, const char *path, struct error *err)
{
	struct stat st;

	if (fstatat(dir, DAEMON_DATABASE "-wal", &st, AT_SYMLINK_NOFOLLOW) <
		    0 ||
	    st.st_size == 0)
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "'%s' has a 'db.sqlite-wal', so it is a copy of a "
			 "directory in use and no backup: 'cupolactl backup' "
			 "makes the database's copy",
			 path);
}

static int open_backup(const char *path, struct backup *b, struct error *err)
{
	_cleanup_close_ int dir = -1;
	int r;

	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_set_errno(err, -errno, "Cannot open '%s'", path);
	r = check_log(dir, path, err);
	if (r < 0)
		return r;
	b->database = openat(dir, DAEMON_DATABASE,
			     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (b->database < 0)
		return error_set_errno(err, -errno,
				       "Cannot open '%s/" DAEMON_DATABASE "'",
				       path);
	b->blobs = fs_open_dir(dir, DAEMON_BLOBS);
	if (b->blobs < 0 && b->blobs != -ENOENT)
		return error_set_errno(err, b->blobs,
				       "Cannot open '%s/" DAEMON_BLOBS "'",
				       path);
	return 0;
}

/* What is made must be the daemon's, whoever makes it. */
static int become_owner(const char *dir, struct error *err)
{
	const struct passwd *user;
	struct stat st;
	int r;

	if (geteuid() != 0)
		return 0;
	if (stat(dir, &st) < 0)
		return error_set_errno(err, -errno,
				       "Cannot use the directory '%s'", dir);
	user = st.st_uid != 0 ? getpwuid(st.st_uid) : NULL;
	if (!user)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' belongs to no user that cupolad could "
				 "run as: give it to that user first",
				 dir);
	r = user_become(user);
	if (r < 0)
		return error_set_errno(err, r, "Cannot become user %d",
				       (int)st.st_uid);
	return 0;
}

static int put_in_place(struct daemon *d, const struct backup *b,
			struct store_restored *ret, struct error *err)
{
	char database[DAEMON_PATH_SIZE], blobs[DAEMON_PATH_SIZE];
	const struct store_restore_spec spec = {
		.event = d->event,
		.path = database,
		.blobs = blobs,
		.free_floor_bytes =
			settings_bytes(d->settings, "host", "disk_reserve"),
		.from_database = b->database,
		.from_blobs = b->blobs,
		.replace = d->options.replace,
	};

	daemon_path(d, DAEMON_DATABASE, database);
	daemon_path(d, DAEMON_BLOBS, blobs);
	return store_restore(&spec, ret, err);
}

static void report(const struct daemon *d, const struct store_restored *done)
{
	if (done->missing > 0)
		log_warning(NULL, 0,
			    "%llu contents that the backup names are "
			    "not in it: they had been deleted before "
			    "they were copied, or were not copied",
			    (unsigned long long)done->missing);
	printf("Restored '%s' from '%s': a database of version %d, with %llu "
	       "contents copied and %llu that were there\n",
	       d->dir, d->options.restore, done->version,
	       (unsigned long long)done->copied,
	       (unsigned long long)done->present);
}

int restore_run(struct daemon *d, struct error *err)
{
	_cleanup_(backup_done) struct backup b = { -1, -1 };
	struct store_restored done;
	int r;

	(void)umask(077);
	r = open_backup(d->options.restore, &b, err);
	if (r >= 0)
		r = configure_directory(d, err);
	if (r >= 0)
		r = d->development ? dev_become_user(d->dir, err) :
				     become_owner(d->dir, err);
	if (r >= 0)
		r = configure_lock(d, err);
	if (r < 0)
		return r;
	r = sd_event_new(&d->event);
	if (r < 0)
		return error_set_errno(err, r, "Cannot make the event loop");
	r = put_in_place(d, &b, &done, err);
	if (r >= 0)
		report(d, &done);
	return r;
}
