#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vmd/vm_user.h"

uid_t vm_user_uid(uint32_t cid)
{
	return VM_USER_FIRST + cid % VM_USER_COUNT;
}

gid_t vm_user_gid(uint32_t cid, gid_t kvm_group)
{
	return kvm_group == (gid_t)-1 ? (gid_t)vm_user_uid(cid) : kvm_group;
}

int vm_user_own(int dirfd, const char *name, uint32_t cid, gid_t kvm_group)
{
	if (fchownat(dirfd, name, vm_user_uid(cid),
		     vm_user_gid(cid, kvm_group), AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

int vm_user_take(int dirfd, const char *name)
{
	if (fchownat(dirfd, name, geteuid(), (gid_t)-1,
		     AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}
