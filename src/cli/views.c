#include "base/json.h"
#include "cli/cli.h"
#include "cli/views.h"

const char *view_string(const struct json_object *object, const char *key)
{
	const char *s = json_string_of(json_member(object, key)).data;

	return s ? s : "";
}

int64_t view_int(const struct json_object *object, const char *key)
{
	struct value {
		int64_t number;
	} value = { 0 };
	const struct json_field field =
		JSON_INT_FIELD(key, struct value, number);

	if (json_read_fields(object, NULL, &field, 1, JSON_UNKNOWN_IGNORED,
			     &value, NULL) < 0)
		return 0;
	return value.number;
}

bool view_bool(const struct json_object *object, const char *key)
{
	struct value {
		bool yes;
	} value = { false };
	const struct json_field field = JSON_BOOL_FIELD(key, struct value, yes);

	return json_read_fields(object, NULL, &field, 1, JSON_UNKNOWN_IGNORED,
				&value, NULL) >= 0 &&
	       value.yes;
}

/* Every object of the API has an id; what has none is something else. */
static int check_id(struct cli *cli, const char *id)
{
	if (id[0])
		return 0;
	return cli_fail(cli, CLI_BROKEN,
			"The daemon's answer lacks an id: is it of another "
			"version?");
}

int view_container(struct cli *cli, const struct json_object *object,
		   struct view_container *ret)
{
	const struct json_object *session = json_member(object, "session");
	const struct json_object *ended = json_member(session, "ended");
	const struct json_object *usage = json_member(session, "usage");

	*ret = (struct view_container){
		.id = view_string(object, "id"),
		.name = view_string(object, "name"),
		.status = view_string(object, "status"),
		.memory_limit = view_string(object, "memory_limit"),
		.created_at = view_int(object, "created_at"),
		.tenant = view_string(object, "tenant"),
		.vm = view_string(object, "vm"),
		.state = view_string(session, "state"),
		.pool = view_string(session, "pool"),
		.image = view_string(session, "image"),
		.idle_expires_at = view_int(session, "idle_expires_at"),
		.hard_expires_at = view_int(session, "hard_expires_at"),
		.ended_reason = view_string(ended, "reason"),
		.executions = view_int(usage, "executions"),
	};
	return check_id(cli, ret->id);
}

static const char *below_data(const char *path)
{
	static const char prefix[] = "/mnt/data/";
	size_t i;

	for (i = 0; prefix[i]; i++)
		if (path[i] != prefix[i])
			return path;
	return path + i;
}

int view_file(struct cli *cli, const struct json_object *object,
	      struct view_file *ret)
{
	const char *path = view_string(object, "path");
	const char *source = view_string(object, "source");

	*ret = (struct view_file){
		.id = view_string(object, "id"),
		.name = path[0] ? below_data(path) :
				  view_string(object, "filename"),
		.source = source[0] ? source : view_string(object, "purpose"),
		.bytes = view_int(object, "bytes"),
		.created_at = view_int(object, "created_at"),
	};
	return check_id(cli, ret->id);
}

int view_execution(struct cli *cli, const struct json_object *object,
		   struct view_execution *ret)
{
	const struct json_object *error = json_member(object, "error");
	const struct json_object *cut = json_member(object, "truncated");

	*ret = (struct view_execution){
		.id = view_string(object, "id"),
		.status = view_string(object, "status"),
		.error_name = view_string(error, "name"),
		.error_value = view_string(error, "value"),
		.traceback = view_string(error, "traceback"),
		.state_lost = view_bool(object, "state_lost"),
		.omitted_bytes = view_int(cut, "omitted_bytes"),
		.total_bytes = view_int(cut, "total_bytes"),
		.artifacts = json_member(object, "artifacts"),
		.skipped = json_member(object, "skipped"),
	};
	return check_id(cli, ret->id);
}

void view_skipped(const struct json_object *object, struct view_skipped *ret)
{
	*ret = (struct view_skipped){
		.path = below_data(view_string(object, "path")),
		.reason = view_string(object, "reason"),
		.count = view_int(object, "count"),
	};
}

int view_key(struct cli *cli, const struct json_object *object,
	     struct view_key *ret)
{
	*ret = (struct view_key){
		.id = view_string(object, "id"),
		.tenant = view_string(object, "tenant"),
		.name = view_string(object, "name"),
		.key = view_string(object, "key"),
		.created_at = view_int(object, "created_at"),
		.expires_at = view_int(object, "expires_at"),
		.revoked_at = view_int(object, "revoked_at"),
		.last_used_at = view_int(object, "last_used_at"),
	};
	return check_id(cli, ret->id);
}
