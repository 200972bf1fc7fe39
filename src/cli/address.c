#include <string.h>

#include "cli/address.h"

#define OPERATORS "/admin/"
#define VERSION_PATH "/v1"

static void drop_slashes(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && text[length - 1] == '/')
		text[--length] = '\0';
}

char *address_base(const char *url)
{
	char *base = strdup(url);
	char *end;

	if (!base)
		return NULL;
	drop_slashes(base);
	end = base + strlen(base);
	if (end - base >= (long)strlen(VERSION_PATH) &&
	    strcmp(end - strlen(VERSION_PATH), VERSION_PATH) == 0)
		*(end - strlen(VERSION_PATH)) = '\0';
	drop_slashes(base);
	return base;
}

bool address_is_operators(const char *path)
{
	return strncmp(path, OPERATORS, strlen(OPERATORS)) == 0;
}
