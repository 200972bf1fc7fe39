/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http_peer.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define GROUP_ADMIN "cupola-admin"
#define GROUP_VIEW "cupola-view"

enum { GROUPS_MAX = 65536 };	/* NGROUPS_MAX of Linux */

static gid_t find_group(const char *name)
{
	const struct group *entry = getgrnam(name);

	return entry ? entry->gr_gid : (gid_t)-1;
}

struct http_groups http_groups_find(void)
{
	return (struct http_groups){
		.admin = find_group(GROUP_ADMIN),
		.view = find_group(GROUP_VIEW),
	};
}

/* All that a peer is a member of. */
struct membership {
	gid_t *id;
	size_t count;
};

static void membership_done(struct membership *m)
{
	free(m->id);
}

/* The kernel says how much room it takes when there is too little. */
static int read_membership(int fd, gid_t gid, struct membership *m)
{
	socklen_t size = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 &&
	    errno != ERANGE)
		return -errno;
	if (size > GROUPS_MAX * sizeof(gid_t))
		return -E2BIG;
	m->id = malloc(size + sizeof(gid_t));
	if (!m->id)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, m->id, &size) < 0)
		return -errno;
	m->count = size / sizeof(gid_t);
	m->id[m->count++] = gid;
	return 0;
}

static bool is_member(const struct membership *m, gid_t group)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->id[i] == group && group != (gid_t)-1)
			return true;
	return false;
}

struct http_peer http_peer_of(int fd, const struct http_groups *groups)
{
	_cleanup_(membership_done) struct membership m = { .count = 0 };
	struct http_peer peer = { .local = false, .uid = (uid_t)-1 };
	socklen_t size = sizeof(int);
	struct ucred cred;
	int domain = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 ||
	    domain != AF_UNIX)
		return peer;
	peer.local = true;
	size = sizeof(cred);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return peer;
	peer.uid = cred.uid;
	if (cred.uid == 0 || cred.uid == geteuid()) {
		peer.admin = true;
		return peer;
	}
	if (read_membership(fd, cred.gid, &m) < 0)
		return peer;
	peer.admin = is_member(&m, groups->admin);
	peer.view = is_member(&m, groups->view);
	return peer;
}
