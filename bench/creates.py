# SPDX-License-Identifier: Apache-2.0
"""Creates: cold ones beside bare QEMU, pooled ones beside Jupyter's start."""

import concurrent.futures
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from cupola import Daemon, wait_until
from measure import Row, in_turns, medians, seconds
from plain_machine import BOOT_SECONDS, Machine
from sides import PRINT, BenchError, Jupyter, Session, image_directory

IMAGE = "python-minimal"
MEMORY_MIB = 512
CROWD = 20

# ------------------------------------------------------------- cold creates


def first_result(daemon):
    """A create until print(1) is answered."""
    took, session = seconds(Session, daemon)
    return took + session.run(PRINT)[0], session


def cold_create(daemon, stages):
    took, session = first_result(daemon)
    info = daemon.admin("GET", f"/sessions/{session.id}")
    stages.append(info["vm"]["boot_ms"])
    session.delete()
    wait_until(lambda: not daemon.qemus(), 60, "the VM to end")
    return took


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
    image, stages = image_directory(IMAGE), []
    daemon = Daemon(image=IMAGE)
    try:
        daemon.start()
        sides = in_turns(options.of(5, 1), lambda: cold_create(daemon, stages),
                         lambda: bare_start(image))
        row = Row("cold create to first result", "s", sides[0],
                  "QEMU by hand: same kernel, image, agent", sides[1],
                  target=1.15)
        return row, {"of": "a cold create, in ms", "parts": medians(stages)}
    finally:
        daemon.remove()


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


def qemu_own_start(argv, directory):
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


def libvirt(options):
    """libvirt's call, and QEMU's own start right after the VM has ended."""
    creates, floors = [], []
    daemon = Daemon(image=IMAGE)
    try:
        daemon.start()
        with tempfile.TemporaryDirectory(prefix="cup-bench-") as temp:
            for _ in range(options.of(7, 2)):
                took, argv = libvirt_create(daemon)
                creates.append(took)
                floors.append(1e3 * statistics.median(
                    qemu_own_start(argv, temp) for _ in range(3)))
    finally:
        daemon.remove()
    name = "QEMU from exec to its first answer"
    added = [c - f for c, f in zip(creates, floors)]
    return [Row("virDomainCreateXML", "ms", creates, name, floors),
            # A small difference of two large figures: judged in the sum above.
            Row("libvirt's part of it", "ms", added, name, floors, target=50,
                bounds="median", judged=False)]


def libvirt_create(daemon):
    session = Session(daemon)
    pid, = wait_until(daemon.qemus, 60, "QEMU")
    argv = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    session.run(PRINT)
    boot = daemon.admin("GET", f"/sessions/{session.id}")["vm"]["boot_ms"]
    session.delete()
    wait_until(lambda: not daemon.qemus(), 60, "the VM to end")
    return (boot["libvirt"] + boot["qemu"],
            [word.decode() for word in argv.split(b"\0")[:-1]])


# ------------------------------------------------------------ pooled creates


def ready_count(daemon):
    for line in daemon.metrics().splitlines():
        if line.startswith("cupola_pool_ready_vms{"):
            return int(float(line.split()[-1]))
    return 0


def jupyter_start():
    start = time.perf_counter()
    jupyter = Jupyter()
    jupyter.run(PRINT)
    took = time.perf_counter() - start
    jupyter.close()
    return took


def at_once(count, call):
    """How long until the last of them is done, all begun together."""
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        return seconds(lambda: list(threads.map(lambda _: call(),
                                                range(count))))


def pooled_turn(daemon, count):
    """A full pool, then creates at once; the VMs are gone afterwards."""
    wait_until(lambda: ready_count(daemon) >= count, 600, "a full pool")
    took, made = at_once(count, lambda: first_result(daemon)[1])
    for session in made:
        session.delete()
    return took


def pooled(options, count):
    settings = {"pool.default.ready": str(count),
                "pool.default.max": str(2 * count),
                "tenant.requests_per_minute": "0"}
    daemon = Daemon(settings=settings, image=IMAGE)
    try:
        daemon.start()
        sides = in_turns(
            1 if count > 1 else options.of(5, 2),
            lambda: pooled_turn(daemon, count),
            lambda: at_once(count, jupyter_start)[0])
    finally:
        daemon.remove()
    name = "pooled create to first result"
    if count > 1:
        name = f"{count} of them at once"
    return Row(name, "ms", [t * 1e3 for t in sides[0]],
               "start of Jupyter kernels on the bare host",
               [t * 1e3 for t in sides[1]], target=0.05)


def run(options):
    row, split = cold(options)
    rows = [row, *libvirt(options), pooled(options, 1)]
    if not options.short:
        rows.append(pooled(options, CROWD))
    return rows, [split]
