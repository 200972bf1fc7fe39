#!/usr/bin/python3
"""cupolactl's live tables: on a terminal, in a pipe, and as JSON."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

from ctl_fixture import CONTAINER, CTL, WAIT, run

SCREEN = b"\x1b[?1049h"
SCREEN_OFF = b"\x1b[?1049l"
STATUS = {"containers": 2, "vms": 2, "memory_mib": 16384,
          "memory_taken_mib": 2048, "drain": {"state": "draining"},
          "pools": [{"name": "default", "vms": 2, "max": 8, "ready": 1,
                     "ready_target": 2}]}


def vm(number, **more):
    return {"vm": f"vm_{number}", "pool": "default",
            "container": f"cntr_{number}", "tenant": "default",
            "state": "running", "created_at": 1700000000 + number,
            "idle_expires_at": 32503680000 - number, "executing": None,
            "last_execution": None, "vcpus": 2, "memory_mib": 1024,
            "disk_bytes": 1000000, "cpu_usec": 0,
            "memory_used_bytes": 512 * 1024 * 1024,
            "disk_used_bytes": 250000, **more}


class Top:
    """A daemon whose VMs have used half a second more at each look."""

    def __init__(self, fx, *vms):
        self.looks = 0
        self.vms = vms
        fx.special["GET /admin/v1/top"] = self.top
        fx.special["GET /admin/v1/status"] = lambda h: h.send(STATUS)

    def top(self, h):
        self.looks += 1
        h.send({"object": "list", "clock_usec": self.looks * 1000000,
                "data": [dict(v, cpu_usec=self.looks * v["cpu_usec"])
                         if v["cpu_usec"] else v for v in self.vms]})


def list_containers(fixture):
    fixture.special["GET /admin/v1/sessions.*"] = lambda h: h.send(
        {"object": "list", "data": [CONTAINER], "has_more": False})


def watched(fx, until, *argv, **env):
    """What a terminal is told until it has until(), and then Ctrl-C."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(CTL, [str(CTL), *argv], fx.env(**{"TERM": "xterm", **env}))
    seen, asked = b"", False
    try:
        while select.select([master], [], [], WAIT)[0] and \
                (chunk := os.read(master, 65536)):
            seen += chunk
            if not asked and until(seen):
                asked = True
                os.kill(pid, signal.SIGINT)
    except OSError:
        pass
    os.close(master)
    return seen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def piped(fx, lines, *argv):
    """So many lines of what goes into a pipe, and then Ctrl-C."""
    with subprocess.Popen([CTL, *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env=fx.env()) as child:
        seen = [child.stdout.readline() for _ in range(lines)]
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=WAIT)
    assert child.returncode == 130, err
    return seen


def top_shows_shares_once_into_a_pipe(fx):
    top = Top(fx, vm(1, cpu_usec=500000), vm(2, cpu_usec=1500000, executing={
        "id": "exec_1", "started_at": int(time.time()) - 5}),
        vm(3, container=None, state="ready", idle_expires_at=None,
           tenant=None, cpu_usec=None, memory_used_bytes=None))
    out = fx.ctl("top").stdout
    assert "\x1b" not in out and "|" not in out
    assert top.looks == 2
    head, _, table = out.partition("\n\n")
    assert "2 sessions, 2 VMs, 2.0 GiB of 16 GiB memory promised, draining" \
        in head, head
    assert "pool default: 2 of 8 VMs, 1 of 2 ready" in head
    rows = [re.split(r"  +", line.strip()) for line in table.splitlines()]
    assert rows[0] == ["STATE", "AGE", "IDLE LEFT", "CPU", "MEMORY", "DISK",
                       "LAST EXECUTION", "POOL", "TENANT", "ID"]
    # Two virtual CPUs, so 1.5 s in one second are three quarters.
    assert re.fullmatch(r"runs for \d+ s", rows[1].pop(6)), rows[1]
    assert rows[1][3:] == ["75 %", "512 MiB", "244 KiB", "default", "default",
                           "cntr_2"], rows[1]
    assert rows[2][3] == "25 %" and rows[2][-1] == "cntr_1"
    assert rows[3][:1] + rows[3][2:] == [
        "ready", "-", "-", "-", "244 KiB", "-", "default", "-", "vm_3"]


def top_sorts_by_what_is_asked(fx):
    Top(fx, vm(1, memory_used_bytes=1, disk_used_bytes=9),
        vm(2, memory_used_bytes=2, disk_used_bytes=8),
        vm(3, memory_used_bytes=None, disk_used_bytes=None,
           idle_expires_at=None))
    for sort, order in (("memory", "213"), ("disk", "123"), ("age", "123"),
                        ("idle", "213")):
        rows = json.loads(fx.ctl("top", "--sort", sort, "--json").stdout)
        assert [r["vm"][3:] for r in rows["data"]] == list(order), (sort, rows)
    assert "--sort takes" in fx.ctl("top", "--sort", "x", status=2).stderr


def top_in_json_has_all_that_the_daemon_says(fx):
    Top(fx, vm(1, cpu_usec=500000, later="unknown"), vm(2, cpu_usec=None))
    rows = {r["vm"]: r for r in json.loads(fx.ctl("top", "--json").stdout)["data"]}
    assert rows["vm_1"]["cpu_share"] == 0.25
    assert rows["vm_1"]["later"] == "unknown"
    assert rows["vm_2"]["cpu_share"] is None


def top_on_a_terminal_draws_bars_again_and_again(fx):
    top = Top(fx, vm(1, cpu_usec=1900000, last_execution={
        "id": "exec_1", "status": "error", "ended_at": int(time.time())}),
        vm(2, name="evil\x1b[2J", tenant="evil\x1b[2J"))
    seen, status = watched(fx, lambda _: top.looks > 3, "top",
                           "--interval", "0.1")
    assert status == 130, seen
    assert seen.startswith(SCREEN) and seen.count(SCREEN) == 1
    assert seen.count(SCREEN_OFF) == 1
    after = seen[seen.index(SCREEN_OFF) + len(SCREEN_OFF):]
    assert after.strip() == b"cupolactl: Interrupted", after
    # Red from 90 % on; an execution that failed is to be seen.
    assert b"\x1b[31m||||||||     95 %\x1b[0m" in seen, seen
    assert re.search(rb"\x1b\[33merror, \d+ s ago\x1b\[0m", seen)
    assert b"||||....  512 MiB" in seen
    assert b"evil\\x1b[2J" in seen and b"\x1b[2J" not in seen
    plain, _ = watched(fx, lambda _: top.looks > 6, "top", "-i", "0.1",
                       NO_COLOR="1")
    assert b"||||||||     95 %" in plain and b"\x1b[31m" not in plain


def q_ends_what_is_watched_and_gives_the_terminal_back(fx):
    top = Top(fx, vm(1))
    pid, master = pty.fork()
    if pid == 0:
        os.execve(CTL, [str(CTL), "top", "-i", "60"], fx.env(TERM="xterm"))
    before = termios.tcgetattr(master)
    typed = [b"x", b"q"]  # any other key looks again
    seen = b""
    while select.select([master], [], [], WAIT)[0]:
        seen += os.read(master, 65536)
        if SCREEN_OFF in seen:
            break
        if typed and top.looks >= 4 - len(typed) and seen.count(b"cntr_1") >= 3 - len(typed):
            assert not termios.tcgetattr(master)[3] & termios.ECHO
            os.write(master, typed.pop(0))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, seen
    assert termios.tcgetattr(master) == before
    assert b"Interrupted" not in seen and top.looks == 3, (seen, top.looks)
    os.close(master)


def top_once_leaves_the_screen_alone(fx):
    Top(fx, vm(1))
    seen, status = watched(fx, lambda _: False, "top", "--once")
    assert status == 0 and SCREEN not in seen and b"cntr_1" in seen


def ps_can_be_watched_like_any_list(fx):
    list_containers(fx)
    seen = piped(fx, 5, "ps", "--watch", "-i", "0.1")
    assert seen[0] == seen[3] and seen[0].startswith("CONTAINER")
    assert seen[2] == "\n" and seen[1].startswith("cntr_1")
    seen = piped(fx, 2, "ps", "--watch", "-i", "0.1", "--json")
    assert json.loads(seen[0])["data"] == json.loads(seen[1])["data"] \
        == [CONTAINER]


def a_drain_is_in_the_picture(fx):
    list_containers(fx)
    fx.special["GET /admin/v1/drain"] = lambda h: h.send(
        {"state": "draining", "sessions": 1})
    seen, _ = watched(fx, lambda s: s.count(b"undrain") > 1, "ps", "-w", "-i",
                      "0.1")
    assert seen.startswith(SCREEN)
    assert seen.rindex(b"undrain") < seen.index(SCREEN_OFF)


def a_screen_is_cut_to_its_rows(fx):
    many = [dict(CONTAINER, id=f"cntr_{i}") for i in range(200)]
    fx.special["GET /admin/v1/sessions.*"] = lambda h: h.send(
        {"object": "list", "data": many, "has_more": False})
    seen, _ = watched(fx, lambda s: s.count(b"\x1b[J") > 1, "ps", "-w", "-i",
                      "0.1")
    first = seen[:seen.index(b"\x1b[J")]
    # A pseudo-terminal without a size counts as one of 24.
    assert first.count(b"\n") == 23, first
    assert b"cntr_20 " in first and b"cntr_22 " not in first


def a_daemon_that_goes_away_is_waited_for(fx):
    list_containers(fx)
    looks = []

    def sometimes(h):
        looks.append(1)
        if 2 <= len(looks) <= 4:
            return h.refuse(503, "starting\x1b[2J")
        return h.send({"object": "list", "data": [CONTAINER],
                       "has_more": False})
    fx.special["GET /admin/v1/sessions.*"] = sometimes
    seen, status = watched(fx, lambda _: len(looks) > 6, "ps", "-w", "-i", "0.1")
    assert status == 130
    assert b"starting\\x1b[2J" in seen and b"\x1b[2J" not in seen
    # What was seen last stays, and the sentence goes again.
    pictures = seen.split(b"\x1b[H")[1:]
    assert all(b"cntr_1" in p for p in pictures), pictures
    assert b"starting" in pictures[1] and b"starting" not in pictures[-1]
    del looks[:]
    with subprocess.Popen([CTL, "ps", "-w", "-i", "0.1"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=fx.env()) as child:
        for _ in range(5):
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=WAIT)
    assert err.count("starting") == 1, err


def what_fails_at_first_is_no_picture(fx):
    fx.special["GET /admin/v1/sessions.*"] = lambda h: h.refuse(403, "no")
    seen, status = watched(fx, lambda _: False, "ps", "-w")
    assert status == 4 and seen.rstrip().endswith(b"no"), seen
    assert seen.count(SCREEN) == seen.count(SCREEN_OFF)


if __name__ == "__main__":
    run(sys.modules[__name__])
