# SPDX-License-Identifier: Apache-2.0
"""A VM of an image, by QEMU alone: to try images, and as bench/run's floor.

It is like those of cupola-vmd in what a guest can see, but needs no daemon and
no libvirt. It runs under emulation, which every host can do. Started by root,
it runs as the user cupola.
"""

import json
import os
import pathlib
import pwd
import secrets
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "guest-agent"))

from guest_client import Guest, vsock_dialler  # noqa: E402

BOOT_SECONDS = 120
SCRATCH_MIB = 512
# QEMU 7.2 emulates AVX wrongly: numpy's code for it ends in a protection fault.
CPU = "max,avx=off,avx2=off,fma=off,f16c=off"


# Those of cupola-vmd, see src/vmd/machine_create.c, but for "quiet".
WORDS = ("console=ttyS0 panic=-1 oops=panic unknown_nmi_panic i8042.noaux "
         "i8042.nokbd 8250.nr_uarts=1 no_timer_check tsc=reliable")

LISTENING = "cupola-guest: listening"


class MachineError(Exception):
    """It does not start."""


class Machine:
    """One VM with its vsock backend, in a directory of its own.

    cpu_khz: the rate that the guest is told its time stamp counter has, if not
    the host's. options: more of QEMU's. change: words to add to the
    kernel's command line or, with a "-", to leave out.
    """

    def __init__(self, image, memory_mib=1024, cpu_khz=None, options=(),
                 change=()):
        self.image = image
        self.memory_mib = memory_mib
        self.cpu_khz = cpu_khz or processor_khz()
        self.options = options
        self.change = change
        self.nonce = secrets.token_bytes(32)
        self.user = user_to_be()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cupola-vm."))
        self.processes = []

    @property
    def qemu(self):
        return self.processes[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        shutil.rmtree(self.dir)

    def start(self):
        self.make_scratch()
        for path in [self.dir, *self.dir.iterdir()]:
            if self.user is not None:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        self.spawn("vhost-device-vsock", "--guest-cid", "3",
                   "--socket", self.dir / "vhost.sock",
                   "--uds-path", self.dir / "vsock", "--groups", "plain")
        self.await_file(self.dir / "vhost.sock")
        self.spawn(*self.qemu_command())

    def make_scratch(self):
        """A disk as the guest expects it: a file system, then the nonce."""
        disk = self.dir / "scratch"
        size = SCRATCH_MIB << 20
        block = b"CUPOLA\1\0" + struct.pack("<I", 1) + self.nonce
        with open(disk, "wb") as f:
            f.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
        with open(disk, "r+b") as f:
            f.seek(size)
            f.write(block.ljust(4096, b"\0"))

    def qemu_command(self):
        return [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot",
            "-machine", "microvm,acpi=on,memory-backend=ram",
            "-accel", "tcg", "-cpu", CPU, "-m", f"{self.memory_mib}M",
            "-object",
            f"memory-backend-memfd,id=ram,size={self.memory_mib}M,share=on",
            "-kernel", self.image / "vmlinux",
            "-initrd", self.image / "initrd",
            "-append", self.cmdline(),
            "-serial", f"file:{self.dir}/console",
            "-device", "pvpanic",
            *disk("root", self.image / "root.erofs", "on"),
            *disk("scratch", self.dir / "scratch", "off"),
            "-device", "virtio-rng-device",
            "-chardev", f"socket,id=vsock,path={self.dir}/vhost.sock",
            "-device", "vhost-user-vsock-device,chardev=vsock",
            *self.options,
        ]

    def cmdline(self):
        """Console, the recipe's own words, and the time stamp counter's rate.

        Left to measure that rate, an emulated kernel on a busy host fails to,
        and then waits for ever for a tick.
        """
        manifest = (self.image / "manifest.json").read_text("utf-8")
        words = [*WORDS.split(), f"tsc_early_khz={self.cpu_khz}",
                 *json.loads(manifest)["cmdline"].split()]
        for word in self.change:
            if word.startswith("-"):
                words.remove(word[1:])
            else:
                words.append(word)
        return " ".join(words)

    def spawn(self, *command):
        """In a session of its own, as libvirt and cupola-vmd start theirs.

        Linux shares processors among sessions first (autogroup), so what runs
        in its caller's has another share of a busy machine than it would.
        """
        user = {}
        if self.user is not None:
            user = {"user": self.user.pw_uid, "group": self.user.pw_gid,
                    "extra_groups": []}
        self.processes.append(subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL,
            start_new_session=True, **user))

    def await_file(self, path):
        end = time.monotonic() + 10
        while not path.exists():
            if time.monotonic() > end:
                raise MachineError("vhost-device-vsock does not start")
            time.sleep(0.01)

    def await_guest(self, end):
        """Not by dialling: see doc/guest-protocol.md."""
        while LISTENING not in self.console():
            if self.qemu.poll() is not None:
                raise MachineError("QEMU ended")
            if time.monotonic() > end:
                raise MachineError(f"the agent does not listen after"
                                 f" {BOOT_SECONDS} s")
            time.sleep(0.02)

    def guest(self, **options):
        return Guest(vsock_dialler(str(self.dir / "vsock")), self.nonce,
                     **options)

    def console(self):
        path = self.dir / "console"
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        return "".join(line + "\n" for line in text.splitlines()[-40:])


def disk(name, path, read_only):
    return ["-drive", f"if=none,id={name},file={path},format=raw,"
                      f"readonly={read_only}",
            "-device", f"virtio-blk-device,drive={name}"]


def processor_khz():
    """About the rate of the time stamp counter, which emulation passes on."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("cpu MHz"):
                return int(float(line.split(":")[1]) * 1000)
    raise MachineError("/proc/cpuinfo has no 'cpu MHz'")


def user_to_be():
    """QEMU has no need to be root, so it is not."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("cupola")
    except KeyError:
        sys.exit("there is no user cupola: run contrib/install-deps --run")
