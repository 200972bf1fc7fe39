#ifndef CUPOLA_CLI_VIEWS_H
#define CUPOLA_CLI_VIEWS_H

/*
 * The API's objects as the commands read them. Strings are borrowed from the
 * JSON; what an answer lacks is "" or 0. Fields that this program does not know
 * are ignored, so that a newer daemon does not confuse it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;
struct json_object;

/** struct view_container - A container object with its session */
struct view_container {
	const char *id;
	const char *name;
	const char *status;
	const char *memory_limit;
	int64_t created_at;
	const char *tenant; /* admin calls only, like vm */
	const char *vm;
	const char *state;
	const char *pool;
	const char *image;
	int64_t idle_expires_at;
	int64_t hard_expires_at;
	const char *ended_reason;
	int64_t executions;
};

/** struct view_file - An uploaded file, or a file of a container */
struct view_file {
	const char *id;
	const char *name;   /* filename, or path below /mnt/data/ */
	const char *source; /* "user", "assistant"; purpose of an upload */
	int64_t bytes;
	int64_t created_at;
};

/** struct view_execution - How an execution ended */
struct view_execution {
	const char *id;
	const char *status;
	const char *error_name;
	const char *error_value;
	const char *traceback;
	bool state_lost;
	int64_t omitted_bytes;
	int64_t total_bytes;
	const struct json_object *artifacts; /* array of view_file */
	const struct json_object *skipped;   /* array of view_skipped */
};

struct view_skipped {
	const char *path;
	const char *reason;
	int64_t count; /* of files it stands for; 0: the one at path */
};

struct view_key {
	const char *id;
	const char *tenant;
	const char *name;
	const char *key; /* only when it was just made */
	int64_t created_at;
	int64_t expires_at;
	int64_t revoked_at;
	int64_t last_used_at;
};

/*
 * view_…() - Read one object
 *
 * A field of another type than it should be counts as absent; without an id it
 * is no object of the API.
 *
 * Return: 0, or minus CLI_BROKEN
 */
int view_container(struct cli *cli, const struct json_object *object,
		   struct view_container *ret);
int view_file(struct cli *cli, const struct json_object *object,
	      struct view_file *ret);
int view_execution(struct cli *cli, const struct json_object *object,
		   struct view_execution *ret);
int view_key(struct cli *cli, const struct json_object *object,
	     struct view_key *ret);

void view_skipped(const struct json_object *object, struct view_skipped *ret);

/** view_string() - A member that is a string, or "" */
const char *view_string(const struct json_object *object, const char *key);

/** view_int() - A member that is an integer, or 0 */
int64_t view_int(const struct json_object *object, const char *key);

/** view_bool() - A member that is true */
bool view_bool(const struct json_object *object, const char *key);

#endif
