# SPDX-License-Identifier: Apache-2.0
"""What an idle session costs the host beyond its guest's own pages.

By PSS: what several processes share is divided among them, so that sums are
true. The guest's pages are the mapping of its memory in QEMU and in the vsock
daemon, which is the floor: nobody can do without them.
"""

import concurrent.futures

from cupola import Daemon
from measure import Row
from sides import PRINT, BenchError, Session

MIB = 1024
# What QEMU calls the file that is the guest's memory.
GUEST_MEMORY = ("memfd:memory-backend-memfd", "memfd:pc.ram")
CREATES_AT_ONCE = 4


def mappings(pid):
    """(what is mapped, its PSS in KiB)"""
    what = ""
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            words = line.split()
            if words[0] == "Pss:":
                yield what, int(words[1])
            elif not words[0].endswith(":"):
                what = words[5] if len(words) > 5 else ""


def pss(pids):
    """KiB: the guest's memory, and all else."""
    guest = own = 0
    for pid in pids:
        for what, kib in mappings(pid):
            if any(name in what for name in GUEST_MEMORY):
                guest += kib
            else:
                own += kib
    return guest, own


def processes(daemon):
    return [daemon.pid, daemon.vmd_pid()]


def measure(daemon, count, base):
    """In KiB per session: guest, QEMU and backend, our two daemons' growth.

    The daemons' since @base: how many sessions there were, and the KiB then.
    """
    guest, own = pss(daemon.qemus() + daemon.backends())
    if guest == 0:
        raise BenchError("no mapping of a guest's memory was recognised")
    daemons = pss(processes(daemon))[1]
    return {"guest": guest / count, "own": own / count,
            "daemons": (daemons - base[1]) / (count - base[0])}


def grow(daemon, sessions, count):
    def create(_):
        session = Session(daemon)
        session.run(PRINT)
        return session

    with concurrent.futures.ThreadPoolExecutor(CREATES_AT_ONCE) as threads:
        sessions += threads.map(create, range(count - len(sessions)))


def rows_of(image, count, samples):
    guest = [s["guest"] / MIB for s in samples]
    name = f"{image}, {count} idle: "
    first = count == 1
    return [Row(name + "QEMU, vsock", "MiB",
                [s["own"] / MIB for s in samples], "the guest's own pages",
                guest),
            Row(name + "daemons", "KiB", [s["daemons"] for s in samples],
                "the guest's own pages", [g * MIB for g in guest],
                target=None if first else 64, bounds="median")]


def of_image(image, counts, times):
    daemon = Daemon(image=image, settings={
        "pool.default.max": str(max(counts)),
        "pool.default.memory": "256M" if image == "python-minimal" else "512M",
        "tenant.requests_per_minute": "0"})
    rows, sessions = [], []
    try:
        daemon.start()
        # What a first session needs once is in its own row, not in the others.
        base = 0, pss(processes(daemon))[1]
        for count in counts:
            grow(daemon, sessions, count)
            rows += rows_of(image, count, [measure(daemon, count, base)
                                           for _ in range(times)])
            if count == 1:
                base = 1, pss(processes(daemon))[1]
        return rows
    finally:
        daemon.remove()


def run(options):
    if options.short:
        return of_image("python-minimal", (1, 2), 3), []
    rows = []
    for image in ("python-minimal", "python"):
        rows += of_image(image, (1, 10, 40), 3)
    return rows, []
