/* SPDX-License-Identifier: Apache-2.0 */
#include "turn/upstream_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/limits.h"

/* White space around the key: the newline that editors leave, for one. */
#define BLANK " \t\r\n"

static int open_credential(const char *name, struct error *err)
{
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	_cleanup_free_ char *path = NULL;
	int fd;

	if (!directory || !*directory)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' is no path from the root, and systemd "
				 "passed no credentials", name);
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return error_set_errno(err, -ENOMEM, "Cannot open '%s'", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, -errno,
				       "Cannot open the credential '%s'", name);
	return fd;
}

static int open_key(const char *file, struct error *err)
{
	int fd;

	if (!strchr(file, '/'))
		return open_credential(file, err);
	if (*file != '/')
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' is neither a path from the root nor the "
				 "name of a credential", file);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, -errno, "Cannot open '%s'", file);
	return fd;
}

static int check_file(int fd, const char *file, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, -errno, "Cannot look at '%s'", file);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_BAD_REQUEST, "'%s' is no file", file);
	if (st.st_mode & S_IROTH)
		return error_set(err, ERR_BAD_REQUEST,
				 "everybody may read '%s': chmod o-r", file);
	return 0;
}

/* Takes the key out of @text in place; what else is in the file is refused. */
static int take_key(char *text, ssize_t length, const char *file, char **ret,
		    struct error *err)
{
	char *begin;
	size_t i, size;

	text[length] = '\0';
	begin = text + strspn(text, BLANK);
	size = strlen(begin);
	if (begin + size != text + length)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' holds a byte 0", file);
	while (size > 0 && strchr(BLANK, begin[size - 1]))
		size--;
	if (size == 0)
		return error_set(err, ERR_BAD_REQUEST, "'%s' is empty", file);
	for (i = 0; i < size; i++)
		if (begin[i] <= ' ' || begin[i] > '~')
			return error_set(err, ERR_BAD_REQUEST,
					 "'%s' must hold one line of printable "
					 "characters", file);
	*ret = strndup(begin, size);
	return *ret ? 0 : error_set_errno(err, -ENOMEM, "Cannot read '%s'",
					  file);
}

int upstream_key_read(const char *file, char **ret, struct error *err)
{
	char text[LIMIT_KEY_FILE + 1];
	_cleanup_close_ int fd = open_key(file, err);
	ssize_t length;
	int r;

	if (fd < 0)
		return fd;
	r = check_file(fd, file, err);
	if (r < 0)
		return r;
	length = read(fd, text, sizeof(text));
	if (length < 0)
		r = error_set_errno(err, -errno, "Cannot read '%s'", file);
	else if (length == (ssize_t)sizeof(text))
		r = error_set(err, ERR_BAD_REQUEST,
			      "'%s' is longer than a key of %d bytes", file,
			      LIMIT_KEY_FILE);
	else
		r = take_key(text, length, file, ret, err);
	explicit_bzero(text, sizeof(text));
	return r;
}

void upstream_key_free(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
}
