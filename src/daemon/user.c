#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <unistd.h>

#include "daemon/user.h"

enum { GROUPS_MAX = 64 };

static bool add_group(gid_t *groups, int *count, gid_t group)
{
	int i;

	for (i = 0; i < *count; i++)
		if (groups[i] == group)
			return true;
	if (*count == GROUPS_MAX)
		return false;
	groups[(*count)++] = group;
	return true;
}

/*
 * The user's own groups and kvm, in case the user was made before the group:
 * without it every KVM host would emulate, and nobody would know why.
 */
static int take_groups(const struct passwd *user)
{
	gid_t groups[GROUPS_MAX];
	const struct group *kvm;
	int count = GROUPS_MAX;

	if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
		return -E2BIG;
	kvm = getgrnam("kvm");
	if (kvm && !add_group(groups, &count, kvm->gr_gid))
		return -E2BIG;
	return setgroups((size_t)count, groups) < 0 ? -errno : 0;
}

int user_become(const struct passwd *user)
{
	int r = take_groups(user);

	if (r < 0)
		return r;
	if (setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
		return -errno;
	/* The way back must be closed. */
	return setuid(0) == 0 ? -EPERM : 0;
}
