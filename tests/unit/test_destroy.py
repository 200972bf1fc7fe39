#!/usr/bin/python3
"""A VM whose end libvirt fails at or hangs in, as TAP: processes stand for VMs.

Until its process is gone a session has not ended, and what it takes up is nobody
else's; libvirt is asked again with growing pauses, and after three seconds the
process is killed by the descriptor that was opened when it was made.
"""

import contextlib
import errno
import os
import pathlib
import re
import sys
import time

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("CUPOLA_BUILD", os.environ.get("abs_top_builddir", "build"))
sys.path.insert(0, str(TOP / "tests" / "chaos"))

import tap  # noqa: E402
from host import BUILD, Refused, is_alive, serving, wait_until  # noqa: E402

PATIENCE = 60
DESTROY = "vmd-stop-before-destroy"
KILLED = b"libvirt did not end the VM in time, killing QEMU"
FORGOTTEN = b"libvirt does not forget the VM, whose QEMU is dead"
# As in machine_end.c
KILL_SECONDS = 3
FORGET_SECONDS = 10
PAUSES_MSEC = (200, 400, 800, 1600, 3200)


class Victim:
    """The only session there is room for, and how its end goes."""

    def __init__(self, host):
        self.host = host
        self.id = host.json("POST", "/v1/containers", {"name": "x"})["id"]
        assert host.json("POST", f"/v1/containers/{self.id}/exec", {"code": "count"})["status"] == "ok"
        self.vm, = host.guests()
        self.pid = host.guests()[self.vm]

    def begin_end(self):
        self.log_at = self.host.log_size()
        self.began = time.monotonic()
        self.host.json("DELETE", f"/admin/v1/sessions/{self.id}", admin=True)

    def state(self):
        """What is told; and that nobody is told of an end before it is one."""
        alive = is_alive(self.pid)
        self.host.reap()
        state = self.host.json("GET", f"/admin/v1/sessions/{self.id}", admin=True)["state"]
        assert state == "stopping" or not (alive and is_alive(self.pid)), f"{state}, and the process lives"
        return state

    def has_said(self, words):
        return words in self.host.log_since(self.log_at)

    def keeps_its_room(self):
        assert self.state() == "stopping"
        assert (self.host.dir / "vm" / self.vm / "record").exists()
        try:
            self.host.call("POST", "/v1/containers", {"name": "y"})
            raise AssertionError("its room was given away")
        except Refused as e:
            assert e.status == 503 and e.code == "capacity", e

    def wait_killed(self):
        wait_until(lambda: self.state() and self.has_said(KILLED), PATIENCE, "the kill")
        waited = time.monotonic() - self.began
        assert waited >= KILL_SECONDS - 0.1, f"killed after {waited:.1f} s"
        wait_until(lambda: self.state() and not is_alive(self.pid), PATIENCE, "the process's end")

    def wait_ended(self):
        wait_until(lambda: self.state() == "ended", PATIENCE, "the end")
        wait_until(lambda: self.host.differences() == [], PATIENCE, "an audit without differences")
        assert not (self.host.dir / "vm" / self.vm).exists()
        made = self.host.json("POST", "/v1/containers", {"name": "y"})["id"]
        self.host.call("DELETE", f"/v1/containers/{made}")

    def pauses(self):
        return [int(n) for n in re.findall(rb"trying again in (\d+) ms", self.host.log_since(self.log_at))]


@contextlib.contextmanager
def victim():
    if f"\0{DESTROY}\0".encode() not in (BUILD / "tests/chaos/cupola-vmd").read_bytes():
        raise tap.Skip("there are no failpoints: configure --enable-failpoints")
    with serving({"pool.default.max": "1", "session.queue": "0"}) as host:
        yield Victim(host)
        assert host.stop() == 0


def a_destroy_that_fails_keeps_its_room_and_is_repeated():
    with victim() as v:
        v.host.arm(DESTROY, f"error={errno.EIO}")
        v.begin_end()
        v.keeps_its_room()
        # Dead is not enough: libvirt still has the domain.
        v.wait_killed()
        v.keeps_its_room()
        v.host.disarm()
        v.wait_ended()
        pauses = v.pauses()
        assert len(pauses) >= 3 and pauses == list(PAUSES_MSEC[:len(pauses)]), pauses
        assert not v.has_said(FORGOTTEN)


def a_libvirt_that_never_forgets_a_dead_vm_is_not_waited_for_for_ever():
    with victim() as v:
        v.host.arm(DESTROY, f"error={errno.EIO}")
        v.begin_end()
        v.wait_killed()
        v.wait_ended()
        assert v.has_said(FORGOTTEN)
        assert time.monotonic() - v.began >= FORGET_SECONDS
        v.host.disarm()


def a_libvirt_that_hangs_does_not_keep_the_process_alive():
    with victim() as v:
        v.host.arm(DESTROY, f"sleep={(KILL_SECONDS + 2) * 1000}")
        v.begin_end()
        v.keeps_its_room()
        v.wait_killed()
        assert time.monotonic() - v.began < KILL_SECONDS + 2
        v.wait_ended()
        assert v.pauses() == []
        v.host.disarm()


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run([a_destroy_that_fails_keeps_its_room_and_is_repeated,
                      a_libvirt_that_never_forgets_a_dead_vm_is_not_waited_for_for_ever,
                      a_libvirt_that_hangs_does_not_keep_the_process_alive], with_user))
