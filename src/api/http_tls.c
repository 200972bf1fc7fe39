/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"

enum {
	PEM_MAX = 1 << 20,
};

/*
 * How often the files are looked at. Not inotify: certificates are often links
 * through several directories, each of which may be swapped.
 */
#define LOOK_USEC (5 * USEC_PER_SEC)

/* Counted: connections that began before a reload still refer to the old one. */
struct http_tls_pair {
	gnutls_certificate_credentials_t credentials;
	unsigned uses;
};

/* Tells whether a file is still the one that was read. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
};

enum { FILE_CERT, FILE_KEY, FILE_COUNT };

struct http_tls {
	char *path[FILE_COUNT];
	struct stamp seen[FILE_COUNT];	/* at the last attempt */
	struct http_tls_pair *pair;
	sd_event_source *timer;
};

DEFINE_FREEP(struct http_tls, http_tls_free);

void http_tls_end(struct http_tls_pair *pair)
{
	if (!pair || --pair->uses > 0)
		return;
	gnutls_certificate_free_credentials(pair->credentials);
	free(pair);
}

DEFINE_FREEP(struct http_tls_pair, http_tls_end);

static struct stamp stamp_of(const struct stat *st)
{
	return (struct stamp){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = st->st_size,
		.modified = st->st_mtim,
	};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size &&
	       a->modified.tv_sec == b->modified.tv_sec &&
	       a->modified.tv_nsec == b->modified.tv_nsec;
}

/* Whoever has the key is the server: others may neither read nor change it. */
static int check_key_file(const char *path, const struct stat *st,
			  struct error *err)
{
	if (st->st_mode & (S_IRWXO | S_IWGRP | S_IXGRP))
		return error_set(err, ERR_BAD_REQUEST,
				 "The key '%s' has mode %04o: nobody but its "
				 "owner may write it and nobody but owner and "
				 "group may read it", path,
				 (unsigned)st->st_mode & 07777);
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return error_set(err, ERR_BAD_REQUEST,
				 "The key '%s' belongs to another user", path);
	return 0;
}

static int read_pem(struct http_tls *tls, int file, struct buf *ret,
		    struct error *err)
{
	const char *path = tls->path[file];
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return error_set_errno(err, -errno, "Cannot read '%s'", path);
	/* Before it is read: what changes meanwhile is seen to be newer. */
	tls->seen[file] = stamp_of(&st);
	r = file == FILE_KEY ? check_key_file(path, &st, err) : 0;
	if (r < 0)
		return r;
	r = fs_read_file(AT_FDCWD, path, ret);
	return r < 0 ? error_set_errno(err, r, "Cannot read '%s'", path) : 0;
}

static void wipe(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->length);
	buf_done(b);
}

static int make_credentials(struct http_tls *tls, const struct buf pem[],
			    struct http_tls_pair *pair, struct error *err)
{
	const gnutls_datum_t cert = { pem[FILE_CERT].data,
				      (unsigned)pem[FILE_CERT].length };
	const gnutls_datum_t key = { pem[FILE_KEY].data,
				     (unsigned)pem[FILE_KEY].length };
	int r;

	r = gnutls_certificate_allocate_credentials(&pair->credentials);
	if (r >= 0)
		r = gnutls_certificate_set_x509_key_mem2(
			pair->credentials, &cert, &key, GNUTLS_X509_FMT_PEM,
			NULL, 0);
	if (r < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "Cannot use the certificate '%s' with the key "
				 "'%s': %s", tls->path[FILE_CERT],
				 tls->path[FILE_KEY], gnutls_strerror(r));
	return 0;
}

/* Served all the same: clients that do not check go on working. */
static void warn_if_out_of_date(const struct http_tls *tls,
				const struct http_tls_pair *pair)
{
	gnutls_x509_crt_t *chain = NULL;
	time_t now = time(NULL);
	unsigned count = 0, i;

	if (gnutls_certificate_get_x509_crt(pair->credentials, 0, &chain,
					    &count) < 0)
		return;
	if (count > 0 && (gnutls_x509_crt_get_expiration_time(chain[0]) < now ||
			  gnutls_x509_crt_get_activation_time(chain[0]) > now))
		log_warning(NULL, 0, "The certificate '%s' is not valid today, "
			    "serving it all the same", tls->path[FILE_CERT]);
	for (i = 0; i < count; i++)
		gnutls_x509_crt_deinit(chain[i]);
	gnutls_free(chain);
}

static int load(struct http_tls *tls, struct http_tls_pair **ret,
		struct error *err)
{
	_cleanup_(http_tls_endp) struct http_tls_pair *pair = NULL;
	_cleanup_(buf_done) struct buf cert = BUF_INIT(PEM_MAX);
	_cleanup_(wipe) struct buf key = BUF_INIT(PEM_MAX);
	int r;

	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return error_set_errno(err, -ENOMEM, "Cannot prepare TLS");
	pair->uses = 1;
	r = read_pem(tls, FILE_CERT, &cert, err);
	/* Both are stamped, so that the change of either is noticed. */
	if (read_pem(tls, FILE_KEY, &key, err) < 0 || r < 0)
		return r < 0 ? r : -EINVAL;
	r = make_credentials(tls, (const struct buf[]){ cert, key }, pair,
			     err);
	if (r < 0)
		return r;
	warn_if_out_of_date(tls, pair);
	*ret = take_ptr(pair);
	return 0;
}

int http_tls_reload(struct http_tls *tls, struct error *err)
{
	struct http_tls_pair *pair = NULL;
	int r;

	r = load(tls, &pair, err);
	if (r < 0)
		return r;
	http_tls_end(tls->pair);
	tls->pair = pair;
	log_info(NULL, "Serving the certificate '%s'", tls->path[FILE_CERT]);
	return 0;
}

static bool has_changed(const struct http_tls *tls)
{
	int file;

	for (file = 0; file < FILE_COUNT; file++) {
		struct stamp now = { .size = 0 };
		struct stat st;

		/* One that is being replaced will be there next time. */
		if (stat(tls->path[file], &st) < 0)
			continue;
		now = stamp_of(&st);
		if (!same_stamp(&now, &tls->seen[file]))
			return true;
	}
	return false;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_tls *tls = userdata;
	struct error err = ERROR_INIT;

	(void)usec;
	if (has_changed(tls) && http_tls_reload(tls, &err) < 0)
		log_error(NULL, 0, "%s; the old pair stays", err.message);
	(void)sd_event_source_set_time_relative(source, LOOK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int tls_new(const char *cert, const char *key, struct http_tls **ret,
		   struct error *err)
{
	_cleanup_(http_tls_freep) struct http_tls *tls = NULL;

	tls = calloc(1, sizeof(*tls));
	if (!tls)
		return error_set_errno(err, -ENOMEM, "Cannot prepare TLS");
	tls->path[FILE_CERT] = strdup(cert);
	tls->path[FILE_KEY] = strdup(key);
	if (!tls->path[FILE_CERT] || !tls->path[FILE_KEY])
		return error_set_errno(err, -ENOMEM, "Cannot prepare TLS");
	*ret = take_ptr(tls);
	return 0;
}

int http_tls_check(const char *cert, const char *key, struct error *err)
{
	_cleanup_(http_tls_freep) struct http_tls *tls = NULL;
	int r = tls_new(cert, key, &tls, err);

	return r < 0 ? r : load(tls, &tls->pair, err);
}

int http_tls_new(sd_event *event, const char *cert, const char *key,
		 struct http_tls **ret, struct error *err)
{
	_cleanup_(http_tls_freep) struct http_tls *tls = NULL;
	int r;

	r = tls_new(cert, key, &tls, err);
	if (r >= 0)
		r = http_tls_reload(tls, err);
	if (r < 0)
		return r;
	r = sd_event_add_time_relative(event, &tls->timer, CLOCK_MONOTONIC,
				       LOOK_USEC, USEC_PER_SEC, on_look, tls);
	if (r < 0)
		return error_set_errno(err, r, "Cannot prepare TLS");
	(void)sd_event_source_set_description(tls->timer, "tls-look");
	*ret = take_ptr(tls);
	return 0;
}

void http_tls_free(struct http_tls *tls)
{
	if (!tls)
		return;
	sd_event_source_disable_unref(tls->timer);
	http_tls_end(tls->pair);
	free(tls->path[FILE_CERT]);
	free(tls->path[FILE_KEY]);
	free(tls);
}

struct http_tls_pair *http_tls_begin(struct http_tls *tls,
				     gnutls_session_t session)
{
	struct http_tls_pair *pair = tls->pair;

	if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE,
				   pair->credentials) < 0)
		return NULL;
	pair->uses++;
	return pair;
}
