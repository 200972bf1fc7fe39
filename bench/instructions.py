# SPDX-License-Identifier: Apache-2.0
"""How many instructions the guest takes, whatever else the machine does.

QEMU's clock for the guest is driven by the instructions themselves (-icount),
so that timers fire after as many of them in every run, and a plugin counts
them all, in the agent, Linux and Python alike.
"""

import contextlib
import pathlib
import struct
import subprocess
import tempfile
import time

from measure import Row
from plain_machine import BOOT_SECONDS, Machine
from sides import PRINT, image_directory

SOURCE = pathlib.Path(__file__).resolve().parent / "instructions.c"
# -icount shift=0: an instruction is a nanosecond.
KHZ = 1_000_000
MILLION = 1e6


class Counter:
    """The file that the plugin counts in."""

    def __init__(self, directory):
        self.path = directory / "count"
        self.path.write_bytes(bytes(4096))
        self.path.chmod(0o666)
        self.plugin = directory / "instructions.so"
        subprocess.run(["cc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-o",
                        self.plugin, SOURCE], check=True)

    def options(self):
        return ("-icount", "shift=0,sleep=on",
                "-plugin", f"{self.plugin},count={self.path}")

    def read(self):
        with open(self.path, "rb") as file:
            return struct.unpack("<Q", file.read(8))[0]

    def around(self, call, times):
        """Of one call, what follows it included."""
        before = self.read()
        for _ in range(times):
            call()
        # The guest still tidies up; idle it takes 0.1 million a second.
        time.sleep(0.1)
        return (self.read() - before) / times


@contextlib.contextmanager
def counted(image, memory_mib=512, change=()):
    """A VM whose guest listens, and its counter."""
    with tempfile.TemporaryDirectory(prefix="cup-bench-") as temp:
        directory = pathlib.Path(temp)
        directory.chmod(0o755)
        counter = Counter(directory)
        with Machine(image, memory_mib=memory_mib, cpu_khz=KHZ,
                     options=counter.options(), change=change) as machine:
            machine.start()
            machine.await_guest(time.monotonic() + 2 * BOOT_SECONDS)
            yield machine, counter


def boot(image, turns):
    """Counts until it is ready, and in messages."""
    with counted(image) as (machine, counter):
        guest = machine.guest(patience=BOOT_SECONDS)
        # The same moment in every run: what reads the clock takes as long.
        guest.connect(emulated=True)
        ready = counter.read()
        for _ in range(10):
            guest.run(PRINT)
        prints = [counter.around(lambda: guest.run(PRINT), 30)
                  for _ in range(turns)]
        pings = [counter.around(lambda: guest.ping(1), 30)
                 for _ in range(turns)]
    return {"ready": ready, "prints": prints, "pings": pings}


def run(options):
    image = image_directory("python-minimal")
    boots = [boot(image, options.of(9, 5)) for _ in range(options.of(2, 1))]
    rows = [
        Row("guest instructions until ready", "million",
            [b["ready"] / MILLION for b in boots],
            "a million: they are the same on every machine", [1.0]),
        Row("guest instructions for print(1)", "million",
            [n / MILLION for b in boots for n in b["prints"]],
            "a PING of the agent",
            [n / MILLION for b in boots for n in b["pings"]]),
    ]
    return rows, []
