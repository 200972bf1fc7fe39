/* SPDX-License-Identifier: Apache-2.0 */

/* Kernel modules, and the two disks that they bring into sight. */

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

/* Devices appear a moment after their driver. */
#define DISK_TRIES 2000
#define DISK_NAP_NSEC (5 * 1000 * 1000)

#define EROFS_MAGIC_AT 1024
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

/* By what is on them: the order of virtio-mmio devices is nobody's promise. */
static void look_at_disk(const char *path)
{
	static const uint8_t erofs[] = { 0xe2, 0xe1, 0xf5, 0xe0 };
	static const uint8_t ext4[] = { 0x53, 0xef };
	uint8_t magic[4];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (pread(fd, magic, sizeof(erofs), EROFS_MAGIC_AT) == sizeof(erofs) &&
	    memcmp(magic, erofs, sizeof(erofs)) == 0)
		(void)strcpy(boot_root_disk, path);
	else if (pread(fd, magic, sizeof(ext4), EXT4_MAGIC_AT) ==
			 sizeof(ext4) &&
		 memcmp(magic, ext4, sizeof(ext4)) == 0)
		(void)strcpy(boot_scratch_disk, path);
	(void)close(fd);
}

int boot_find_disks(struct boot *b)
{
	static const char *const paths[] = { "/dev/vda", "/dev/vdb" };
	const struct timespec nap = { .tv_nsec = DISK_NAP_NSEC };
	int i;

	(void)b;
	for (i = 0; i < DISK_TRIES; i++) {
		look_at_disk(paths[0]);
		look_at_disk(paths[1]);
		if (boot_root_disk[0] && boot_scratch_disk[0])
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
