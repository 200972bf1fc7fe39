# SPDX-License-Identifier: Apache-2.0
"""What the kernel is not asked for by programs of a tree: bwrap's --seccomp.

A namespace of networks has nothing to do with AF_VSOCK, by which a program
could talk to this host's VMs and, where the host is one itself, to its host.
So there are sockets of few families only, and no io_uring, which makes sockets
without the system call; nor are there other architectures' calls.
Written to standard output as an array of struct sock_filter.
"""

import errno
import socket
import struct
import sys

# <linux/seccomp.h>, <linux/audit.h>, <linux/filter.h>
KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7fff0000
AUDIT_ARCH_X86_64 = 0xC000003E
LOAD, JUMP_EQUAL, JUMP_FROM, RETURN = 0x20, 0x15, 0x35, 0x06
# Of struct seccomp_data
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16

X32 = 0x40000000
CALL_SOCKET = 41
CALLS_IO_URING = (425, 426, 427)
FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)


def instruction(code, value, then=0, otherwise=0):
    return struct.pack("=HBBI", code, then, otherwise, value)


def refuse(error):
    return instruction(RETURN, ERRNO | error)


def refuse_if(code, value, error):
    return [instruction(code, value, 0, 1), refuse(error)]


def program():
    text = [instruction(LOAD, ARCH),
            instruction(JUMP_EQUAL, AUDIT_ARCH_X86_64, 1),
            instruction(RETURN, KILL),
            instruction(LOAD, NUMBER)]
    text += refuse_if(JUMP_FROM, X32, errno.ENOSYS)
    for call in CALLS_IO_URING:
        text += refuse_if(JUMP_EQUAL, call, errno.ENOSYS)
    text += [instruction(JUMP_EQUAL, CALL_SOCKET, 1),
             instruction(RETURN, ALLOW),
             instruction(LOAD, FIRST_ARGUMENT)]
    for family in FAMILIES:
        text += [instruction(JUMP_EQUAL, family, 0, 1),
                 instruction(RETURN, ALLOW)]
    text.append(refuse(errno.EAFNOSUPPORT))
    return b"".join(text)


if __name__ == "__main__":
    sys.stdout.buffer.write(program())
