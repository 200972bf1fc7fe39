#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "vmd/host.h"
#include "vmd/record.h"

#define RECORD_TEMPORARY RECORD_FILE ".new"

static_assert(sizeof(struct record) == 432, "struct record has padding");

/* A random UUID, RFC 9562 version 4. */
static int draw_uuid(char ret_uuid[VIRT_UUID_SIZE])
{
	uint8_t b[16];
	int r;

	r = random_bytes(b, sizeof(b));
	if (r < 0)
		return r;
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	(void)snprintf(ret_uuid, VIRT_UUID_SIZE,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		       "%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
		       b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
		       b[12], b[13], b[14], b[15]);
	return 0;
}

int record_fill(struct record *ret_record, const struct host *host,
		const struct pool *pool, const char *vm_id)
{
	struct record *record = ret_record;

	*record = (struct record){
		.version = RECORD_VERSION,
		.accelerator = pool->accelerator,
		.vsock = host->vsock,
		.vcpus = pool->vcpus,
		.memory_mib = pool->memory_mib,
		.disk_bytes = pool->disk_bytes,
		.created_usec = clock_wall(host->clock),
	};
	memcpy(record->magic, RECORD_MAGIC, sizeof(record->magic));
	strcpy(record->boot_id, host->boot_id);
	(void)snprintf(record->vm_id, sizeof(record->vm_id), "%s", vm_id);
	strcpy(record->pool, pool->name);
	strcpy(record->image, pool->image.name);
	strcpy(record->digest, pool->image.digest);
	return draw_uuid(record->uuid);
}

int record_write(int dirfd, const struct record *record)
{
	_cleanup_close_ int fd = -1;
	ssize_t n;

	fd = openat(dirfd, RECORD_TEMPORARY,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	n = write(fd, record, sizeof(*record));
	if (n != (ssize_t)sizeof(*record))
		return n < 0 ? -errno : -ENOSPC;
	return renameat(dirfd, RECORD_TEMPORARY, dirfd, RECORD_FILE) < 0 ?
		       -errno : 0;
}

static bool is_ended(const char *array, size_t size)
{
	return memchr(array, '\0', size) != NULL;
}

static bool is_sound(const struct record *r)
{
	return memcmp(r->magic, RECORD_MAGIC, sizeof(r->magic)) == 0 &&
	       r->version == RECORD_VERSION &&
	       is_ended(r->boot_id, sizeof(r->boot_id)) &&
	       is_ended(r->uuid, sizeof(r->uuid)) &&
	       is_ended(r->vm_id, sizeof(r->vm_id)) &&
	       is_ended(r->pool, sizeof(r->pool)) &&
	       is_ended(r->image, sizeof(r->image)) &&
	       is_ended(r->digest, sizeof(r->digest));
}

int record_read(int dirfd, const char *boot_id, struct record *ret_record)
{
	_cleanup_close_ int fd = -1;
	struct record record;
	ssize_t n;

	fd = openat(dirfd, RECORD_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	n = read(fd, &record, sizeof(record));
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(record) || !is_sound(&record) ||
	    strcmp(record.boot_id, boot_id) != 0)
		return -ESTALE;
	*ret_record = record;
	return 0;
}
