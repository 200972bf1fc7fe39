#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/settings_file.h"
#include "base/settings_value.h"

enum {
	OPEN_SECTION_MAX = 64, /* bytes of "model.default" and its kind */
};

/** enum source - Who said a value; what is greater wins */
enum source {
	SOURCE_FILE,
	SOURCE_COMMAND_LINE,
};

/** struct given - One value that file or command line gave */
struct given {
	const struct setting *row;
	char *section;
	enum source source;
	struct setting_value value;
};

struct settings {
	const struct setting *table;
	size_t count;
	struct setting_value *defaults; /* one for each row */
	struct given *given;
	size_t given_count;
};

/* Whether @section is the row's, or an instance of it: "pool.big" of "pool.*" */
static bool section_fits(const struct setting *row, const char *section)
{
	const size_t prefix = strcspn(row->section, "*");

	if (strcmp(row->section, section) == 0)
		return true;
	return row->section[prefix] == '*' &&
	       strncmp(row->section, section, prefix) == 0 &&
	       name_is_label(section + prefix);
}

static const struct setting *find_row(const struct settings *s,
				      const char *section, const char *key)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (strcmp(s->table[i].key, key) == 0 &&
		    section_fits(&s->table[i], section))
			return &s->table[i];
	return NULL;
}

static bool section_is_known(const struct settings *s, const char *section)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (section_fits(&s->table[i], section))
			return true;
	return false;
}

static struct given *find_given(const struct settings *s,
				const struct setting *row, const char *section)
{
	size_t i;

	for (i = 0; i < s->given_count; i++)
		if (s->given[i].row == row &&
		    strcmp(s->given[i].section, section) == 0)
			return &s->given[i];
	return NULL;
}

int settings_new(const struct setting *table, size_t count,
		 struct settings **ret_settings)
{
	_cleanup_(settings_freep) struct settings *s = NULL;
	struct error err = ERROR_INIT;
	size_t i;
	int r;

	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->defaults = calloc(count, sizeof(s->defaults[0]));
	if (!s->defaults)
		return -ENOMEM;
	s->table = table;
	s->count = count;
	for (i = 0; i < count; i++) {
		r = setting_parse(&table[i], table[i].fallback, &s->defaults[i],
				  &err);
		assert(r == 0 || err.code == ERR_INTERNAL);
		if (r < 0)
			return -ENOMEM;
	}
	*ret_settings = take_ptr(s);
	return 0;
}

void settings_free(struct settings *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->count; i++)
		setting_value_done(&s->defaults[i]);
	for (i = 0; i < s->given_count; i++) {
		free(s->given[i].section);
		setting_value_done(&s->given[i].value);
	}
	free(s->defaults);
	free(s->given);
	free(s);
}

void settings_freep(struct settings **s)
{
	settings_free(*s);
}

/* Takes @value over if it succeeds. */
static int add_given(struct settings *s, const struct setting *row,
		     const char *section, enum source source,
		     const struct setting_value *value)
{
	_cleanup_free_ char *copy = strdup(section);
	struct given *given;

	if (!copy)
		return -ENOMEM;
	given = reallocarray(s->given, s->given_count + 1, sizeof(*given));
	if (!given)
		return -ENOMEM;
	s->given = given;
	given[s->given_count++] = (struct given){ .row = row,
						  .section = take_ptr(copy),
						  .source = source,
						  .value = *value };
	return 0;
}

/* Puts a value in place, unless a better source gave one before. */
static int keep_value(struct settings *s, const struct setting *row,
		      const char *section, enum source source,
		      struct setting_value *value, struct error *err)
{
	struct given *before = find_given(s, row, section);

	if (!before) {
		if (add_given(s, row, section, source, value) == 0)
			return 0;
		setting_value_done(value);
		return error_set(err, ERR_INTERNAL,
				 "Out of memory for settings");
	}
	if (before->source == SOURCE_FILE && source == SOURCE_FILE) {
		setting_value_done(value);
		return error_set(err, ERR_BAD_REQUEST, "given a second time");
	}
	if (before->source <= source) {
		setting_value_done(&before->value);
		before->value = *value;
		before->source = source;
		return 0;
	}
	setting_value_done(value);
	return 0;
}

static int check_instances(const struct settings *s, const char *section,
			   struct error *err)
{
	const char *dot = strchr(section, '.');
	_cleanup_free_ char *prefix = NULL;

	if (!dot)
		return 0;
	prefix = strndup(section, (size_t)(dot - section));
	if (!prefix)
		return error_set(err, ERR_INTERNAL,
				 "Out of memory for settings");
	if (!settings_instance(s, prefix, LIMIT_SETTING_INSTANCES))
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "there are more than %d sections '%s.…'",
			 LIMIT_SETTING_INSTANCES, prefix);
}

/*
 * An open section's own name stands for the instance that is always there:
 * "model" for "model.default". Return: @section, or @room with that.
 */
static const char *whole_section(const struct settings *s, const char *section,
				 char room[OPEN_SECTION_MAX])
{
	const size_t length = strlen(section);
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (strncmp(s->table[i].section, section, length) != 0 ||
		    strcmp(s->table[i].section + length, ".*") != 0)
			continue;
		(void)snprintf(room, OPEN_SECTION_MAX, "%s.default", section);
		return room;
	}
	return section;
}

static int assign(struct settings *s, const char *given, const char *key,
		  const char *text, enum source source, struct error *err)
{
	char room[OPEN_SECTION_MAX];
	const char *section = whole_section(s, given, room);
	const struct setting *row = find_row(s, section, key);
	struct setting_value value;
	int r;

	if (!section_is_known(s, section) || strchr(section, '*'))
		return error_set(err, ERR_BAD_REQUEST,
				 "there is no section '%s'", section);
	if (!row)
		return error_set(err, ERR_BAD_REQUEST,
				 "there is no setting '%s' in section '%s'",
				 key, section);
	r = setting_parse(row, text, &value, err);
	if (r == 0)
		r = keep_value(s, row, section, source, &value, err);
	if (r == 0)
		r = check_instances(s, section, err);
	return error_wrap(err, r, "%s.%s", given, key);
}

int settings_assign_from_file(struct settings *s, const char *section,
			      const char *key, const char *text,
			      struct error *err)
{
	return assign(s, section, key, text, SOURCE_FILE, err);
}

/*
 * Takes "section.key=value" apart, in place: the last dot before the first '='
 * ends the section, since names of models have dots.
 */
static int split_assignment(char *assignment, const char **ret_key,
			    const char **ret_value)
{
	char *equals = strchr(assignment, '='), *dot;

	if (!equals)
		return -EINVAL;
	*equals = '\0';
	dot = strrchr(assignment, '.');
	if (!dot || dot == assignment || dot[1] == '\0')
		return -EINVAL;
	*dot = '\0';
	*ret_key = dot + 1;
	*ret_value = equals + 1;
	return 0;
}

int settings_set(struct settings *s, const char *assignment, struct error *err)
{
	_cleanup_free_ char *copy = strdup(assignment);
	const char *key, *value;

	if (!copy)
		return error_set(err, ERR_INTERNAL,
				 "Out of memory for settings");
	if (split_assignment(copy, &key, &value) < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "'%s' is not of the form section.key=value",
				 assignment);
	return assign(s, copy, key, value, SOURCE_COMMAND_LINE, err);
}

int settings_set_default(struct settings *s, const char *assignment)
{
	_cleanup_free_ char *copy = strdup(assignment);
	const struct setting *row;
	struct error err = ERROR_INIT;
	struct setting_value value;
	const char *key, *text;
	int r;

	if (!copy)
		return -ENOMEM;
	r = split_assignment(copy, &key, &text);
	assert(r == 0);
	row = find_row(s, copy, key);
	assert(row && strcmp(row->section, copy) == 0);
	r = setting_parse(row, text, &value, &err);
	assert(r == 0 || err.code == ERR_INTERNAL);
	if (r < 0)
		return -ENOMEM;
	setting_value_done(&s->defaults[row - s->table]);
	s->defaults[row - s->table] = value;
	return 0;
}

/* The name behind "prefix.", or NULL if the section is another. */
static const char *instance_name(const struct given *given, const char *prefix)
{
	const size_t length = strlen(prefix);

	if (strncmp(given->section, prefix, length) != 0 ||
	    given->section[length] != '.')
		return NULL;
	return given->section + length + 1;
}

static bool named_before(const struct settings *s, size_t at,
			 const char *section)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (strcmp(s->given[i].section, section) == 0)
			return true;
	return false;
}

const char *settings_instance(const struct settings *s, const char *prefix,
			      size_t i)
{
	const char *name;
	size_t at;

	if (i == 0)
		return "default";
	for (at = 0; at < s->given_count; at++) {
		name = instance_name(&s->given[at], prefix);
		if (!name || strcmp(name, "default") == 0 ||
		    named_before(s, at, s->given[at].section))
			continue;
		if (--i == 0)
			return name;
	}
	return NULL;
}

static const struct setting_value *get(const struct settings *s,
				       const char *section, const char *key,
				       enum setting_type type)
{
	const struct setting *row = find_row(s, section, key);
	const struct given *given;

	assert(row && row->type == type);
	given = find_given(s, row, section);
	return given ? &given->value : &s->defaults[row - s->table];
}

const char *settings_string(const struct settings *s, const char *section,
			    const char *key)
{
	const struct setting *row = find_row(s, section, key);

	assert(row);
	return get(s, section, key,
		   row->type == SETTING_CHOICE ? SETTING_CHOICE :
						 SETTING_STRING)
		->text;
}

bool settings_bool(const struct settings *s, const char *section,
		   const char *key)
{
	return get(s, section, key, SETTING_BOOL)->number != 0;
}

uint64_t settings_uint(const struct settings *s, const char *section,
		       const char *key)
{
	return get(s, section, key, SETTING_UINT)->number;
}

usec_t settings_usec(const struct settings *s, const char *section,
		     const char *key)
{
	return get(s, section, key, SETTING_SECONDS)->number;
}

uint64_t settings_bytes(const struct settings *s, const char *section,
			const char *key)
{
	return get(s, section, key, SETTING_SIZE)->number;
}

double settings_number(const struct settings *s, const char *section,
		       const char *key)
{
	return get(s, section, key, SETTING_NUMBER)->fraction;
}

bool settings_is_set(const struct settings *s, const char *section,
		     const char *key)
{
	const struct setting *row = find_row(s, section, key);

	assert(row);
	return find_given(s, row, section) != NULL;
}
