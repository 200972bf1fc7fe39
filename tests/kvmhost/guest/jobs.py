"""Runs the tests on the disk "job", one after the other, also across reboots.

A test is a function test_… of a test_….py; they run in the order of their files
and lines, on one host, and each says what it shows by its name. One that
returns REBOOT or CRASH has the host start anew before the next. What a test
wants to find again then, it puts into host.state.

Exit status: 0 when all have run, 1 while the host is about to restart.
"""

import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import time
import traceback

import host

PLACE = pathlib.Path("/var/lib/kvmhost")
# The order matters: a file finds the host as the ones before it leave it.
FILES = ["install", "session", "restart", "vsock", "fleet", "removal"]


def tap(text):
    for line in text.rstrip("\n").split("\n"):
        print(f"tap: {line}", flush=True)


def tests():
    wanted = pathlib.Path("/job/jobs")
    files = wanted.read_text().split() if wanted.exists() else FILES
    if "install" not in files:
        files.insert(0, "install")
    for name in files:
        module = importlib.import_module(f"test_{name}")
        functions = inspect.getmembers(module, inspect.isfunction)
        found = [f for n, f in functions if n.startswith("test_")]
        yield from sorted(found, key=lambda f: f.__code__.co_firstlineno)


def run(number, test):
    name = test.__name__[len("test_"):].replace("_", " ")
    began = time.monotonic()
    answer, broken = None, ""
    try:
        answer = test()
    except Exception:
        broken = traceback.format_exc() + host.circumstances()
    took = f"{time.monotonic() - began:.1f} s"
    tap(f"{'not ok' if broken else 'ok'} {number} - {name}")
    tap("".join(f"# {line}\n" for line in broken.split("\n") if line)
        + f"# {took}")
    return answer


def load(path, default):
    return json.loads(path.read_text()) if path.exists() else default


def main():
    PLACE.mkdir(exist_ok=True)
    host.state.update(load(PLACE / "state", {}))
    begin = load(PLACE / "next", 0)
    every = list(tests())
    if begin == 0:
        tap(f"1..{len(every)}")
    for number, test in enumerate(every[begin:], begin + 1):
        answer = run(number, test)
        (PLACE / "next").write_text(json.dumps(number))
        (PLACE / "state").write_text(json.dumps(host.state))
        if answer:
            restart(answer)
            return 1
    return 0


def restart(how):
    if how == host.CRASH:
        os.sync()
        pathlib.Path("/proc/sysrq-trigger").write_text("b")
    else:
        subprocess.run(["systemctl", "--no-block", "reboot"], check=True)


sys.exit(main())
