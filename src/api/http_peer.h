/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_HTTP_PEER_H
#define API_HTTP_PEER_H

/*
 * Who is at the other end of a Unix socket, as the kernel says: the credentials
 * that the peer had when it connected, its supplementary groups included.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct http_groups - The groups that count; -1 where there is no such group
 *
 * Looked up once, at the start: a name service may take its time.
 */
struct http_groups {
	gid_t admin;
	gid_t view;
};

/**
 * struct http_peer - Who is at the other end
 * @network:	As whom failures are held against it; 0: not at all
 * @local:	Came by a Unix socket; the rest is false if not
 * @uid:	Then its user; (uid_t)-1 if that is not known
 * @admin:	root, the daemon's own user, or of the group "cupola-admin"
 * @view:	Of the group "cupola-view"
 */
struct http_peer {
	uint64_t network;
	bool local;
	uid_t uid;
	bool admin;
	bool view;
};

/** http_groups_find() - Look the groups up */
struct http_groups http_groups_find(void);

/** http_peer_of() - Find out who is at the other end of a socket */
struct http_peer http_peer_of(int fd, const struct http_groups *groups);

#endif
