/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_TLS_H
#define API_HTTP_TLS_H

/*
 * The certificate that TCP listeners show, and its key.
 *
 * Both are files. They are read again when the daemon is told to, and when they
 * have changed on the disk: new connections get the new pair, those that are
 * there keep what they began with. A pair that is no good changes nothing.
 *
 * The library takes one pair, at its start. But each connection's session is
 * ours to prepare before the handshake, and that includes what it shows.
 */

#include <gnutls/gnutls.h>
#include <systemd/sd-event.h>

#include "base/error.h"

/* Versions before 1.2 are refused. */
#define HTTP_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct http_tls;
struct http_tls_pair;

/**
 * http_tls_new() - Read a certificate and its key
 * @cert:	File in PEM, the server's own certificate first
 * @key:	File in PEM, which nobody but its owner and group may read
 * @err:	For the operator: it names files
 */
int http_tls_new(sd_event *event, const char *cert, const char *key,
		 struct http_tls **ret, struct error *err);

/** http_tls_check() - Whether http_tls_new() could use the files */
int http_tls_check(const char *cert, const char *key, struct error *err);

/** http_tls_free() - To be called when no connection is left; may be NULL */
void http_tls_free(struct http_tls *tls);

/** http_tls_reload() - Read them again; on failure the old pair stays */
int http_tls_reload(struct http_tls *tls, struct error *err);

/**
 * http_tls_begin() - Have a new connection show the present pair
 *
 * Return: for http_tls_end(); NULL if it cannot
 */
struct http_tls_pair *http_tls_begin(struct http_tls *tls,
				     gnutls_session_t session);

/** http_tls_end() - The connection is over; may be NULL */
void http_tls_end(struct http_tls_pair *pair);

#endif
