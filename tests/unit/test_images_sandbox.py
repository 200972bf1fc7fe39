#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What programs of a tree that becomes an image may ask the kernel for, as TAP."""

import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys

import tap

HERE = pathlib.Path(__file__).resolve().parents[2]
LIB = pathlib.Path(os.environ.get("abs_top_srcdir", HERE)) / "images" / "lib"
# Nothing of this machine is asked for AF_VSOCK: the filter is asked instead.
AF_ALG, AF_VSOCK = 38, 40
ALLOWED, REFUSED = 0x7fff0000, 0x00050000
X86_64, I386 = 0xC000003E, 0x40000003

ASK = f"""
import socket
socket.socket(socket.AF_UNIX).close()
socket.socket(socket.AF_INET).close()
try:
    socket.socket({AF_ALG}, socket.SOCK_SEQPACKET)
    print("opened")
except OSError as error:
    print(error.errno)
"""


def answer(number, argument=0, arch=X86_64):
    """What the filter's program says of a call, by an interpreter of ours."""
    data = struct.pack("=IIQQ", number, arch, 0, argument)
    text = subprocess.run([sys.executable, "-I", LIB / "sandbox_filter.py"],
                          capture_output=True, check=True).stdout
    program = list(struct.iter_unpack("=HBBI", text))
    value = at = 0
    while True:
        code, then, otherwise, k = program[at]
        at += 1
        if code == 0x20:
            value, = struct.unpack_from("=I", data, k)
        elif code == 0x06:
            return k
        else:
            taken = value == k if code == 0x15 else value >= k
            at += then if taken else otherwise


def only_few_families_of_sockets_are_made():
    for family in range(64):
        allowed = family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6,
                             socket.AF_NETLINK)
        said = answer(41, family)
        assert (said == ALLOWED) == allowed, (family, hex(said))
    assert answer(41, AF_VSOCK) & 0xffff0000 == REFUSED
    # The kernel takes the lower half of a register for the family.
    assert answer(41, 1 << 32 | AF_VSOCK) & 0xffff0000 == REFUSED


def no_call_makes_sockets_past_that():
    for number in (425, 426, 427, 0x40000000 | 41, 0xffffffff):
        assert answer(number) & 0xffff0000 == REFUSED, number
    assert answer(41, 1, arch=I386) == 0x80000000
    for number in (0, 1, 59, 42, 424, 428):
        assert answer(number, AF_VSOCK) == ALLOWED, number


def a_program_of_a_tree_runs_under_it():
    if os.geteuid() != 0 or not shutil.which("bwrap"):
        raise tap.Skip("needs root and bubblewrap")
    script = (f". '{LIB}/sandbox.sh'; root_epoch=0; "
              "sandbox_run / /usr/bin/python3 -I -c \"$1\"")
    done = subprocess.run(["bash", "-euc", script, "bash", ASK],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "97\n", done


TESTS = [only_few_families_of_sockets_are_made, no_call_makes_sockets_past_that,
         a_program_of_a_tree_runs_under_it]

if __name__ == "__main__":
    sys.exit(tap.run(TESTS))
