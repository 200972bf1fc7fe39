/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef __x86_64__
#error "seccomp.c knows only x86-64's calls"
#endif

/* Calls of the x32 ABI have this bit: a second way to everything. */
#define X32_BIT 0x40000000u

#define LENGTH_OF(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	int nr;
	int error;
} refused[] = {
	/* Look into or steer other processes. */
	{ SYS_ptrace, EPERM },
	{ SYS_process_vm_readv, EPERM },
	{ SYS_process_vm_writev, EPERM },
	{ SYS_process_madvise, EPERM },
	{ SYS_pidfd_getfd, EPERM },
	{ SYS_kcmp, EPERM },

	/* Much kernel, often first with a hole. */
	{ SYS_bpf, EPERM },
	{ SYS_perf_event_open, EPERM },
	{ SYS_userfaultfd, EPERM },
	{ SYS_io_uring_setup, ENOSYS },
	{ SYS_io_uring_enter, ENOSYS },
	{ SYS_io_uring_register, ENOSYS },
	{ SYS_keyctl, ENOSYS },
	{ SYS_add_key, ENOSYS },
	{ SYS_request_key, ENOSYS },
	{ SYS_fanotify_init, EPERM },
	{ SYS_lookup_dcookie, EPERM },
	{ SYS_vmsplice, EPERM },
	{ SYS_modify_ldt, ENOSYS },
	{ SYS_personality, EPERM },

	/* Namespaces and mounts. */
	{ SYS_unshare, EPERM },
	{ SYS_setns, EPERM },
	{ SYS_mount, EPERM },
	{ SYS_umount2, EPERM },
	{ SYS_pivot_root, EPERM },
	{ SYS_chroot, EPERM },
	{ 428 /* open_tree */, EPERM },
	{ 429 /* move_mount */, EPERM },
	{ 430 /* fsopen */, EPERM },
	{ 431 /* fsconfig */, EPERM },
	{ 432 /* fsmount */, EPERM },
	{ 433 /* fspick */, EPERM },
	{ 442 /* mount_setattr */, EPERM },
	{ SYS_name_to_handle_at, EPERM },
	{ SYS_open_by_handle_at, EPERM },
	/* Its flags lie in memory, out of a filter's sight; libc then uses clone. */
	{ SYS_clone3, ENOSYS },

	/* The machine. */
	{ SYS_init_module, EPERM },
	{ SYS_finit_module, EPERM },
	{ SYS_delete_module, EPERM },
	{ SYS_kexec_load, EPERM },
	{ SYS_kexec_file_load, EPERM },
	{ SYS_reboot, EPERM },
	{ SYS_swapon, EPERM },
	{ SYS_swapoff, EPERM },
	{ SYS_acct, EPERM },
	{ SYS_quotactl, EPERM },
	{ SYS_syslog, EPERM },
	{ SYS_iopl, EPERM },
	{ SYS_ioperm, EPERM },
	{ SYS_settimeofday, EPERM },
	{ SYS_clock_settime, EPERM },
	{ SYS_adjtimex, EPERM },
	{ SYS_clock_adjtime, EPERM },
	{ SYS_sethostname, EPERM },
	{ SYS_setdomainname, EPERM },
	{ SYS_vhangup, EPERM },
};

/* All other families are refused, AF_VSOCK and AF_PACKET first among them. */
static const int families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

#define NAMESPACES                                                             \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |           \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP | 0x80 /* NEWTIME */)

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))
/* Go on with the next instruction if so, else skip @n. */
#define UNLESS_EQUAL(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), 0, n)
#define UNLESS_SET(k, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(k), 0, n)

#define PROGRAM_MAX (32 + 2 * LENGTH_OF(refused) + 2 * LENGTH_OF(families))

static struct sock_filter program[PROGRAM_MAX];
static unsigned short length;

static void emit(struct sock_filter instruction)
{
	program[length++] = instruction;
}

static void emit_head(void)
{
	emit((struct sock_filter)LOAD(arch));
	emit((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
					  AUDIT_ARCH_X86_64, 1, 0));
	emit((struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	emit((struct sock_filter)LOAD(nr));
	emit((struct sock_filter)UNLESS_SET(X32_BIT, 1));
	emit((struct sock_filter)REFUSE(ENOSYS));
}

static void emit_refused(void)
{
	size_t i;

	for (i = 0; i < LENGTH_OF(refused); i++) {
		emit((struct sock_filter)UNLESS_EQUAL(refused[i].nr, 1));
		emit((struct sock_filter)REFUSE((uint32_t)refused[i].error));
	}
}

static void emit_clone(void)
{
	emit((struct sock_filter)UNLESS_EQUAL(SYS_clone, 4));
	emit((struct sock_filter)LOAD(args[0]));
	emit((struct sock_filter)UNLESS_SET(NAMESPACES, 1));
	emit((struct sock_filter)REFUSE(EPERM));
	emit((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

static void emit_socket(void)
{
	size_t i;

	emit((struct sock_filter)UNLESS_EQUAL(
		SYS_socket, (uint8_t)(2 + 2 * LENGTH_OF(families))));
	emit((struct sock_filter)LOAD(args[0]));
	for (i = 0; i < LENGTH_OF(families); i++) {
		emit((struct sock_filter)UNLESS_EQUAL(families[i], 1));
		emit((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	}
	emit((struct sock_filter)REFUSE(EAFNOSUPPORT));
}

int seccomp_install(void)
{
	struct sock_fprog prog = { .filter = program };

	length = 0;
	emit_head();
	emit_refused();
	emit_clone();
	emit_socket();
	emit((struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	prog.len = length;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return -errno;
	return 0;
}
