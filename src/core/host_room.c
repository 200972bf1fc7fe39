/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host_room.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/core_priv.h"
#include "store/blob.h"

enum {
	MEMINFO_MAX = 8192,
};

int host_room_memory(const char *meminfo, uint64_t *ret_bytes)
{
	static const char key[] = "\nMemAvailable:";
	const char *line = strstr(meminfo, key);
	uint64_t kib;

	if (!line || sscanf(line + strlen(key), "%" SCNu64 " kB", &kib) != 1)
		return -EBADMSG;
	*ret_bytes = kib << 10;
	return 0;
}

int host_room_read(const struct core *core, const char *name, char *text,
		   size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", core->proc, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

static int memory_now(const struct core *core, uint64_t *ret_bytes)
{
	char text[MEMINFO_MAX];
	int r;

	r = host_room_read(core, "meminfo", text, sizeof(text));
	return r < 0 ? r : host_room_memory(text, ret_bytes);
}

static int check_memory(const struct core *core, struct error *err)
{
	uint64_t floor = core->set.memory_reserve, available;
	int r;

	/* A kernel that does not say is no reason to serve nobody. */
	if (floor == 0 || memory_now(core, &available) < 0 ||
	    available >= floor)
		return 0;
	r = error_set(err, ERR_CAPACITY,
		      "The host has %" PRIu64 " MiB of memory left; below "
		      "%" PRIu64 " MiB no container is started",
		      available >> 20, floor >> 20);
	error_set_reason(err, "capacity");
	return r;
}

static int check_disk(struct core *core, struct error *err)
{
	uint64_t free_bytes;
	int r;

	/* What is free beyond the floor, which vmd checks again on its disk. */
	if (core->set.disk_reserve == 0 ||
	    blobs_free_bytes(core->blobs, &free_bytes) < 0 || free_bytes > 0)
		return 0;
	r = error_set(err, ERR_STORAGE_FULL,
		      "The host has less than %" PRIu64 " MiB of disk space "
		      "left, and starts no container with less",
		      core->set.disk_reserve >> 20);
	error_set_reason(err, "host_storage_full");
	return r;
}

int host_room_check(struct core *core, struct error *err)
{
	int r = check_disk(core, err);

	return r < 0 ? r : check_memory(core, err);
}
