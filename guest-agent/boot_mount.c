/* SPDX-License-Identifier: Apache-2.0 */

/* File systems: what is where for user code, and what has no path for it. */

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "boot.h"
#include "data.h"
#include "report.h"

#define SAFE (MS_NOSUID | MS_NODEV)
#define LENGTH_OF(table) (sizeof(table) / sizeof((table)[0]))

struct mount_entry {
	const char *source;
	const char *target;
	const char *type;
	unsigned long flags;
	const char *options;
};

static int mount_one(const struct mount_entry *m)
{
	if (mkdir(m->target, 0755) < 0 && errno != EEXIST && errno != EROFS)
		return -errno;
	if (mount(m->source, m->target, m->type, m->flags, m->options) < 0)
		return report_error(-errno, "mount %s", m->target);
	return 0;
}

static int mount_all(const struct mount_entry *entries, size_t count)
{
	size_t i;
	int r = 0;

	for (i = 0; i < count && r >= 0; i++)
		r = mount_one(&entries[i]);
	return r;
}

/* The agent's own view, while it is in the initrd. */
int boot_mount_basics(struct boot *b)
{
	static const struct mount_entry entries[] = {
		{ "proc", "/proc", "proc", SAFE | MS_NOEXEC, NULL },
		{ "sysfs", "/sys", "sysfs", SAFE | MS_NOEXEC, NULL },
		{ "devtmpfs", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, NULL },
		{ "cgroup2", "/cgroup", "cgroup2", SAFE | MS_NOEXEC, NULL },
	};

	(void)b;
	return mount_all(entries, LENGTH_OF(entries));
}

int boot_mount_root(struct boot *b)
{
	const struct mount_entry root = { boot_root_disk, "/lower", "erofs",
					  SAFE | MS_RDONLY, NULL };

	(void)b;
	return mount_one(&root);
}

/*
 * No barriers: the scratch disk does not outlive the VM, and the VM does not
 * outlive its host.
 */
int boot_mount_scratch(struct boot *b)
{
	static const struct {
		const char *path;
		mode_t mode;
		uid_t owner;
	} dirs[] = {
		{ "/scratch/upper", 0755, 0 },
		{ "/scratch/work", 0755, 0 },
		{ "/scratch/tmp", 01777, 0 },
		{ "/scratch/data", 0755, SANDBOX_ID },
		{ "/scratch/incoming", 0700, SANDBOX_ID },
	};
	const struct mount_entry scratch = {
		boot_scratch_disk, "/scratch", "ext4", SAFE | MS_NOATIME,
		"barrier=0,errors=continue",
	};
	size_t i;
	int r;

	(void)b;
	r = mount_one(&scratch);
	for (i = 0; i < LENGTH_OF(dirs) && r >= 0; i++) {
		if (mkdir(dirs[i].path, dirs[i].mode) < 0 && errno != EEXIST)
			r = -errno;
		else if (chmod(dirs[i].path, dirs[i].mode) < 0 ||
			 chown(dirs[i].path, dirs[i].owner,
			       dirs[i].owner) < 0)
			r = -errno;
	}
	return r;
}

int boot_mount_overlay(struct boot *b)
{
	static const struct mount_entry overlay = {
		"overlay", "/merged", "overlay", SAFE | MS_NOATIME,
		"lowerdir=/lower,upperdir=/scratch/upper,workdir=/scratch/work",
	};

	(void)b;
	return mount_one(&overlay);
}

/* hidepid: user code sees its own processes only. */
int boot_mount_rest(struct boot *b)
{
	static const struct mount_entry entries[] = {
		{ "proc", "/merged/proc", "proc", SAFE | MS_NOEXEC,
		  "hidepid=invisible" },
		{ "sysfs", "/merged/sys", "sysfs",
		  SAFE | MS_NOEXEC | MS_RDONLY, NULL },
		{ "tmpfs", "/merged/run", "tmpfs", SAFE | MS_NOEXEC,
		  "mode=755,size=1m" },
		{ "tmpfs", "/merged/dev", "tmpfs", MS_NOSUID | MS_NOEXEC,
		  "mode=755,size=64k" },
		{ "tmpfs", "/merged/dev/shm", "tmpfs", SAFE,
		  "mode=1777,size=50%" },
		{ "devpts", "/merged/dev/pts", "devpts",
		  MS_NOSUID | MS_NOEXEC, "ptmxmode=0666,mode=620" },
		{ "/scratch/tmp", "/merged/tmp", NULL, MS_BIND, NULL },
		{ "/scratch/data", "/merged/mnt/data", NULL, MS_BIND, NULL },
	};

	(void)b;
	return mount_all(entries, LENGTH_OF(entries));
}

/* A session without it is whole: pip says that there is nothing to install. */
int boot_mount_wheels(struct boot *b)
{
	const struct mount_entry wheels = { boot_wheels_disk,
					    "/merged/opt/wheels", "erofs",
					    SAFE | MS_NOEXEC | MS_RDONLY,
					    NULL };

	(void)b;
	return boot_wheels_disk[0] ? mount_one(&wheels) : 0;
}

/* Only devices that hold nothing; the disks are not among them. */
int boot_make_devices(struct boot *b)
{
	static const struct {
		const char *path;
		unsigned minor;
	} nodes[] = {
		{ "/merged/dev/null", 3 },   { "/merged/dev/zero", 5 },
		{ "/merged/dev/full", 7 },   { "/merged/dev/random", 8 },
		{ "/merged/dev/urandom", 9 },
	};
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/merged/dev/fd" },
		{ "/proc/self/fd/0", "/merged/dev/stdin" },
		{ "/proc/self/fd/1", "/merged/dev/stdout" },
		{ "/proc/self/fd/2", "/merged/dev/stderr" },
		{ "pts/ptmx", "/merged/dev/ptmx" },
	};
	size_t i;

	(void)b;
	(void)umask(0);
	for (i = 0; i < LENGTH_OF(nodes); i++)
		if (mknod(nodes[i].path, S_IFCHR | 0666,
			  makedev(1, nodes[i].minor)) < 0)
			return -errno;
	if (mknod("/merged/dev/tty", S_IFCHR | 0666, makedev(5, 0)) < 0)
		return -errno;
	for (i = 0; i < LENGTH_OF(links); i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return -errno;
	(void)umask(022);
	return 0;
}

/* What is needed later and has no path then. */
int boot_open_files(struct boot *b)
{
	const struct {
		const char *path;
		int flags;
		int *ret;
	} files[] = {
		{ "/scratch/data", O_DIRECTORY, &b->data },
		{ "/scratch/incoming", O_DIRECTORY, &b->incoming },
		{ "/cgroup", O_DIRECTORY, &b->cgroup },
		{ "/runner.py", 0, &b->runner },
		{ "/preimport", 0, &b->preimport },
	};
	size_t i;

	for (i = 0; i < LENGTH_OF(files); i++) {
		*files[i].ret = open(files[i].path, O_RDONLY | O_CLOEXEC |
							    files[i].flags);
		if (*files[i].ret < 0)
			return report_error(-errno, "open %s", files[i].path);
	}
	return 0;
}

int boot_enter_root(struct boot *b)
{
	(void)b;
	if (chdir("/merged") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 ||
	    chroot(".") < 0 || chdir("/") < 0)
		return -errno;
	return 0;
}
