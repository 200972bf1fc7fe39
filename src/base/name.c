#include <errno.h>
#include <string.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include "base/cleanup.h"
#include "base/name.h"

bool utf8_is_valid(const void *data, size_t size)
{
	return size == 0 || !u8_check(data, size);
}

size_t utf8_next(const void *data, size_t size, uint32_t *ret_char)
{
	ucs4_t c;
	int n = u8_mbtoucr(&c, data, size);

	if (n <= 0)
		return 0;
	*ret_char = c;
	return (size_t)n;
}

bool char_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
	       c == 0x2029;
}

bool char_reorders(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t utf8_cut(const void *data, size_t size, size_t max)
{
	const uint8_t *bytes = data;
	size_t back;

	if (size <= max)
		return size;
	/* At most three continuation bytes belong to one character. */
	for (back = 0; back <= 3 && back <= max; back++)
		if ((bytes[max - back] & 0xc0) != 0x80)
			return max - back;
	return max;
}

int utf8_add_fixed(struct buf *b, const void *data, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const uint8_t *at = data, *end = at + size, *bad;
	int r;

	while (at < end) {
		bad = u8_check(at, (size_t)(end - at));
		r = buf_add(b, at, (size_t)((bad ? bad : end) - at));
		if (r < 0 || !bad)
			return r;
		r = buf_add(b, replacement, sizeof(replacement) - 1);
		if (r < 0)
			return r;
		at = bad + 1;
	}
	return 0;
}

int name_add_normal(struct buf *b, const void *data, size_t size)
{
	_cleanup_free_ uint8_t *normal = NULL;
	size_t length = 0;

	/* It would replace what is not, and read nothing of nothing. */
	if (!utf8_is_valid(data, size))
		return -EILSEQ;
	if (size == 0)
		return 0;
	normal = u8_normalize(UNINORM_NFC, data, size, NULL, &length);
	if (!normal)
		return -errno;
	return buf_add(b, normal, length);
}

static int refuse(struct error *err, const char *what, const char *why)
{
	error_set_reason(err, "invalid_value");
	return error_set(err, ERR_BAD_REQUEST, "The %s %s", what, why);
}

/* What every kind of name has in common; @what is the word for it. */
static int check_text(const char *text, size_t size, size_t max,
		      const char *what, struct error *err)
{
	size_t at = 0, n;
	uint32_t c;

	if (size == 0)
		return refuse(err, what, "is empty");
	if (size > max) {
		error_set_reason(err, "string_above_max_length");
		return error_set(
			err, ERR_BAD_REQUEST,
			"The %s is %zu bytes long, at most %zu are allowed",
			what, size, max);
	}
	while (at < size) {
		n = utf8_next(text + at, size - at, &c);
		if (n == 0)
			return refuse(err, what, "is not valid UTF-8");
		if (char_is_control(c))
			return refuse(err, what,
				      "contains a control character");
		at += n;
	}
	return 0;
}

static bool is_dots(const char *name, size_t size)
{
	return (size == 1 && name[0] == '.') ||
	       (size == 2 && name[0] == '.' && name[1] == '.');
}

int name_check_file(const char *name, size_t size, struct error *err)
{
	int r = check_text(name, size, NAME_FILE_MAX, "file name", err);

	if (r < 0)
		return r;
	if (memchr(name, '/', size))
		return refuse(err, "file name", "contains '/'");
	if (is_dots(name, size))
		return refuse(err, "file name", "is '.' or '..'");
	return 0;
}

static bool is_word_character(uint32_t c)
{
	return uc_is_general_category_withtable(
		c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_M |
			   UC_CATEGORY_MASK_Nd);
}

int name_check_plain(const char *name, size_t size, const char *signs,
		     struct error *err)
{
	size_t at, n;
	uint32_t c;

	for (at = 0; at < size; at += n) {
		n = utf8_next(name + at, size - at, &c);
		if (n == 0)
			return refuse(err, "file name", "is not valid UTF-8");
		if (is_word_character(c) ||
		    (c > 0 && c < 0x80 && strchr(signs, (int)c)))
			continue;
		error_set_reason(err, "invalid_value");
		return error_set(err, ERR_BAD_REQUEST,
				 "The file name contains '%.*s': letters, "
				 "digits and \"%s\" are allowed",
				 (int)n, name + at, signs);
	}
	return 0;
}

int name_check_path(const char *path, size_t size, struct error *err)
{
	const char *at = path, *end = path + size, *slash;
	int r = check_text(path, size, NAME_PATH_MAX, "path", err);

	if (r < 0)
		return r;
	do {
		slash = memchr(at, '/', (size_t)(end - at));
		if (!slash)
			slash = end;
		if (slash == at)
			return refuse(err, "path", "has an empty component");
		r = name_check_file(at, (size_t)(slash - at), err);
		if (r < 0)
			return r;
		at = slash + 1;
	} while (slash < end);
	return 0;
}

const char *name_base(const char *name, size_t size, size_t *ret_size)
{
	size_t at = size;

	while (at > 0 && name[at - 1] != '/' && name[at - 1] != '\\')
		at--;
	*ret_size = size - at;
	return name + at;
}

int name_check_text(const char *text, size_t size, size_t max,
		    struct error *err)
{
	return check_text(text, size, max, "name", err);
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

bool name_is_label(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++) {
		if (i == NAME_LABEL_MAX)
			return false;
		if (is_letter_or_digit(name[i]))
			continue;
		if (i == 0 || !strchr("-_.", name[i]))
			return false;
	}
	return i > 0;
}
