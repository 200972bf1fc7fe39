#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""cupolactl against a daemon that was taken over, and names that guests choose.

Whatever is answered, a terminal is not steered by it.
"""

import json
import os
import pty
import re
import select
import signal
import sys
import time

from ctl_fixture import CTL, WAIT, cfile, run

EVIL = "\x1b]0;t\x07\x1b[8m\x7f\x9b2J\u202eexe\r\nline"
# All that answers of any kind have; a list's members are of the same kind.
EVIL_TEXTS = ("id", "name", "status", "state", "reason", "message", "tenant", "vm",
              "pool", "image", "path", "filename", "source", "purpose", "key", "kind",
              "what", "problem", "mended", "url", "uri", "protocol", "upstream_name",
              "traceback", "value", "error_name", "accelerator", "accelerator_reason",
              "vsock", "hypervisor", "container", "container_id", "digest", "built_at",
              "memory_limit", "last_id", "day", "origin", "text", "text/plain", "stream",
              EVIL)
EVIL_LISTS = ("data", "pools", "keys", "tenants", "models", "differences", "checks",
              "images", "artifacts", "skipped")
EVIL_OBJECTS = ("session", "usage", "ended", "drain", "error", "truncated", "effective",
                "limits", "holds", "call")


def evil(depth=2):
    """What a daemon that was taken over may answer to anything."""
    answer = dict.fromkeys(EVIL_TEXTS, EVIL)
    answer.update({"object": "list", "has_more": False, "omitted_bytes": 5,
                   "total_bytes": 9, "bytes": 3, "created_at": 1700000000})
    if depth == 2:
        answer.update({name: [evil(1)] for name in EVIL_LISTS}, usage=[evil(0)])
    if depth:
        answer.update({name: evil(depth - 1) if name == "session" else evil(0)
                       for name in EVIL_OBJECTS if name not in answer or depth == 1})
    return answer


def on_terminal(fixture, *argv, seconds=WAIT):
    """What a command shows on a terminal, as bytes, and whether it ended."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(fixture.dir)
        os.execve(CTL, [str(CTL), *argv], fixture.env(TERM="xterm"))
    seen, end = b"", time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                if not (chunk := os.read(master, 4096)):
                    break
                seen += chunk
        os.kill(pid, signal.SIGTERM)
    except OSError:
        pass
    os.close(master)
    os.waitpid(pid, 0)
    return seen


# What cupolactl itself sends: colours of its own, and how it redraws a line.
OWN_CONTROLS = re.compile(rb"\x1b\[[0-9;]*m|\r\x1b\[K|\r+\n|\t")


def must_be_harmless(seen, argv):
    left = OWN_CONTROLS.sub(b"", seen).decode()
    steering = [c for c in left if ord(c) < 32 or 127 <= ord(c) < 160
                or 0x202a <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069]
    # Colours are the code's to choose, but none goes on behind its words.
    assert not steering, f"{argv}: {seen}"
    assert seen.rfind(b"\x1b[0m") >= seen.rfind(b"\x1b[8m"), f"{argv}: {seen}"


COMMANDS = [
    ("ps", "--all"), ("top", "--once"), ("inspect", "x"), ("console", "x"),
    ("files", "ls"), ("files", "put", "f"), ("keys", "list"), ("keys", "create"),
    ("tenants", "list"), ("tenants", "show", "x"), ("tenants", "create", "x"),
    ("artifacts", "list"), ("usage",), ("usage", "--csv"), ("usage", "--by", "key"),
    ("model", "list"), ("drain", "--status"), ("undrain",),
    ("pools",), ("audit",), ("audit", "--fix"), ("exec", "x", "-c", "1"), ("run", "f"),
    ("completion", "names", "containers", "--"),
]


def whatever_a_daemon_answers_no_terminal_is_steered(fx):
    fx.special["POST .*/exec"] = fx.stream
    fx.special[".*"] = lambda h: h.send(evil())
    fx.events = [("execution.started", evil()), ("execution.output", evil() | {"data": EVIL}),
                 ("execution.result", {"text/plain": EVIL}),
                 ("execution.done", evil() | {"status": "error"})]
    fx.write("f", "x")
    for argv in COMMANDS:
        seen = on_terminal(fx, *argv)
        assert b"\\x1b]0;t" in seen, f"{argv} does not show what it was answered: {seen}"
        must_be_harmless(seen, argv)
        if argv[0] not in ("exec", "run", "completion"):
            seen = on_terminal(fx, *argv, "--json")
            assert b"\\u001b]0;t\\u0007\\u001b[8m\\u007f\\u009b2J\\u202e" in seen, seen
            must_be_harmless(seen, argv)


def a_refusal_steers_no_terminal(fx):
    fx.special[".*"] = lambda h: h.refuse(404, EVIL)
    for argv in COMMANDS[:-1]:
        must_be_harmless(on_terminal(fx, *argv), argv)


def whatever_events_a_daemon_tells_no_terminal_is_steered(fx):
    def tell(h):
        h.begin_stream()
        h.wfile.write(b"event: a\x1b]0;t\x07\x1b[8m\xc2\x9bb\nid: 1\ndata: "
                      + json.dumps(evil()).encode() + b"\n\n")
    fx.special["GET /admin/v1/events.*"] = tell
    must_be_harmless(on_terminal(fx, "events", seconds=3), "events")


def a_slow_file_of_any_name_steers_no_terminal(fx):
    def dribble(h):
        h.send_response(200)
        h.send_header("Content-Length", "5")
        h.end_headers()
        for _ in range(5):
            h.wfile.write(b"x")
            h.wfile.flush()
            time.sleep(0.3)
    name = "a\x1b]0;t\x07\x9b.bin"
    fx.special["GET /v1/containers/cntr_1/files/cfile_1/content"] = dribble
    fx.special["GET /v1/containers/cntr_1/files.*"] = \
        lambda h: h.send({"data": [cfile("cfile_1", "/mnt/data/" + name)], "has_more": False})
    seen = on_terminal(fx, "files", "get", "cntr_1", name)
    assert b"Fetching a_]0;t__.bin" in seen, seen
    must_be_harmless(seen, "files get")


if __name__ == "__main__":
    run(sys.modules[__name__])
