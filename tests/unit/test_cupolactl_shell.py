#!/usr/bin/python3
"""cupolactl shell at a terminal, against a scripted server."""

import json
import os
import pty
import re
import select
import signal
import sys
import time

from ctl_fixture import CTL, WAIT, cfile, done, run


PROMPT = re.compile(rb"\n[^\n]*(?:>>>|\.\.\.) [^\n]*$")


def at_terminal(fixture, typed, *argv):
    """Types lines, each at a prompt; returns output and status.

    A line is typed with how many statements have run before it, or is something
    to do to the process. A prompt is on
    the last line, newer than what was typed, and nothing has followed it for a
    moment: libedit may draw one twice, and takes the terminal over after that.
    What comes earlier, while code runs, is the terminal's, and a Ctrl-D is lost.
    """
    pid, master = pty.fork()
    if pid == 0:
        os.execve(CTL, [str(CTL), *argv], fixture.env(TERM="xterm", HOME=str(fixture.dir)))
    seen, mark, end = b"\n", 0, time.monotonic() + WAIT
    try:
        while time.monotonic() < end:
            if select.select([master], [], [], 0.3)[0]:
                if not (chunk := os.read(master, 4096)):
                    break
                seen += chunk
            elif typed and PROMPT.search(seen, mark) and len(codes(fixture)) >= typed[0][0]:
                mark = len(seen)
                act = typed.pop(0)[1]
                act(pid) if callable(act) else os.write(master, act)
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
    os.close(master)
    return seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def codes(fixture):
    return [json.loads(body)["code"] for _, path, body, _ in fixture.asked
            if path.endswith("/exec")]


def a_shell_runs_statements_when_they_are_whole(fx):
    typed = [(0, b"x = (1,\n"), (0, b"2)\n"), (1, b"for i in x:\n"),
             (1, b"    print(i)\n"), (1, b"\n"), (2, b"lost\x03"), (2, b"x\n"),
             (3, b"\x04")]
    seen, status = at_terminal(fx, typed, "shell", "cntr_1")
    assert status == 0, seen
    assert codes(fx) == ["x = (1,\n2)\n", "for i in x:\n    print(i)\n\n", "x\n"]
    assert not any(c.startswith("DELETE") for c in fx.calls())
    history = fx.dir / ".cupolactl_history"
    assert "print(i)" in history.read_text().replace("\\040", " ")
    assert history.stat().st_mode & 0o777 == 0o600


def a_shell_without_a_container_makes_and_removes_one(fx):
    seen, status = at_terminal(fx, [(0, b"1\n"), (1, b"\x04")], "shell")
    assert status == 0, seen
    assert fx.calls() == ["POST /v1/containers", "POST /v1/containers/cntr_1/exec",
                          "DELETE /v1/containers/cntr_1"]
    fx.ctl("shell", status=2)  # no terminal


def tabs_are_part_of_code(fx):
    typed = [(0, b"if 1:\n"), (0, b"\tx\n"), (0, b"\n"), (1, b"\x04")]
    seen, status = at_terminal(fx, typed, "shell", "cntr_1")
    assert status == 0, seen
    assert codes(fx) == ["if 1:\n\tx\n\n"]


def words_that_leave_python_leave_the_shell(fx):
    for word in (b"exit\n", b"quit\n", b"exit()\n", b"quit()\n"):
        seen, status = at_terminal(fx, [(0, word)], "shell", "cntr_1")
        assert status == 0, (word, seen)
    assert codes(fx) == []
    typed = [(0, b"(\n"), (0, b"exit\n"), (0, b")\n"), (1, b"exit\n")]
    seen, status = at_terminal(fx, typed, "shell", "cntr_1")
    assert codes(fx) == ["(\nexit\n)\n"]


def an_interrupt_at_the_prompt_spares_the_next_statement(fx):
    """One from before libedit has the terminal, or that came when the code was over."""
    typed = [(0, lambda pid: os.kill(pid, signal.SIGINT)),
             (0, b"x\n"), (1, b"\x04")]
    seen, status = at_terminal(fx, typed, "shell", "cntr_1")
    assert status == 0 and "Interrupted" not in seen, seen
    assert codes(fx) == ["x\n"]


def a_signal_ends_the_shell_at_its_prompt(fx):
    for number in (signal.SIGTERM, signal.SIGHUP):
        fx.asked.clear()
        typed = [(0, lambda pid, number=number: os.kill(pid, number))]
        seen, status = at_terminal(fx, typed, "shell")
        assert status == 130, (number, seen)
        assert fx.calls() == ["POST /v1/containers", "DELETE /v1/containers/cntr_1"]


def ctrl_c_ends_output_that_has_come_already(fx):
    """A terminal is slower than the daemon: what it has not printed yet is dropped."""
    lines = [("execution.output", {"stream": "stdout", "data": "y" * 999 + "\n"})] * 2000
    fx.events[1:1] = lines
    fx.special[".*/interrupt"] = lambda h: h.send({}, 202)
    pid, master = pty.fork()
    if pid == 0:
        os.execve(CTL, [str(CTL), "exec", "cntr_1", "-c", "x"], fx.env())
    seen, sent, end = b"", False, time.monotonic() + WAIT
    try:
        while time.monotonic() < end and (chunk := os.read(master, 4096)):
            seen += chunk
            if not sent and b"y" in seen:
                os.kill(pid, signal.SIGINT)
                sent = True
    except OSError:
        pass
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert len(seen) < 1_000_000, len(seen)


def files_that_stay_in_the_container_are_named(fx):
    fx.events[-1] = ("execution.done", done(artifacts=[
        cfile(f"cfile_{i}", f"/mnt/data/\x1bf{i}") for i in range(12)]))
    seen, status = at_terminal(fx, [(0, b"x\n"), (1, b"\x04")], "shell", "cntr_1")
    assert status == 0, seen
    for text in (seen, fx.ctl("exec", "cntr_1", "-c", "x").stderr):
        assert "Kept: /mnt/data/\\x1bf0 (5 B)" in text, text
        assert "Kept: 2 more" in text, text
    fx.contents = {f"cfile_{i}": b"data!" for i in range(12)}
    assert "Kept" not in fx.ctl("exec", "cntr_1", "-c", "x", "-o", "o").stderr


if __name__ == "__main__":
    run(sys.modules[__name__])
