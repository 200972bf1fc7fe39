/* SPDX-License-Identifier: Apache-2.0 */

/* Kernel modules, and the disks that they bring into sight. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "report.h"

#define MODULES_DIR "/modules/"
#define MODULES_LIST MODULES_DIR "order"
#define MODULES_LIST_MAX 4096

/* As much as x86 takes of it. */
#define CMDLINE_MAX 2048

/* Devices appear a moment after their driver. */
#define DISK_TRIES 2000
#define DISK_NAP_NSEC (5 * 1000 * 1000)

#define EROFS_AT 1024
#define EROFS_UUID_AT 48
#define EXT4_MAGIC_AT (1024 + 0x38)

/* The last block of the scratch disk, behind the file system. */
#define NONCE_BLOCK_SIZE 4096
#define NONCE_VERSION 1

struct nonce_block {
	uint8_t magic[8];
	le32 version;
	uint8_t nonce[WIRE_NONCE_SIZE];
};

static const uint8_t nonce_magic[8] = "CUPOLA\1";

char boot_root_disk[16];
char boot_scratch_disk[16];
char boot_wheels_disk[16];

static int load_module(const char *name)
{
	char path[128];
	int fd, r = 0;

	(void)snprintf(path, sizeof(path), MODULES_DIR "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
		r = -errno;
	(void)close(fd);
	return r;
}

/*
 * File names, one a line, what is needed first. A module that does not load is
 * reported and passed over: whether the guest can do without it shows soon.
 */
int boot_load_modules(struct boot *b)
{
	char list[MODULES_LIST_MAX], *name, *rest = list;
	int fd = open(MODULES_LIST, O_RDONLY | O_CLOEXEC), r;
	ssize_t n;

	(void)b;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = read(fd, list, sizeof(list) - 1);
	(void)close(fd);
	if (n < 0)
		return -errno;
	list[n] = '\0';
	while ((name = strsep(&rest, "\n"))) {
		r = *name ? load_module(name) : 0;
		if (r < 0)
			report_error(r, "cannot load %s", name);
	}
	return 0;
}

static bool is_at(int fd, off_t at, const void *bytes, size_t size)
{
	uint8_t found[16];

	return pread(fd, found, size, at) == (ssize_t)size &&
	       memcmp(found, bytes, size) == 0;
}

/* By what is on them: the order of virtio-mmio devices is nobody's promise. */
static void look_at_disk(const char *path)
{
	static const uint8_t erofs[] = { 0xe2, 0xe1, 0xf5, 0xe0 };
	static const uint8_t ext4[] = { 0x53, 0xef };
	/* What images/wheelhouse gives to them; src/vmd/wheelhouse.c has it too. */
	static const uint8_t wheels[16] = { 0xc0, 0x90, 0x1a, 0x00, 0x00, 0x00,
					    0x40, 0x00, 0x80, 0x00, 0x00, 0x00,
					    0x00, 0x00, 0x00, 0x01 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_at(fd, EXT4_MAGIC_AT, ext4, sizeof(ext4)))
		(void)strcpy(boot_scratch_disk, path);
	else if (!is_at(fd, EROFS_AT, erofs, sizeof(erofs)))
		;
	else if (is_at(fd, EROFS_AT + EROFS_UUID_AT, wheels, sizeof(wheels)))
		(void)strcpy(boot_wheels_disk, path);
	else
		(void)strcpy(boot_root_disk, path);
	(void)close(fd);
}

/* cupola-vmd says so on the kernel's command line. */
static bool wheels_are_promised(void)
{
	char line[CMDLINE_MAX];
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	(void)close(fd);
	line[n > 0 ? n : 0] = '\0';
	return strstr(line, " cupola.wheelhouse") != NULL;
}

int boot_find_disks(struct boot *b)
{
	static const char *const paths[] = { "/dev/vda", "/dev/vdb",
					     "/dev/vdc" };
	const struct timespec nap = { .tv_nsec = DISK_NAP_NSEC };
	const bool promised = wheels_are_promised();
	size_t i, disk;

	(void)b;
	for (i = 0; i < DISK_TRIES; i++) {
		for (disk = 0; disk < (promised ? 3 : 2); disk++)
			look_at_disk(paths[disk]);
		if (boot_root_disk[0] && boot_scratch_disk[0] &&
		    (boot_wheels_disk[0] || !promised))
			return 0;
		(void)nanosleep(&nap, NULL);
	}
	return -ENODEV;
}

static int wipe_block(int fd, off_t at)
{
	static const uint8_t zeros[NONCE_BLOCK_SIZE];

	if (pwrite(fd, zeros, sizeof(zeros), at) != sizeof(zeros) ||
	    fsync(fd) < 0)
		return -errno;
	return 0;
}

/* The nonce is off the disk before anything but the agent runs. */
int boot_take_nonce(struct boot *b)
{
	int fd = open(boot_scratch_disk, O_RDWR | O_CLOEXEC), r;
	struct nonce_block block = { 0 };
	uint64_t size = 0;
	off_t at;

	if (fd < 0)
		return -errno;
	r = ioctl(fd, BLKGETSIZE64, &size) < 0 ? -errno : 0;
	at = (off_t)(size - NONCE_BLOCK_SIZE);
	if (r >= 0 && pread(fd, &block, sizeof(block), at) != sizeof(block))
		r = -EIO;
	if (r >= 0 && (memcmp(block.magic, nonce_magic, sizeof(nonce_magic)) ||
		       le32_get(block.version) != NONCE_VERSION))
		r = -EBADMSG;
	if (r >= 0)
		r = wipe_block(fd, at);
	(void)close(fd);
	if (r >= 0)
		memcpy(b->nonce, block.nonce, sizeof(b->nonce));
	explicit_bzero(&block, sizeof(block));
	return r;
}
