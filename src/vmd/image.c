#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "vmd/image.h"

#define MANIFEST "manifest.json"

struct manifest {
	struct json_string name;
	struct json_string digest;
	struct json_string cmdline;
	struct json_object *pool;
};

struct wishes {
	struct json_string vcpus;
	struct json_string memory;
	struct json_string disk;
};

/* The manifest says more, to others. */
static const struct json_field fields[] = {
	JSON_STRING_FIELD("name", struct manifest, name, .required = true,
			  .min = 1, .max = VMD_NAME_MAX - 1),
	JSON_STRING_FIELD("digest", struct manifest, digest, .required = true,
			  .min = 71, .max = 71),
	JSON_STRING_FIELD("cmdline", struct manifest, cmdline,
			  .max = IMAGE_CMDLINE_MAX - 1),
	JSON_OBJECT_FIELD("pool", struct manifest, pool),
};

static const struct json_field wish_fields[] = {
	JSON_STRING_FIELD("vcpus", struct wishes, vcpus,
			  .max = IMAGE_WISH_MAX - 1),
	JSON_STRING_FIELD("memory", struct wishes, memory,
			  .max = IMAGE_WISH_MAX - 1),
	JSON_STRING_FIELD("disk", struct wishes, disk,
			  .max = IMAGE_WISH_MAX - 1),
};

static bool is_digest(const struct json_string *s)
{
	return s->length == 71 && strncmp(s->data, "sha256:", 7) == 0 &&
	       strspn(s->data + 7, "0123456789abcdef") == 64;
}

/* A pool that pins an image names it by the first digits of its digest. */
static bool is_pinned(const struct image *image, const char *pin)
{
	return !pin || strncmp(image->digest + strlen("sha256:"), pin,
			       strlen(pin)) == 0;
}

static void keep(char to[IMAGE_WISH_MAX], const struct json_string *from)
{
	strcpy(to, from->data ? from->data : "");
}

/* What it is good for is seen where there are settings to compare it with. */
static int read_wishes(const struct json_object *pool, struct image *image,
		       struct error *err)
{
	struct wishes wishes = {};
	int r;

	if (pool) {
		r = json_read_fields(pool, "pool", wish_fields,
				     sizeof(wish_fields) /
					     sizeof(wish_fields[0]),
				     JSON_UNKNOWN_IGNORED, &wishes, err);
		if (r < 0)
			return error_wrap(err, r, "its manifest is bad");
	}
	keep(image->vcpus, &wishes.vcpus);
	keep(image->memory, &wishes.memory);
	keep(image->disk, &wishes.disk);
	return 0;
}

/* A manifest is made on this host, but a cut file must not be half believed. */
static int read_manifest(int dirfd, const char *pin, struct image *image,
			 struct error *err)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_MANIFEST_FILE);
	_cleanup_(json_freep) struct json_object *object = NULL;
	struct manifest m = {};
	int r;

	r = fs_read_file(dirfd, MANIFEST, &text);
	if (r < 0)
		return error_set(err, ERR_HYPERVISOR,
				 "its manifest cannot be read");
	r = json_parse(buf_str(&text), text.length, &object, err);
	if (r >= 0)
		r = json_read_fields(object, NULL, fields,
				     sizeof(fields) / sizeof(fields[0]),
				     JSON_UNKNOWN_IGNORED, &m, err);
	if (r < 0)
		return error_wrap(err, r, "its manifest is bad");
	if (strcmp(m.name.data, image->name) != 0 || !is_digest(&m.digest))
		return error_set(err, ERR_HYPERVISOR,
				 "its manifest names another image");
	strcpy(image->digest, m.digest.data);
	if (!is_pinned(image, pin))
		return error_set(err, ERR_HYPERVISOR,
				 "its manifest has another digest");
	strcpy(image->cmdline, m.cmdline.data ? m.cmdline.data : "");
	return read_wishes(m.pool, image, err);
}

/* The first of the names that is there, as a path; names end with NULL. */
static int find_part(const char *directory, const char *const *names,
		     char ret_path[PATH_MAX], struct error *err)
{
	size_t i;
	int n;

	for (i = 0; names[i]; i++) {
		n = snprintf(ret_path, PATH_MAX, "%s/%s", directory, names[i]);
		if (n < PATH_MAX && access(ret_path, R_OK) == 0)
			return 0;
	}
	return error_set(err, ERR_HYPERVISOR, "its '%s' cannot be read",
			 names[0]);
}

static int read_image(const char *directory, const char *pin,
		      struct image *image, struct error *err)
{
	/* QEMU enters an ELF kernel directly, without unpacking it. */
	static const char *const kernels[] = { "vmlinux", "bzImage", NULL };
	static const char *const initrds[] = { "initrd", NULL };
	static const char *const roots[] = { "root.erofs", NULL };
	_cleanup_close_ int fd = -1;
	int r;

	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERR_HYPERVISOR,
				 "its directory cannot be opened");
	/* Held as long as a pool is made of it, against cupolactl images rm. */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return error_set(err, ERR_HYPERVISOR, "it is being removed");
	r = read_manifest(fd, pin, image, err);
	if (r >= 0)
		r = find_part(directory, kernels, image->kernel, err);
	if (r >= 0)
		r = find_part(directory, initrds, image->initrd, err);
	if (r >= 0)
		r = find_part(directory, roots, image->root, err);
	if (r >= 0)
		image->hold = take_fd(fd);
	return r;
}

enum {
	PLACE_ENVIRONMENT,
	PLACE_STATE,
	PLACE_HOST,
	PLACE_SOURCE,
	PLACE_SOURCE_BUILD,

	PLACE_COUNT,
};

static int source_place(const char *below, char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return -1;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	return snprintf(path, size, "%s/%simages/out", self, below);
}

/* Fills in a directory that may have images; false if there is none here. */
static bool get_place(int place, const char *state, char *path, size_t size)
{
	const char *value;
	int n = -1;

	switch (place) {
	case PLACE_ENVIRONMENT:
		value = getenv("CUPOLA_IMAGES");
		if (value && *value)
			n = snprintf(path, size, "%s", value);
		break;
	case PLACE_STATE:
		n = snprintf(path, size, "%s/images", state);
		break;
	case PLACE_HOST:
		n = snprintf(path, size, "/var/lib/cupola/images");
		break;
	case PLACE_SOURCE:
		n = source_place("", path, size);
		break;
	case PLACE_SOURCE_BUILD:
		n = source_place("../", path, size);
		break;
	}
	return n > 0 && (size_t)n < size;
}

static bool find_directory(const char *name, const char *state,
			   char ret_directory[PATH_MAX])
{
	char place[PATH_MAX / 2], path[PATH_MAX];
	int i;

	for (i = 0; i < PLACE_COUNT; i++) {
		if (!get_place(i, state, place, sizeof(place)))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", place, name);
		/* The link is followed once, so that all parts are of one. */
		if (realpath(path, ret_directory))
			return true;
	}
	return false;
}

int image_find(const char *name, const char *state, struct image *ret_image,
	       struct error *err)
{
	struct image image = { .hold = -1 };
	char directory[PATH_MAX];
	const char *pin = strchr(name, '@');
	size_t length = pin ? (size_t)(pin++ - name) : strlen(name);
	int r;

	if (length >= sizeof(image.name))
		return error_set(err, ERR_HYPERVISOR,
				 "image '%s' has too long a name", name);
	memcpy(image.name, name, length);
	if (pin && strlen(pin) != VMD_PIN_DIGITS)
		return error_set(err, ERR_HYPERVISOR,
				 "image '%s' is not pinned by %d digits of its "
				 "digest", name, VMD_PIN_DIGITS);
	if (!find_directory(name, state, directory))
		return error_set(err, ERR_HYPERVISOR,
				 "image '%s' is not there: make it with "
				 "'images/build %s'", name, image.name);
	r = read_image(directory, pin, &image, err);
	if (r < 0)
		return error_wrap(err, r, "image '%s' cannot be used", name);
	*ret_image = image;
	return 0;
}

int image_open_manifest(const struct image *image, struct error *err)
{
	char path[PATH_MAX];
	int n, fd;

	/* In the directory that VMs are made of, whatever the name leads to. */
	n = snprintf(path, sizeof(path), "%.*s/" MANIFEST,
		     (int)(strrchr(image->root, '/') - image->root),
		     image->root);
	if ((size_t)n >= sizeof(path))
		return error_set_errno(err, -ENAMETOOLONG,
				       "Cannot open the image's manifest");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_set_errno(err, -errno,
					"Cannot open the image's manifest")
		      : fd;
}
