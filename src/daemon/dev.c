#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "daemon/dev.h"
#include "daemon/user.h"

#define USER_ADD                                                      \
	"run contrib/install-deps, or useradd --system --user-group " \
	"--groups kvm --no-create-home --home-dir /var/lib/cupola "   \
	"--shell /usr/sbin/nologin " DEV_USER

static const struct passwd *find_user(struct error *err)
{
	const struct passwd *user;

	errno = 0;
	user = getpwnam(DEV_USER);
	if (!user)
		error_set(err, ERR_INTERNAL,
			  "User '" DEV_USER "' is missing: " USER_ADD);
	return user;
}

/* Directories that a daemon makes here, or that a user may put here for it. */
static bool is_ours(const char *name)
{
	static const char *const names[] = {
		".",      "..",      ".cache",     "blobs", "cupola.sock",
		"images", "libvirt", "lost+found", "vm",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A foreign directory inside means that this is the home of something else. */
static int check_contents(int fd, const char *dir, struct error *err)
{
	_cleanup_(closedirp) DIR *list = NULL;
	const struct dirent *entry;
	struct stat st;
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	list = again < 0 ? NULL : fdopendir(again);
	if (!list) {
		close_fd(&again);
		return error_set_errno(err, -errno, "Cannot read '%s'", dir);
	}
	while ((entry = readdir(list))) {
		if (is_ours(entry->d_name))
			continue;
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			continue;
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' holds '%s', which is not Cupola's: "
				 "choose an empty directory",
				 dir, entry->d_name);
	}
	return 0;
}

static int hand_over(int fd, const char *dir, struct error *err)
{
	const struct passwd *user = find_user(err);
	struct stat st;
	int r;

	if (!user)
		return -ENOENT;
	if (fstat(fd, &st) < 0)
		return error_set_errno(err, -errno, "Cannot look at '%s'", dir);
	if (st.st_uid == user->pw_uid)
		return 0;
	if (st.st_uid != 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' belongs to another user: start cupolad "
				 "as that user, or choose another directory",
				 dir);
	r = check_contents(fd, dir, err);
	if (r < 0)
		return r;
	/* Others may pass through, to the socket; what is in it is private. */
	if (fchown(fd, user->pw_uid, user->pw_gid) < 0 || fchmod(fd, 0711) < 0)
		return error_set_errno(err, -errno, "Cannot hand '%s' over",
				       dir);
	return 0;
}

int dev_directory(const char *dir, char **ret_path, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	int r = fs_mkdir_p(dir, 0711);

	if (r >= 0) {
		path = realpath(dir, NULL);
		fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		r = fd < 0 ? -errno : 0;
	}
	if (r < 0)
		return error_set_errno(err, r, "Cannot use the directory '%s'",
				       dir);
	if (geteuid() == 0) {
		r = hand_over(fd, path, err);
		if (r < 0)
			return r;
	}
	*ret_path = take_ptr(path);
	return 0;
}

static int move_home(const char *dir)
{
	static const char *const others[] = {
		"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"XDG_DATA_HOME",   "XDG_STATE_HOME",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		(void)unsetenv(others[i]);
	return setenv("HOME", dir, 1) < 0 ? -errno : 0;
}

int dev_become_user(const char *dir, struct error *err)
{
	const struct passwd *user;
	int r = move_home(dir);

	if (r >= 0 && geteuid() == 0) {
		user = find_user(err);
		if (!user)
			return -ENOENT;
		r = user_become(user);
	}
	if (r < 0)
		return error_set_errno(err, r,
				       "Cannot become user '" DEV_USER "'");
	if (access(dir, R_OK | W_OK | X_OK) < 0)
		return error_set(err, ERR_INTERNAL,
				 "The daemon's user cannot use '%s': %s; "
				 "choose a directory of its own, or one that "
				 "lies where it can go, such as /tmp/cupola",
				 dir, strerror(errno));
	return 0;
}
