"""Output, input and what becomes of them between program and caller."""

import base64
import os
import pty
import re
import subprocess

import pytest

from cupola import BUILD, resident_bytes, wait_until
from invariants import SLOWNESS

pytestmark = pytest.mark.usefixtures("invariants")

INLINE_MAX = 1 << 20


def output_of(events, stream="stdout"):
    return [data["data"] for name, _, data in events
            if name == "execution.output" and data["stream"] == stream]


# ------------------------------------------------------------------ stdin


def test_input_without_stdin_is_end_of_file_at_once(box):
    done = box.run("print(repr(input('name? ')))")
    assert done["status"] == "error"
    assert done["error"]["name"] == "EOFError"
    assert done["stdout"] == "name? "
    assert done["duration_ms"] < 100 * SLOWNESS


WAITS = """
import sys, os, getpass, subprocess
print(repr(sys.stdin.read()), os.read(0, 1))
print(subprocess.run(['cat'], capture_output=True).stdout)
try:
    getpass.getpass()
except Exception as e:
    print(type(e).__name__)
"""


def test_no_way_of_waiting_for_stdin_hangs(box):
    done = box.run(WAITS)
    assert done["status"] == "ok", done
    lines = done["stdout"].splitlines()
    assert lines[:2] == ["'' b''", "b''"]
    assert lines[-1].endswith("Error")
    assert done["duration_ms"] < 1000 * SLOWNESS


def test_stdin_holds_exactly_what_was_given(box):
    given = "one\r\ntwo\0 é€😀\nno newline"
    done = box.run("import sys\nprint(sys.stdin.buffer.read())", stdin=given)
    assert done["stdout"] == repr(given.encode()) + "\n"
    # Nothing of it is left for the next one, whose own is whole.
    assert box.run(WAITS)["stdout"].startswith("'' b''\nb''\n")
    big = "x" * 300_000
    done = box.run("import sys\nprint(len(sys.stdin.read()))", stdin=big)
    assert done["stdout"] == "300000\n"
    done = box.run("import subprocess\n"
                   "print(subprocess.run(['cat'], capture_output=True).stdout)",
                   stdin="for a child")
    assert done["stdout"] == "b'for a child'\n"


# ----------------------------------------------------------------- volume


def test_endless_output_keeps_head_and_tail_and_costs_the_host_nothing(
        daemon, box):
    box.run("print('x' * 2_000_000)")       # what is made once is made
    memory = resident_bytes(daemon.pid)
    log = os.path.getsize(daemon.log.name)
    done = box.run("i = 0\n"
                   "while True:\n"
                   "    i += 1\n"
                   "    print(f'{i:>8} ' + 'x' * 990)", timeout_s=5)
    assert done["status"] in ("timeout", "output_limit"), done["error"]
    assert done["truncated"]["stdout"] is True
    assert done["truncated"]["stderr"] is False
    shown = len(done["stdout"].encode())
    assert INLINE_MAX - 8 <= shown <= INLINE_MAX
    assert done["truncated"]["omitted_bytes"] > 0
    assert done["truncated"]["total_bytes"] \
        == shown + done["truncated"]["omitted_bytes"]
    assert done["stdout"].startswith("       1 xxx")
    head = 768 * 1024 // 1000
    assert f"{head:>8} xxx" in done["stdout"]
    spilled, = done["artifacts"]
    assert spilled["path"] == f"/mnt/data/stdout-{done['id']}.txt"
    assert spilled["bytes"] == min(done["truncated"]["total_bytes"], 64 << 20)
    wait_until(lambda: resident_bytes(daemon.pid) - memory < 4 << 20, 30,
               "the daemon to be as small as before")
    assert os.path.getsize(daemon.log.name) - log < 64 * 1024


def test_one_line_of_200_megabytes_is_cut(box):
    done = box.run("import sys\n"
                   "for _ in range(200): sys.stdout.write('y' * 1_000_000)\n"
                   "print()", timeout_s=200)
    assert done["status"] == "ok", done["error"]
    assert set(done["stdout"]) == {"y", "\n"}
    assert done["truncated"]["total_bytes"] == 200_000_001
    assert done["truncated"]["omitted_bytes"] \
        == 200_000_001 - len(done["stdout"])
    assert [a["bytes"] for a in done["artifacts"]] == [64 << 20]


def test_a_string_of_200_megabytes_is_printed_or_is_the_programs_end(box):
    done = box.run("print('y' * 200_000_000)", timeout_s=200)
    # The string and its encoding may be more than the session's memory.
    assert done["status"] in ("ok", "oom") or (
        done["status"] == "error"
        and done["error"]["name"] == "MemoryError"), done
    if done["status"] == "ok":
        assert done["truncated"]["total_bytes"] == 200_000_001
    assert box.run("print(1)")["stdout"] == "1\n"


def test_without_spill_what_is_cut_is_only_counted(box):
    done = box.run("print('z' * 3_000_000)", spill=False)
    assert done["artifacts"] == []
    assert done["truncated"]["total_bytes"] == 3_000_001
    assert done["truncated"]["omitted_bytes"] \
        == 3_000_001 - len(done["stdout"])


def test_both_streams_are_cut_on_their_own(box):
    done = box.run("import sys\n"
                   "sys.stderr.write('e' * 2_000_000)\n"
                   "sys.stdout.write('é' * 100)")
    assert done["truncated"]["stdout"] is False
    assert done["truncated"]["stderr"] is True
    assert done["stdout"] == "é" * 100
    assert done["truncated"]["total_bytes"] == 2_000_200
    assert [a["path"] for a in done["artifacts"]] \
        == [f"/mnt/data/stderr-{done['id']}.txt"]


def test_more_output_than_the_host_counts_ends_the_run(box):
    done = box.run("import os\n"
                   "block = b'x' * (1 << 20)\n"
                   "while True: os.write(1, block)",
                   timeout_s=290, spill=False)
    assert done["status"] == "output_limit", done
    assert done["truncated"]["total_bytes"] > 1 << 30
    assert box.run("print(1)")["stdout"] == "1\n"


# ------------------------------------------------------------------ bytes

ALL_BYTES = ("import sys\n"
             "sys.stdout.buffer.write(bytes(range(256)) * 4)\n"
             "sys.stdout.flush()")


def test_any_byte_comes_back_in_base64(box):
    done = box.run(ALL_BYTES, encoding="base64")
    assert base64.b64decode(done["stdout"]) == bytes(range(256)) * 4
    # The same record, as text: what is not UTF-8 is replaced.
    text = box.execution(done["id"])["stdout"]
    assert text == (bytes(range(256)) * 4).decode("utf-8", "replace")
    again = box.json("GET", f"/executions/{done['id']}?encoding=base64")
    assert again["stdout"] == done["stdout"]
    events = list(box.stream(ALL_BYTES, encoding="base64"))
    assert b"".join(map(base64.b64decode, output_of(events))) \
        == bytes(range(256)) * 4


PIECES = ("import sys, time\n"
          "for b in '€😀é'.encode():\n"
          "    sys.stdout.buffer.write(bytes([b]))\n"
          "    sys.stdout.flush()\n"
          "    time.sleep(.05)")


def test_no_character_is_ever_halved(box):
    assert box.run(PIECES)["stdout"] == "€😀é"
    pieces = output_of(list(box.stream(PIECES)))
    assert "".join(pieces) == "€😀é"
    assert all(set(piece) <= set("€😀é") for piece in pieces)
    assert len(pieces) > 1


def test_a_lone_surrogate_is_printed_as_its_escape(box):
    done = box.run("print('\\ud800')\nprint('a\\udcffb')")
    assert done["status"] == "ok"
    assert done["stdout"] == "\\ud800\na\\udcffb\n"
    done = box.run("'\\ud800'")
    assert done["results"] == [{"text/plain": "'\\ud800'"}]
    done = box.run("raise ValueError('\\ud800')")
    assert done["error"]["name"] == "ValueError"
    assert done["error"]["value"] == "\\ud800"
    assert box.run("print('ok')")["stdout"] == "ok\n"


def test_control_characters_round_trip_and_the_cli_shows_them(daemon, box):
    code = "print('a\\0b\\x07\\x1b[31mred\\x1b[0m\\r\\x08')"
    want = "a\0b\x07\x1b[31mred\x1b[0m\r\x08\n"
    done = box.run(code)
    assert done["stdout"] == want and len(done["stdout"]) == 19
    said = output_of(list(box.stream(code)))
    assert "".join(said) == want
    # To a terminal only what cannot do harm.
    seen = on_a_terminal(daemon, "exec", box.id, "-c", code)
    assert "a\\x00b\\x07\x1b[31mred\x1b[0m\r\\x08" in seen, repr(seen)


def on_a_terminal(daemon, *argv):
    daemon.accepted_by_others += 1
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(BUILD / "cupolactl"), *argv], stdin=subprocess.DEVNULL,
        stdout=slave, stderr=slave,
        env=dict(os.environ, CUPOLA_SOCKET=daemon.socket, TERM="xterm"))
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 4096):
            seen += piece
    except OSError:
        pass
    os.close(master)
    assert process.wait(60) == 0
    return seen.decode()


# ---------------------------------------------------------------- streams


def test_output_below_sys_stdout_is_heard_in_order(box):
    done = box.run("import os, subprocess, ctypes\n"
                   "os.write(1, b'fd1\\n'); os.write(2, b'fd2\\n')\n"
                   "os.system('echo shell')\n"
                   "subprocess.run(['sh', '-c', 'echo child >&2'])\n"
                   "ctypes.CDLL(None).printf(b'libc\\n')\n"
                   "ctypes.CDLL(None).fflush(None)")
    assert done["stdout"] == "fd1\nshell\nlibc\n"
    assert done["stderr"] == "fd2\nchild\n"


def test_a_threads_late_output_is_never_the_wrong_executions(box, canary):
    first = box.run("import threading, time\n"
                    "def f():\n"
                    "    for i in range(5):\n"
                    "        time.sleep(.4)\n"
                    "        print('late', i, flush=True)\n"
                    "threading.Thread(target=f).start()\n"
                    "print('done')")
    assert (first["status"], first["stdout"]) == ("ok", "done\n")
    assert first["duration_ms"] < 1500
    second = box.run("import time; time.sleep(3); print('mine')")
    assert "mine\n" in second["stdout"]
    assert re.fullmatch(r"(late \d\n|mine\n)*", second["stdout"]), second
    # What was told of the first stays so.
    assert box.execution(first["id"]) == first
    third = box.run("print('third')")
    assert third["stdout"] == "third\n"
    assert "late" not in canary.box.run("print('canary')")["stdout"]


@pytest.mark.parametrize("code", [
    "import sys, io\n"
    "sys.stdout = None; sys.stderr = io.StringIO()\n"
    "sys.displayhook = None; sys.excepthook = None",
    "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
    "import os; [os.close(fd) for fd in (0, 1, 2)]",
    "import os\n"
    "fd = os.open('/dev/null', os.O_RDWR)\n"
    "for to in (0, 1, 2): os.dup2(fd, to)\n"
    "os.close(fd)",
    "import sys\n"
    "sys.stdout = sys.stderr\n"
    "sys.__stdout__ = sys.__stderr__ = None",
    "import sys\n"
    "class Bad:\n"
    "    def __getattr__(self, name): raise RuntimeError(name)\n"
    "sys.stdout = sys.stderr = Bad()",
    "import sys; sys.stdout.reconfigure(encoding='ascii', errors='strict')",
    "import sys; del sys.stdout, sys.stderr, sys.stdin",
], ids=["replaced", "closed", "descriptors-closed", "redirected", "swapped",
        "raising", "ascii", "deleted"])
def test_the_next_execution_is_heard_whatever_became_of_the_streams(
        box, code):
    box.run(code)
    done = box.run("print('seen é'); 1 / 0")
    assert done["status"] == "error"
    assert done["stdout"] == "seen é\n", done
    assert done["error"]["name"] == "ZeroDivisionError"
    assert "1 / 0" in done["error"]["traceback"]
    assert box.run("import sys; print('err', file=sys.stderr)")["stderr"] \
        == "err\n"
