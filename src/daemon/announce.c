#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "core/core.h"
#include "daemon/announce.h"
#include "daemon/daemon.h"

#define KEY_FILE "api-key"
#define URL_FILE "url"

/* A line of text in a file of the directory. */
static int write_line(struct daemon *d, const char *name, const char *text,
		      mode_t mode, struct error *err)
{
	_cleanup_(buf_done) struct buf line = BUF_INIT(LIMIT_LINE_BYTES);
	int r = buf_printf(&line, "%s\n", text);

	if (r >= 0)
		r = fs_write_file_atomic(d->dir_fd, name, line.data,
					 line.length, mode);
	if (line.data)
		explicit_bzero(line.data, line.length);
	if (r < 0)
		return error_set_errno(err, r, "Cannot write '%s/%s'", d->dir,
				       name);
	return 0;
}

static int write_url(struct daemon *d, struct error *err)
{
	const char *url = api_url(d->api);

	return url ? write_line(d, URL_FILE, url, 0644, err) : 0;
}

/* Whether the key of an earlier start is there and still opens the door. */
static bool key_is_good(struct daemon *d)
{
	_cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT_KEY_FILE);
	struct principal who;
	size_t length;
	bool good;

	if (fs_read_file(d->dir_fd, KEY_FILE, &text) < 0)
		return false;
	length = strcspn(buf_str(&text), "\n");
	good = core_authenticate(d->core, buf_str(&text), length, &who, NULL) >=
	       0;
	if (text.data)
		explicit_bzero(text.data, text.length);
	return good;
}

/* Nobody asked for it: there is no request that would be audited. */
static void audit_key(const struct json_object *made)
{
	const struct log_field fields[] = {
		{ "OBJECT", json_string_of(json_member(made, "id")).data },
		{ "TENANT", json_string_of(json_member(made, "tenant")).data },
	};

	log_audit(NULL, "key_create", fields,
		  sizeof(fields) / sizeof(fields[0]));
}

static int keep_key(struct daemon *d, const char *json, size_t size,
		    struct error *err)
{
	_cleanup_(json_freep) struct json_object *answer = NULL;
	struct json_string key;
	int r = json_parse(json, size, &answer, err);

	if (r < 0)
		return r;
	key = json_string_of(json_member(answer, "key"));
	if (!key.data)
		return error_set(err, ERR_INTERNAL, "The new key is missing");
	audit_key(answer);
	return write_line(d, KEY_FILE, key.data, 0600, err);
}

static void on_key_made(void *userdata, const char *json, size_t size,
			const struct error *failed)
{
	struct daemon *d = userdata;
	struct error err = ERROR_INIT;
	int r;

	/* Too late: there is no server any more whose address could be told. */
	if (d->phase == DAEMON_STOPPING)
		return;
	if (failed) {
		d->announce_done(d, failed);
		return;
	}
	r = keep_key(d, json, size, &err);
	if (r >= 0)
		r = write_url(d, &err);
	d->announce_done(d, r < 0 ? &err : NULL);
}

int announce_begin(struct daemon *d,
		   void (*done)(struct daemon *d, const struct error *err),
		   struct error *err)
{
	const struct key_spec spec = {
		.tenant = "default",
		.name = "development",
		.scopes = CORE_SCOPE_ALL,
	};
	int r = 0;

	d->announce_done = done;
	if (d->development && !key_is_good(d))
		return core_admin_key_create(d->core, &spec, on_key_made, d,
					     err);
	if (d->development)
		r = write_url(d, err);
	if (r < 0)
		return r;
	done(d, NULL);
	return 0;
}

void announce_withdraw(struct daemon *d)
{
	/* Without the lock, the address there is another daemon's. */
	if (d->development && d->lock >= 0)
		(void)unlinkat(d->dir_fd, URL_FILE, 0);
}
