/* SPDX-License-Identifier: Apache-2.0 */
#include "kvm_access.h"

#include <errno.h>
#include <string.h>

int kvm_errno;

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);

int __wrap_access(const char *path, int mode)
{
	if (strcmp(path, "/dev/kvm") != 0)
		return __real_access(path, mode);
	errno = kvm_errno;
	return kvm_errno ? -1 : 0;
}
