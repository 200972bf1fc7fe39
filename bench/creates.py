# SPDX-License-Identifier: Apache-2.0
"""Creates: cold ones beside bare QEMU, pooled ones beside Jupyter's start.

Each cold create says what libvirt took of it as well, so the floor of that is
measured in the same turns. The pool is filled once: VM after VM boots, which is
what takes the time here, and then nothing boots while creates are measured.
"""

import concurrent.futures
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from cupola import wait_until
from measure import Row, in_turns, medians, progress, seconds
from plain_machine import BOOT_SECONDS, Machine
from sides import (PRINT, BenchError, Jupyter, Session, image_directory,
                   serving)

IMAGE = "python-minimal"
MEMORY_MIB = 512
CROWD = 20
# One that boots in a minute is slow under emulation on a busy machine.
FILL_SECONDS_EACH = 60
LOOK_SECONDS = 0.5

# ------------------------------------------------------------- cold creates


def first_result(daemon):
    """A create until print(1) is answered."""
    took, session = seconds(Session, daemon)
    return took + session.run(PRINT)[0], session


def cold_create(daemon):
    took, session = first_result(daemon)
    qemu, = daemon.qemus()
    argv = pathlib.Path(f"/proc/{qemu}/cmdline").read_bytes()
    boot = daemon.admin("GET", f"/sessions/{session.id}")["vm"]["boot_ms"]
    session.delete()
    wait_until(lambda: not daemon.qemus(), 60, "the VM to end")
    return {"took": took, "boot": boot,
            "argv": [word.decode() for word in argv.split(b"\0")[:-1]]}


def bare_start(image):
    """The same kernel, image and agent by QEMU alone."""
    with Machine(image, memory_mib=MEMORY_MIB) as machine:
        start = time.perf_counter()
        machine.start()
        machine.await_guest(time.monotonic() + BOOT_SECONDS)
        guest = machine.guest()
        guest.connect(emulated=True, wall_usec=time.time_ns() // 1000)
        if guest.run(PRINT).stdout != "1\n":
            raise BenchError("the bare guest does not print 1")
        return time.perf_counter() - start


def cold(options):
    """Return: rows, and the split."""
    image, creates = image_directory(IMAGE), []

    def ours():
        creates.append(cold_create(daemon))
        progress(f"a cold create: {creates[-1]['took']:.1f} s")

    def theirs():
        started = bare_start(image)
        return started, qemu_own_start(creates[-1]["argv"])

    with serving(image=IMAGE) as daemon:
        floors = in_turns(options.of(3, 2), ours, theirs)[1]
    boots = [create["boot"] for create in creates]
    return [
        Row("cold create to first result", "s", [c["took"] for c in creates],
            "QEMU by hand: same kernel, image, agent", [f[0] for f in floors],
            target=1.15),
        *libvirt_rows(boots, [f[1] * 1e3 for f in floors]),
    ], {"of": "a cold create, in ms", "parts": medians(boots)}


# --------------------------------------------------------- what libvirt adds

# What makes the machine; not what ties it to libvirt, disks and sockets.
MACHINE_OPTIONS = ("-machine", "-accel", "-cpu", "-m", "-overcommit", "-smp",
                   "-rtc", "-kernel", "-initrd", "-append")


def machine_options(argv):
    kept = []
    for name, value in zip(argv[1:], argv[2:]):
        if name in MACHINE_OPTIONS:
            kept += [name, value]
        elif name == "-object" and "memory-backend" in value:
            kept += [name, value]
    return kept


def qemu_answers(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.recv(4096)
            s.sendall(b'{"execute":"qmp_capabilities"}')
            return b"return" in s.recv(4096)
    except (FileNotFoundError, ConnectionRefusedError):
        time.sleep(0.0005)
        return False


def qemu_one_start(argv, directory):
    """From exec until a QMP command is answered, with the VM's own machine.

    The greeting alone says little: QEMU's monitor thread sends it while the
    machine is still being made, and the first command waits for that.
    """
    path = os.path.join(directory, "qmp")
    command = [argv[0], "-nodefaults", "-no-user-config", "-display", "none",
               "-S", *machine_options(argv),
               "-qmp", f"unix:{path},server=on,wait=off"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    try:
        while not qemu_answers(path):
            if process.poll() is not None:
                raise BenchError("QEMU ended: "
                                 + process.stderr.read().decode())
        return time.perf_counter() - start
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        pathlib.Path(path).unlink(missing_ok=True)


def qemu_own_start(argv):
    with tempfile.TemporaryDirectory(prefix="cup-bench-") as directory:
        return statistics.median(qemu_one_start(argv, directory)
                                 for _ in range(3))


def libvirt_rows(boots, floors):
    creates = [boot["libvirt"] + boot["qemu"] for boot in boots]
    added = [c - f for c, f in zip(creates, floors)]
    name = "QEMU from exec to its first answer"
    return [Row("virDomainCreateXML", "ms", creates, name, floors),
            # A small difference of two large figures: judged in the sum above.
            Row("libvirt's part of it", "ms", added, name, floors, target=50,
                bounds="median", judged=False)]


# ------------------------------------------------------------ pooled creates


def ready_count(daemon):
    for line in daemon.metrics().splitlines():
        if line.startswith("cupola_pool_ready_vms{"):
            return int(float(line.split()[-1]))
    return 0


def await_pool(daemon, count):
    told = 0

    def full():
        nonlocal told
        time.sleep(LOOK_SECONDS)
        ready = ready_count(daemon)
        if ready >= told + 5:
            progress(f"{ready} of {count} VMs are ready")
            told = ready
        return ready >= count

    wait_until(full, count * FILL_SECONDS_EACH, "a full pool")


def jupyter_start():
    """How long until it has printed, and the kernel."""
    start = time.perf_counter()
    jupyter = Jupyter()
    jupyter.run(PRINT)
    return time.perf_counter() - start, jupyter


def jupyter_alone():
    took, jupyter = jupyter_start()
    jupyter.close()
    return took


def at_once(count, call):
    """How long until the last of them is done, all begun together."""
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        return seconds(lambda: list(threads.map(lambda _: call(),
                                                range(count))))


def jupyter_crowd():
    took, kernels = at_once(CROWD, jupyter_start)
    for _, jupyter in kernels:
        jupyter.close()
    return took


def pooled_row(name, ours, theirs):
    return Row(name, "ms", [t * 1e3 for t in ours],
               "start of Jupyter kernels on the bare host",
               [t * 1e3 for t in theirs], target=0.05)


def pooled(options):
    """One after the other, then many at once, out of one pool.

    The pool's VMs are all there may be: one that is taken is not replaced, and
    those taken are as idle as those that wait, so that either side has the
    machine for itself.
    """
    singles, crowd = options.of(5, 2), options.of(CROWD, 0)
    count = str(singles + crowd)
    settings = {"pool.default.ready": count, "pool.default.min": count,
                "pool.default.max": count, "tenant.requests_per_minute": "0"}
    with serving(image=IMAGE, settings=settings) as daemon:
        await_pool(daemon, singles + crowd)
        one = in_turns(singles, lambda: first_result(daemon)[0],
                       jupyter_alone)
        many = at_once(crowd, lambda: first_result(daemon))[0] if crowd else 0
    rows = [pooled_row("pooled create to first result", *one)]
    if crowd:
        rows.append(pooled_row(f"{crowd} of them at once", [many],
                               [jupyter_crowd()]))
    return rows


def run(options):
    rows, split = cold(options)
    return rows + pooled(options), [split]
