#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmd/wheelhouse.h"

/*
 * How the guest's agent, too, tells one from a root disk: by the UUID that
 * images/wheelhouse gives it. guest-agent/boot_disk.c has the same bytes.
 */
#define SUPERBLOCK_AT 1024
#define UUID_AT 48

static const uint8_t magic[4] = { 0xe2, 0xe1, 0xf5, 0xe0 };
static const uint8_t uuid[16] = { 0xc0, 0x90, 0x1a, 0x00, 0x00, 0x00,
				  0x40, 0x00, 0x80, 0x00, 0x00, 0x00,
				  0x00, 0x00, 0x00, 0x01 };

static bool is_wheelhouse(int fd)
{
	uint8_t block[UUID_AT + sizeof(uuid)];

	return pread(fd, block, sizeof(block), SUPERBLOCK_AT) ==
		       sizeof(block) &&
	       memcmp(block, magic, sizeof(magic)) == 0 &&
	       memcmp(block + UUID_AT, uuid, sizeof(uuid)) == 0;
}

int wheelhouse_check(const char *path, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (path[0] != '/')
		return error_set(err, ERR_HYPERVISOR,
				 "the wheelhouse needs an absolute path");
	/* Not a FIFO, which would hold up the start. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, ERR_HYPERVISOR,
				 "the wheelhouse cannot be read: make it with "
				 "images/wheelhouse");
	if (!S_ISREG(st.st_mode) || !is_wheelhouse(fd))
		return error_set(err, ERR_HYPERVISOR,
				 "the wheelhouse is no disk of "
				 "images/wheelhouse's making");
	/* Each VM's QEMU is a user of its own. */
	if (!(st.st_mode & S_IROTH))
		return error_set(err, ERR_HYPERVISOR,
				 "the wheelhouse is not readable for everybody, "
				 "and so not for QEMU");
	return 0;
}
