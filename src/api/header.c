/* SPDX-License-Identifier: Apache-2.0 */
#include "api/header.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

bool header_is_token(const char *s, size_t size)
{
	static const char also[] = "!#$%&'*+-.^_`|~";
	size_t i;

	for (i = 0; i < size; i++) {
		char c = s[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z'))
			continue;
		if (c == '\0' || !strchr(also, c))
			return false;
	}
	return size > 0;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

bool header_is_type(const char *value, const char *type)
{
	size_t length = strlen(type);

	if (!value || strncasecmp(value, type, length) != 0)
		return false;
	value = skip_blanks(value + length);
	return *value == '\0' || *value == ';';
}

/* One parameter while it is being read. */
struct param {
	const char *name;
	char *out;		/* NULL: skip the value */
	size_t size;
	size_t length;
};

static int param_add(struct param *p, char c)
{
	if (!p->out)
		return 0;
	if (p->length + 1 >= p->size)
		return -EMSGSIZE;
	p->out[p->length++] = c;
	return 0;
}

/* Both return where the value ends, or NULL and *@ret_r. */
static const char *read_quoted(const char *s, struct param *p, int *ret_r)
{
	int r = 0;

	for (s++; *s != '"' && r == 0; s++) {
		if (s[0] == '\\' && s[1] == '"')
			s++;
		if (*s == '\0') {
			*ret_r = -EINVAL;
			return NULL;
		}
		r = param_add(p, *s);
	}
	*ret_r = r;
	return r < 0 ? NULL : s + 1;
}

static const char *read_token(const char *s, struct param *p, int *ret_r)
{
	size_t size = strcspn(s, "; \t\"");
	size_t i;

	for (i = 0; i < size; i++) {
		*ret_r = param_add(p, s[i]);
		if (*ret_r < 0)
			return NULL;
	}
	*ret_r = size > 0 ? 0 : -EINVAL;
	return size > 0 ? s + size : NULL;
}

/* Reads "name=value" at *@s, moves it behind; @p->out is filled if it matches */
static int read_param(const char **s, const char *wanted, struct param *p)
{
	const char *name = *s, *at;
	size_t length = strcspn(name, "=; \t\"");
	struct param skip = { 0 };
	bool matches;
	int r = 0;

	if (name[length] != '=' || !header_is_token(name, length))
		return -EINVAL;
	matches = strlen(wanted) == length &&
		  strncasecmp(name, wanted, length) == 0;
	if (matches && p->name)
		return -EINVAL;
	if (matches)
		p->name = name;
	at = name + length + 1;
	at = *at == '"' ? read_quoted(at, matches ? p : &skip, &r)
			: read_token(at, matches ? p : &skip, &r);
	if (!at)
		return r;
	*s = skip_blanks(at);
	return **s == '\0' || **s == ';' ? 0 : -EINVAL;
}

int header_param(const char *value, const char *name, char *out, size_t size)
{
	struct param p = { .out = out, .size = size };
	const char *s = strchr(value, ';');
	int r;

	while (s && *s == ';') {
		s = skip_blanks(s + 1);
		if (*s == '\0')
			break;		/* a last ';' is harmless */
		r = read_param(&s, name, &p);
		if (r < 0)
			return r;
	}
	if (!p.name)
		return -ENOENT;
	out[p.length] = '\0';
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int header_percent_byte(const char *escape)
{
	int high, low;

	if (escape[0] != '%')
		return -1;
	high = hex_digit(escape[1]);
	low = high < 0 ? -1 : hex_digit(escape[2]);
	return low < 0 ? -1 : high << 4 | low;
}

int header_decode_ext(char *text)
{
	static const char charset[] = "utf-8'";
	const char *in;
	char *out = text;

	if (strncasecmp(text, charset, strlen(charset)) != 0)
		return -EINVAL;
	in = strchr(text + strlen(charset), '\'');
	if (!in)
		return -EINVAL;
	for (in++; *in; in++) {
		int byte;

		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		byte = header_percent_byte(in);
		if (byte <= 0)
			return -EINVAL;
		*out++ = (char)byte;
		in += 2;
	}
	*out = '\0';
	return 0;
}

void header_decode_form(char *text)
{
	static const struct {
		const char *escape;
		char byte;
	} escapes[] = {
		{ "%22", '"' }, { "%0D", '\r' }, { "%0A", '\n' },
		{ "%5C", '\\' },
	};
	const char *in = text;
	char *out = text;
	size_t i;

	while (*in) {
		for (i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
			if (strncasecmp(in, escapes[i].escape, 3) == 0)
				break;
		if (i < sizeof(escapes) / sizeof(escapes[0])) {
			*out++ = escapes[i].byte;
			in += 3;
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
}
