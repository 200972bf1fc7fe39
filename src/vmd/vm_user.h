#ifndef VMD_VM_USER_H
#define VMD_VM_USER_H

#include <stdint.h>
#include <sys/types.h>

/*
 * As whom a VM's QEMU runs where libvirt can choose: as nobody else on the host.
 *
 * Who breaks out of one VM is then a user who owns that VM's disk and nothing
 * more: no other QEMU to trace or kill, no other disk to read, no file of
 * libvirt's or ours. The number is made of the CID, which no two VMs have at a
 * time and which is not used again for millions of VMs, so that there is no
 * table to keep, and what an earlier VM left behind belongs to nobody.
 */

/*
 * From here on systemd's conventions leave numbers alone, up to 0x7fff0000:
 * above the ranges of containers, below those that do not fit into an int.
 */
#define VM_USER_FIRST 0x70000000
#define VM_USER_COUNT 0x01000000

/* Directories on QEMU's way to its disk: to be passed, not to be listed. */
#define VM_USER_PASSAGE 0711

/** vm_user_uid() - The user of the VM with this CID */
uid_t vm_user_uid(uint32_t cid);

/**
 * vm_user_gid() - Its group
 * @kvm_group:	Who may open /dev/kvm, which QEMU does by itself; or -1
 *
 * Return: @kvm_group, or a group that is as much its own as the user is
 */
gid_t vm_user_gid(uint32_t cid, gid_t kvm_group);

/**
 * vm_user_own() - Give a VM's disk to its user
 * @dirfd:	Directory of the VM
 * @name:	File in it
 *
 * Return: 0, or negative errno; -EPERM without CAP_CHOWN
 */
int vm_user_own(int dirfd, const char *name, uint32_t cid, gid_t kvm_group);

/** vm_user_take() - Make a file ours that libvirt made as root; as vm_user_own() */
int vm_user_take(int dirfd, const char *name);

#endif
