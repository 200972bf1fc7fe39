#include "cli/python_text.h"

#include <stddef.h>
#include <string.h>

/**
 * struct reader - How far the text has been read
 * @depth:	Brackets that are open
 * @quote:	What ends the string that is open, or 0
 * @quotes:	How many of it: 1 or 3
 * @last:	Last character of code in the line
 * @goes_on:	The last line ended with a backslash
 * @block:	Some line ended with a colon, or is decorated
 */
struct reader {
	int depth;
	char quote;
	size_t quotes;
	char last;
	bool goes_on;
	bool block;
};

static size_t run_of(const char *at, char c)
{
	size_t n = 0;

	while (n < 3 && at[n] == c)
		n++;
	return n;
}

static const char *read_string(struct reader *r, const char *at)
{
	if (*at == '\\' && at[1])
		return at + 2;
	if (*at == r->quote && run_of(at, r->quote) >= r->quotes) {
		at += r->quotes;
		r->quote = '\0';
		r->last = '"';
		return at;
	}
	/* A string of one line that was not closed is an error of its own. */
	if (*at == '\n' && r->quotes == 1)
		r->quote = '\0';
	return at + 1;
}

static void end_line(struct reader *r)
{
	if (r->depth == 0 && r->last == ':')
		r->block = true;
	r->goes_on = r->last == '\\';
	r->last = '\0';
}

static const char *read_code(struct reader *r, const char *at)
{
	if (*at == '\'' || *at == '"') {
		r->quote = *at;
		r->quotes = run_of(at, *at) == 3 ? 3 : 1;
		return at + r->quotes;
	}
	if (*at == '#')
		return at + strcspn(at, "\n");
	if (strchr("([{", *at))
		r->depth++;
	else if (strchr(")]}", *at) && r->depth > 0)
		r->depth--;
	if (*at == '\n')
		end_line(r);
	else if (*at != ' ' && *at != '\t')
		r->last = *at;
	return at + 1;
}

/* The last line has nothing in it: that ends a block, and continues nothing. */
static bool ends_empty(const char *text, size_t length)
{
	size_t i = length - 1;

	while (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '\t'))
		i--;
	return i == 0 || text[i - 1] == '\n';
}

bool python_text_complete(const char *text)
{
	struct reader r = { .block = text[0] == '@' };
	size_t length = strlen(text);
	const char *at = text;

	if (length == 0)
		return true;
	while (*at)
		at = r.quote ? read_string(&r, at) : read_code(&r, at);
	if (r.quote || r.depth > 0)
		return false;
	if (ends_empty(text, length))
		return true;
	return !r.goes_on && !r.block;
}
