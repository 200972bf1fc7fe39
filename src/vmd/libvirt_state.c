#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "vmd/child.h"
#include "vmd/libvirt_state.h"
#include "vmd/vmd_proto.h"

#define STATE_DIRECTORY "run/qemu"

/* Where libvirt makes a directory per domain, with "ID-NAME" in its name */
static const char *const runtime_directories[] = {
	"lib/qemu", "lib/qemu/channel/target", "lib/qemu/ram",
};

enum {
	PID_FILE_MAX = 32,
	/* At 100 a second */
	QUESTION_LOOKS = 100,
	PATH_SIZE = NAME_MAX + 64,
};

/* The pid in NAME.pid, or 0. */
static pid_t read_pid(int dirfd, const char *name)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(PID_FILE_MAX);
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s.pid", name);
	if (fs_read_file(dirfd, path, &text) < 0)
		return 0;
	return (pid_t)strtol(buf_str(&text), NULL, 10);
}

/* libvirt starts QEMU with "-name guest=NAME,…". */
static bool is_alive(int dirfd, const char *name)
{
	char argument[PATH_SIZE];
	pid_t pid = read_pid(dirfd, name);

	(void)snprintf(argument, sizeof(argument), "guest=%s,", name);
	return pid > 0 && child_has_argument_like(pid, argument);
}

static void remove_state(int dirfd, const char *name)
{
	static const char *const suffixes[] = { "xml", "xml.new", "pid" };
	char path[PATH_SIZE];
	size_t i;

	/* What is not there need not be removed, and what cannot be removed
	 * is as it was before. */
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s.%s", name, suffixes[i]);
		(void)unlinkat(dirfd, path, 0);
	}
}

/* Calls a function for each entry of a directory that begins in a way. */
static int for_each(int root_fd, const char *path, const char *prefix,
		    void (*fn)(int dirfd, const char *entry, void *userdata),
		    void *userdata)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int fd;

	fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close_fd(&fd);
		return -ENOMEM;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			fn(dirfd(dir), entry->d_name, userdata);
	return 0;
}

static void look_at(int dirfd, const char *entry, void *userdata)
{
	char name[VMD_ID_MAX];
	size_t length = strcspn(entry, ".");

	(void)userdata;
	if (length >= sizeof(name))
		return;
	memcpy(name, entry, length);
	name[length] = '\0';
	if (is_alive(dirfd, name))
		return;
	remove_state(dirfd, name);
}

static void note(int dirfd, const char *entry, void *userdata)
{
	bool *found = userdata;

	(void)dirfd;
	(void)entry;
	*found = true;
}

/* A domain's directory is as old as its state; what has none left goes. */
static void look_at_directory(int dirfd, const char *entry, void *userdata)
{
	const char *name = strstr(entry, "-vm_");
	const int *root_fd = userdata;
	bool found = false;

	/* The name is cut, so it is looked for as a beginning. */
	if (!name ||
	    for_each(*root_fd, STATE_DIRECTORY, name + 1, note, &found) < 0 ||
	    found)
		return;
	(void)fs_remove_tree(dirfd, entry);
}

/* A fork() of libvirt's has a moment to become the QEMU that is looked for. */
void libvirt_state_end_questions(const char *state)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	_cleanup_free_ char *monitor = NULL;
	bool forks;
	int i;

	if (asprintf(&monitor, "unix:%s/libvirt/lib/qemu/qmp-", state) < 0)
		return;
	for (i = 0; i < QUESTION_LOOKS; i++) {
		forks = child_has_forks();
		/* Killed ones may have begun a child, on their way to daemons. */
		if (child_kill_all_like(monitor) == 0 && !forks)
			return;
		(void)nanosleep(&nap, NULL);
	}
}

static void remove_question(int dirfd, const char *entry, void *userdata)
{
	(void)userdata;
	(void)fs_remove_tree(dirfd, entry);
}

int libvirt_state_prune(int root_fd)
{
	size_t i;
	int r;

	/* All domains of this driver are ours, and are named so. */
	r = for_each(root_fd, STATE_DIRECTORY, "vm_", look_at, NULL);
	if (r >= 0)
		r = for_each(root_fd, "lib/qemu", "qmp-", remove_question, NULL);
	for (i = 0; i < sizeof(runtime_directories) /
			    sizeof(runtime_directories[0]) && r >= 0; i++)
		r = for_each(root_fd, runtime_directories[i], "",
			     look_at_directory, &root_fd);
	return r;
}
