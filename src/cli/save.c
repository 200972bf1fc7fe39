#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/save.h"
#include "cli/text.h"

#define DATA_PREFIX "/mnt/data/"

/* Enough for a run that is repeated daily; then the user should look. */
#define NUMBERS_MAX 1000

struct save {
	int folder; /* what holds the file */
	int fd;
	bool created; /* there is something to remove */
	bool committed;
	bool overwrite;
	char clean[SAVE_PATH_MAX];    /* below the directory */
	char part[SAVE_NAME_MAX + 1]; /* while written, in @folder */
	char last[SAVE_NAME_MAX + 1]; /* the final name, in @folder */
};

static char clean_byte(unsigned char c, bool first)
{
	if (c < 0x20 || c == 0x7f || c == '\\')
		return '_';
	if (first && (c == '.' || c == '-'))
		return '_';
	return (char)c;
}

int save_path_clean(const char *path, char *clean, size_t size)
{
	size_t used = 0, step = 0, depth = 0, n;
	bool first = true;

	if (strncmp(path, DATA_PREFIX, strlen(DATA_PREFIX)) == 0)
		path += strlen(DATA_PREFIX);
	for (; *path; path += n) {
		n = text_control_length(path);
		n = n > 1 ? n : 1;
		if (*path == '/') {
			first = true;
			continue;
		}
		if (used + 2 >= size)
			return -ENAMETOOLONG;
		if (first) {
			if (depth++ == SAVE_DEPTH_MAX)
				return -ENAMETOOLONG;
			if (used > 0)
				clean[used++] = '/';
			step = 0;
		}
		if (step++ == SAVE_NAME_MAX)
			return -ENAMETOOLONG;
		clean[used++] = n > 1 ? '_' :
					clean_byte((unsigned char)*path, first);
		first = false;
	}
	if (used == 0)
		return -EINVAL;
	clean[used] = '\0';
	return 0;
}

/* One step down, made if missing. */
static int folder_enter(int at, const char *name)
{
	int fd;

	if (mkdirat(at, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR ? -ELOOP : -errno;
	return fd;
}

/* Opens the folder of @path below @directory; @last gets the final step. */
static int folder_open(const char *directory, const char *path, char *last)
{
	_cleanup_close_ int at = -1;
	char step[SAVE_NAME_MAX + 1];
	const char *slash;

	at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		int next;

		memcpy(step, path, (size_t)(slash - path));
		step[slash - path] = '\0';
		next = folder_enter(at, step);
		if (next < 0)
			return next;
		close_fd(&at);
		at = next;
	}
	strcpy(last, path);
	return take_fd(at);
}

static int create_in(int folder, const char *name)
{
	int fd = openat(folder, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0666);

	return fd < 0 ? -errno : fd;
}

/*
 * "chart.png", then "chart-1.png", "chart-2.png"... Cutting is by bytes: at
 * worst an odd character stands before the number.
 */
static void number_name(const char *name, unsigned number, char *ret_name)
{
	const char *dot = strrchr(name, '.');
	size_t stem = dot && dot != name ? (size_t)(dot - name) : strlen(name);
	const char *tail = name + stem;
	char digits[16];
	size_t extra;

	if (number == 0) {
		strcpy(ret_name, name);
		return;
	}
	extra = (size_t)snprintf(digits, sizeof(digits), "-%u", number);
	if (strlen(name) + extra > SAVE_NAME_MAX)
		stem -= stem > extra ? extra : stem;
	snprintf(ret_name, SAVE_NAME_MAX + 1, "%.*s%s%s", (int)stem, name,
		 digits, tail);
}

/* The final name is created at once: it is what keeps others off it. */
static int reserve(struct save *s, const char *last)
{
	unsigned number;

	for (number = 0; number < NUMBERS_MAX; number++) {
		number_name(last, number, s->last);
		s->fd = create_in(s->folder, s->last);
		if (s->fd != -EEXIST)
			break;
	}
	return s->fd < 0 ? s->fd : 0;
}

/* A replacement is written beside the old file, which stays until commit. */
static int begin_part(struct save *s, const char *last)
{
	struct stat st;

	strcpy(s->last, last);
	if (fstatat(s->folder, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EISDIR;
	snprintf(s->part, sizeof(s->part), ".cupola-part-%d", (int)getpid());
	s->fd = create_in(s->folder, s->part);
	return s->fd < 0 ? s->fd : 0;
}

/* The name may have got a number: tell the user the one it has. */
static void name_adopt(struct save *s)
{
	char *slash = strrchr(s->clean, '/');
	size_t at = slash ? (size_t)(slash - s->clean) + 1 : 0;

	snprintf(s->clean + at, sizeof(s->clean) - at, "%s", s->last);
}

int save_begin(const char *directory, const char *path, bool overwrite,
	       struct save **ret_save)
{
	_cleanup_(save_freep) struct save *s = calloc(1, sizeof(*s));
	char last[SAVE_NAME_MAX + 1];
	int r;

	if (!s)
		return -ENOMEM;
	s->folder = -1;
	s->fd = -1;
	s->overwrite = overwrite;
	r = save_path_clean(path, s->clean, sizeof(s->clean));
	if (r < 0)
		return r;
	s->folder = folder_open(directory, s->clean, last);
	if (s->folder < 0)
		return s->folder;
	r = overwrite ? begin_part(s, last) : reserve(s, last);
	if (r < 0)
		return r;
	s->created = true;
	name_adopt(s);
	*ret_save = take_ptr(s);
	return 0;
}

int save_fd(const struct save *s)
{
	return s->fd;
}

const char *save_name(const struct save *s)
{
	return s->clean;
}

int save_commit(struct save *s)
{
	int fd = take_fd(s->fd);

	/* close() is where a full network disk speaks up. */
	if (close(fd) < 0)
		return -errno;
	if (s->overwrite &&
	    renameat(s->folder, s->part, s->folder, s->last) < 0)
		return -errno;
	s->committed = true;
	return 0;
}

static void remove_partial(struct save *s)
{
	const char *name = s->overwrite ? s->part : s->last;

	(void)unlinkat(s->folder, name, 0);
}

void save_free(struct save *s)
{
	if (!s)
		return;
	if (s->created && !s->committed)
		remove_partial(s);
	close_fd(&s->fd);
	close_fd(&s->folder);
	free(s);
}
