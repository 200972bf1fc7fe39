/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TINY_IMAGE_H
#define TESTS_TINY_IMAGE_H

/* An image as cupola-vmd finds it, which nothing could boot. */

#define TINY_IMAGE_DIGEST \
	"0123456789ab0123456789ab0123456789ab0123456789ab0123456789abcdef"
#define TINY_IMAGE "tiny@0123456789ab"

/** tiny_image_directory - Where it is, in CUPOLA_IMAGES */
extern char tiny_image_directory[];

/** tiny_image_make() - A test group's set-up: the image without a manifest */
int tiny_image_make(void **state);

/** tiny_image_remove() - The group's tear-down */
int tiny_image_remove(void **state);

/**
 * tiny_image_wish() - Write the manifest
 * @pool:	What the recipe wishes of pools, as ",\"pool\":{…}", or ""
 */
void tiny_image_wish(const char *pool);

#endif
