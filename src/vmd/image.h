#ifndef VMD_IMAGE_H
#define VMD_IMAGE_H

#include <limits.h>

#include "base/error.h"
#include "vmd/vmd_proto.h"

/*
 * Images as images/build publishes them: NAME is a link to a directory that
 * never changes, with kernel, initrd, root file system and manifest.
 */

#define IMAGE_CMDLINE_MAX 512
#define IMAGE_WISH_MAX 24

/**
 * struct image - An image, found
 * @name:	As pools call it
 * @digest:	"sha256:…" over all that a guest runs
 * @cmdline:	What the kernel command line needs for it, maybe nothing
 * @vcpus:	What its recipe wishes of a pool, as the settings would have it;
 *		empty: nothing
 * @memory:	Likewise
 * @disk:	Likewise
 * @kernel:	Path in the image's own directory, not through the link
 * @initrd:	Likewise
 * @root:	Likewise
 * @hold:	The directory, locked so that nobody removes it. struct pools
 *		closes it; in other copies it is a number and no more
 */
struct image {
	char name[VMD_NAME_MAX];
	char digest[VMD_DIGEST_MAX];
	char cmdline[IMAGE_CMDLINE_MAX];
	char vcpus[IMAGE_WISH_MAX];
	char memory[IMAGE_WISH_MAX];
	char disk[IMAGE_WISH_MAX];
	char kernel[PATH_MAX];
	char initrd[PATH_MAX];
	char root[PATH_MAX];
	int hold;
};

/**
 * image_find() - Find an image by name
 * @name:	"NAME", or "NAME@DIGITS" for one that stays whatever is built later
 * @state:	vmd's state directory
 * @ret_image:	The image
 * @err:	What is missing, and what to do
 *
 * Looks in $CUPOLA_IMAGES, @state/images, /var/lib/cupola/images, and images/out
 * of the source tree that vmd was built in; the first that has the name counts.
 *
 * Return: 0 or negative errno
 */
int image_find(const char *name, const char *state, struct image *ret_image,
	       struct error *err);

/** image_open_manifest() - What it is made of; Return: a descriptor */
int image_open_manifest(const struct image *image, struct error *err);

#endif
