# SPDX-License-Identifier: Apache-2.0
"""What an idle session costs the host beyond its guest's own pages.

By PSS: what several processes share is divided among them, so that sums are
true. The guest's pages are the mapping of its memory in QEMU and in the vsock
daemon, which is the floor: nobody can do without them.
"""

import concurrent.futures
import os
import time

from measure import Row, progress
from sides import PRINT, BenchError, Session, serving

KIB_PER_MIB = 1024
KIB_PER_GIB = 1 << 20
# What QEMU calls the file that is the guest's memory.
GUEST_MEMORY = ("memfd:memory-backend-memfd", "memfd:pc.ram")
# Of the host's memory, for all that is not measured here.
KEPT_FREE_KIB = KIB_PER_GIB
# What the last create needed only for itself is given back by then.
SETTLE_SECONDS = 3
SAMPLES = 3
MEMORY = {"python-minimal": "256M", "python": "512M"}


def mappings(pid):
    """(what is mapped, its PSS in KiB, what of it is of no file)"""
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            words = line.split()
            if words[0] == "Pss:":
                pss = int(words[1])
            elif words[0] == "Anonymous:":
                yield what, pss, int(words[1])
            elif not words[0].endswith(":"):
                what = words[5] if len(words) > 5 else ""


def of_guests(pids):
    """KiB: the guests' memory, and all else."""
    guest = own = 0
    for pid in pids:
        for what, pss, _ in mappings(pid):
            if any(name in what for name in GUEST_MEMORY):
                guest += pss
            else:
                own += pss
    return guest, own


def own_memory(pid, daemon):
    """KiB of what is a process's alone: memory, and files of its daemon.

    The pages of programs and libraries are not: of these, each has the less the
    more processes have them too, QEMU and other daemons among them.
    """
    return sum(pss if what.startswith(str(daemon.dir)) else anonymous
               for what, pss, anonymous in mappings(pid))


def of_daemons(daemon):
    return {"cupolad": own_memory(daemon.pid, daemon),
            "cupola-vmd": own_memory(daemon.vmd_pid(), daemon)}


def measure(daemon, count, base):
    """In KiB per session: guest, QEMU and backend, our two daemons' growth.

    The daemons' since @base: how many sessions there were, and the KiB then.
    """
    guest, own = of_guests(daemon.qemus() + daemon.backends())
    if guest == 0:
        raise BenchError("no mapping of a guest's memory was recognised")
    growth = {name: (kib - base[1][name]) / (count - base[0])
              for name, kib in of_daemons(daemon).items()}
    return {"guest": guest / count, "own": own / count,
            "daemons": sum(growth.values()), "cupolad": growth["cupolad"]}


def available_kib():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f
                    if line.startswith("MemAvailable:"))


def lacking_room(more, each_kib):
    """Why there is no room, or None: a host that swaps gives no figures."""
    needed, there = more * each_kib + KEPT_FREE_KIB, available_kib()
    if there >= needed:
        return None
    return (f"{more} more sessions need {needed / KIB_PER_GIB:.1f} GiB of"
            f" memory, and {there / KIB_PER_GIB:.1f} are available")


def grow(daemon, image, sessions, count):
    """As many boot at once as there are processors."""
    def create(_):
        session = Session(daemon)
        session.run(PRINT)
        return session

    more = count - len(sessions)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for session in threads.map(create, range(more)):
            sessions.append(session)
            if len(sessions) % 5 == 0 or len(sessions) == count:
                progress(f"{image}: {len(sessions)} of {count} sessions")
    time.sleep(SETTLE_SECONDS)


def rows_of(image, count, samples):
    def row(what, key, unit, scale, **kwargs):
        return Row(f"{image}, {count} idle: {what}", unit,
                   [s[key] / scale for s in samples], "the guest's own pages",
                   [s["guest"] / scale for s in samples], **kwargs)

    target = {} if count == 1 else {"target": 64, "bounds": "median"}
    return [row("QEMU, vsock", "own", "MiB", KIB_PER_MIB),
            row("daemons", "daemons", "KiB", 1, **target),
            # Few pages of a heap that has free ones: judged in the row above.
            row("of these cupolad", "cupolad", "KiB", 1, judged=False)]


def of_image(image, counts, options):
    settings = {
        "pool.default.max": str(max(counts)),
        "pool.default.memory": MEMORY[image],
        # There is room for what guests use; what they have may be more.
        "host.memory": "1T",
        "tenant.requests_per_minute": "0",
    }
    rows, sessions = [], []
    with serving(image=image, settings=settings) as daemon:
        # What a first session needs once is in its own row, not in the others.
        base = 0, of_daemons(daemon)
        for count in counts:
            lacking = sessions and lacking_room(
                count - len(sessions), samples[-1]["guest"] + samples[-1]["own"])
            if lacking:
                options.leave_out(f"{image}, {count} idle", lacking)
                break
            grow(daemon, image, sessions, count)
            samples = [measure(daemon, count, base) for _ in range(SAMPLES)]
            rows += rows_of(image, count, samples)
            if count == 1:
                base = 1, of_daemons(daemon)
    return rows


def run(options):
    rows = []
    for image in options.of(("python-minimal", "python"), ("python-minimal",)):
        rows += of_image(image, options.of((1, 10, 40), (1, 2)), options)
    return rows, []
