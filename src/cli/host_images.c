#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/host.h"
#include "cli/views.h"

/* Where images/build publishes as root, whatever the prefix. */
#define SYSTEM_IMAGES "/var/lib/cupola/images"

struct walk {
	void (*each)(const struct host_image *image, void *userdata);
	void *userdata;
	size_t count;
};

static void look_at_image(struct walk *w, const char *directory,
			  const char *name)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_MANIFEST_FILE);
	_cleanup_(json_freep) struct json_object *manifest = NULL;
	struct host_image image = { .name = name, .directory = directory };
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/manifest.json", directory,
		     name) >= (int)sizeof(path) ||
	    fs_read_file(AT_FDCWD, path, &text) < 0 ||
	    json_parse(buf_str(&text), text.length, &manifest, NULL) < 0)
		return;
	image.digest = view_string(manifest, "digest");
	image.built_at = view_string(manifest, "built_at");
	image.size = view_int(manifest, "size");
	w->each(&image, w->userdata);
	w->count++;
}

/* NAME is a link to NAME@digest, beside it: one image, counted once. */
static void look_into(struct walk *w, const char *directory)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '@'))
			look_at_image(w, directory, entry->d_name);
}

/* images/out of the source tree, when this program runs from its build/. */
static void look_into_tree(struct walk *w)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	if (n <= 0)
		return;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash, "/../images/out");
	look_into(w, path);
}

size_t host_images(const char *state,
		   void (*each)(const struct host_image *image, void *userdata),
		   void *userdata)
{
	struct walk w = { each, userdata, 0 };
	const char *named = getenv("CUPOLA_IMAGES");
	char path[PATH_MAX];

	if (named && *named)
		look_into(&w, named);
	snprintf(path, sizeof(path), "%s/images", state);
	if (strcmp(path, SYSTEM_IMAGES) != 0)
		look_into(&w, path);
	look_into(&w, SYSTEM_IMAGES);
	look_into_tree(&w);
	return w.count;
}
