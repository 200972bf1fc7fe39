/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_ZIP_NAMES_H
#define API_ZIP_NAMES_H

/*
 * What files are called in an archive that anybody may unpack anywhere.
 *
 * Names that are harmless stay as they are, to the byte. In others, backslashes,
 * control characters and bytes that are no UTF-8 become "_", as do the dots of
 * "." and ".."; empty steps vanish. So no name is absolute or leads upwards. Of
 * names that are then the same, and of a file that is called like another's
 * folder, the later one gets a number: "a (2).csv".
 */

struct zip_names;

struct zip_names *zip_names_new(void);
void zip_names_free(struct zip_names *names);

/**
 * zip_names_add() - Name a file
 * @path:	Relative, as the container has it
 *
 * Return: its name, until the next call; NULL without memory, or if the path is
 * longer than NAME_PATH_MAX
 */
const char *zip_names_add(struct zip_names *names, const char *path);

#endif
