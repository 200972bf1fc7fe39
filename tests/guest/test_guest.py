#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The guest agent and its runner, spoken to as cupolad does.

Without arguments: the agent runs as tests/guest/guest_host, on this host, and
results are TAP. With the path of a vhost-device-vsock socket and a nonce in
CUPOLA_GUEST_VSOCK and CUPOLA_GUEST_NONCE, as images/smoke --run has them, the
same tests speak to a real guest, and those that need one run too; with
--needs-vm only those. Other arguments are names of tests.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "guest-agent"))

import cases_files
import cases_ground
import cases_rich
from cases import IN_VM, Skipped, needs_vm
from guest_client import (Closed, Connection, CONTROL, Guest, Refused,
                          unix_dialler, vsock_dialler)

KILL_SECONDS = 12 if IN_VM else 4
LONG_SECONDS = 600 if IN_VM else 60     # emulation takes its time


# State and results


def variables_live_from_one_execution_to_the_next(g):
    assert g.run("x = 41").status == "ok"
    e = g.run("x + 1")
    assert e.displays == [(0, "text/plain", b"42", 0)]
    assert not e.done["state_lost"]


def output_arrives_on_its_stream(g):
    e = g.run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (e.stdout, e.stderr) == ("out\n", "err\n")
    assert e.done["total0"] == 4 and e.done["omitted0"] == 0


def a_short_output_and_the_end_are_one_packet(g):
    """Which the other side finds in one piece, however early it looks. A busy
    machine takes longer than output may wait, but not always."""
    whole = 0
    for i in range(20):
        e = g.start(f"print({i})")
        g.control.socket.recv(1, socket.MSG_PEEK)
        told = g.control.socket.recv(1 << 16, socket.MSG_PEEK)
        assert g.wait(e).stdout == f"{i}\n"
        output, done = 12 + 9 + len(e.stdout), 12 + 108
        whole += len(told) == output + done
    assert whole > 0


def output_below_sys_stdout_is_captured_in_order(g):
    e = g.run("""
import os, subprocess, ctypes
os.write(1, b'fd1\\n')
os.system('echo shell')
subprocess.run(['sh', '-c', 'echo child >&2'])
ctypes.CDLL(None).printf(b'libc\\n')
print('last')
""")
    assert e.stderr == "child\n"
    assert sorted(e.stdout.split()) == ["fd1", "last", "libc", "shell"]


def an_exception_is_told_in_plain_text(g):
    e = g.run("def f():\n    return 1/0\nf()")
    name, value, trace = e.error
    assert e.status == "error"
    assert (name, value) == ("ZeroDivisionError", "division by zero")
    assert "line 3, in <module>" in trace and "return 1/0" in trace
    assert "\x1b" not in trace and "runner" not in trace


def a_syntax_error_is_told_with_its_line(g):
    e = g.run("x = 1\nif x\n  y")
    assert e.error[0] == "SyntaxError" and "line 2" in e.error[2]


def the_last_value_is_not_shown_after_a_semicolon(g):
    assert g.run("6 * 7;").displays == []
    assert g.run("None").displays == []


def display_tells_each_result_in_all_its_forms(g):
    e = g.run("""
class Rich:
    def __repr__(self): return 'plain'
    def _repr_html_(self): return '<b>rich</b>'
display(Rich())
Rich()
""")
    forms = {(bundle, mime): data for bundle, mime, data, _ in e.displays}
    assert forms == {(0, "text/plain"): b"plain",
                     (0, "text/html"): b"<b>rich</b>",
                     (1, "text/plain"): b"plain",
                     (1, "text/html"): b"<b>rich</b>"}


def a_result_too_large_for_a_frame_becomes_a_file(g):
    e = g.run("'x' * 1_000_000")
    _, mime, path, flags = e.displays[0]
    assert (mime, flags) == ("text/plain", 1)
    assert g.get(path.decode())[1] == repr("x" * 1_000_000).encode()


def results_beyond_their_number_are_counted(g):
    e = g.run("from IPython.display import display\n"
              "for i in range(3000): display(i)")
    assert e.status == "ok"
    assert [data for _, _, data, _ in e.displays] \
        == [b"%d" % i for i in range(1024)]
    assert e.done["total2"] == 3000 and e.done["omitted2"] == 3000 - 1024


def an_image_becomes_a_file_that_is_listed(g):
    e = g.run("""
class Picture:
    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n' + bytes(8)
Picture()
""", exec_id=b"exec_pic")
    images = [d for d in e.displays if d[1] == "image/png"]
    assert images[0][2:] == (b"figure-exec_pic-1.png", 1)
    assert e.names == ["figure-exec_pic-1.png"]


def magics_and_shell_commands_work(g):
    assert g.run("!echo one; echo two >&2").stdout == "one\n"
    assert "Wall time" in g.run("%time sum(range(9))").stdout
    assert g.run("%%bash\necho $((1+1))").stdout == "2\n"
    assert g.run("files = !echo a b\nprint(files)").stdout == "['a b']\n"
    assert "per loop" in g.run("%timeit -n1 -r1 pass").stdout
    pip = g.run("%pip install nothing_of_the_kind")
    assert "no network" in pip.stdout + pip.stderr
    assert g.run("pwd").displays[0][1] == "text/plain"


def a_failing_magic_is_an_error(g):
    assert g.run("%nosuchmagic").status == "error"


def top_level_await_works(g):
    e = g.run("import asyncio\nawait asyncio.sleep(0, 'slept')")
    assert e.displays[0][2] == b"'slept'"


def sys_exit_is_not_the_kernels_end(g):
    g.run("y = 1")
    assert g.run("import sys; sys.exit(3)").error[0] == "SystemExit"
    assert g.run("exit()").status == "ok"
    assert g.run("y").displays[0][2] == b"1"


def what_user_code_replaces_is_back_the_next_time(g):
    g.run("import sys, io; sys.stdout = None; sys.stderr = io.StringIO()")
    e = g.run("print('seen'); 1/0")
    assert e.stdout == "seen\n" and e.error[0] == "ZeroDivisionError"


def the_working_directory_is_one_to_work_in(g):
    for leave in ("os.chdir('/')", "os.mkdir('d'); os.chdir('d'); "
                  "os.rmdir(os.getcwd())", "os.mkdir('e'); os.chdir('e'); "
                  "os.chmod('.', 0)"):
        g.run("import os, sys; os.chdir(sys.path[-1])")
        assert g.run(leave).status == "ok"
        e = g.run("print(os.getcwd() == sys.path[-1])")
        assert (e.status, e.stdout) == ("ok", "True\n"), (leave, e.error)
    g.run("os.makedirs('mine', exist_ok=True); os.chdir('mine')")
    assert g.run("print(os.path.basename(os.getcwd()))").stdout == "mine\n"


def closing_standard_output_is_survived(g):
    g.run("import sys; sys.stdout.close()")
    g.run("1")
    assert g.run("print('back')").stdout == "back\n"


def another_encoding_lasts_for_one_execution(g):
    g.run("import sys\nfor s in (sys.stdout, sys.stderr):\n"
          "    s.reconfigure(encoding='ascii', errors='strict', newline='|')")
    e = g.run("print('é'); print('€', file=sys.stderr)")
    assert (e.stdout, e.stderr) == ("é\n", "€\n"), e.error


def closed_descriptors_are_back_the_next_time(g):
    g.run("import os\nfor fd in (0, 1, 2): os.close(fd)")
    e = g.run("print('out'); print('err', file=sys.stderr)\n"
              "import os; os.system('echo child')\ninput()")
    assert (e.stdout, e.stderr) == ("out\nchild\n", "err\n"), (
        e.stdout, e.stderr, e.error)
    assert e.error[0] == "EOFError"
    g.run("import os; os.dup2(os.open('/dev/null', os.O_RDWR), 1)")
    assert g.run("print('back')").stdout == "back\n"


def standard_streams_have_names_in_dev(g):
    e = g.run("open('/dev/stdout', 'w').write('out\\n')\n"
              "!echo err >/dev/stderr\n"
              "print(open('/dev/stdin').read())", stdin=b"in")
    assert (e.stdout, e.stderr) == ("out\nin\n", "err\n"), (
        e.stdout, e.stderr, e.error)


def patched_builtins_break_only_user_code(g):
    g.run("""
import builtins, os, json, socket
saved = dict(vars(builtins))
builtins.len = lambda x: -1
builtins.isinstance = lambda *a: True
builtins.print = None
os.write = lambda *a: 0
socket.socket.send = None
""")
    e = g.run("6 * 7", timeout=20)
    assert e.status in ("ok", "error")
    g.run("vars(builtins).update(saved)")
    assert g.run("6 * 7").displays[0][2] == b"42"


# Input


def input_without_stdin_is_end_of_file(g):
    e = g.run("input('name? ')")
    assert e.error[0] == "EOFError" and e.stdout == "name? "


def stdin_is_what_the_caller_gave_then_end_of_file(g):
    code = "print([input(), input()])\nimport sys\nprint(repr(sys.stdin.read()))"
    assert g.run(code, stdin=b"a\nb\nrest").stdout == "['a', 'b']\n'rest'\n"
    assert g.run("input()").error[0] == "EOFError"
    big = b"z" * 4_000_000
    code = "import sys; print(len(sys.stdin.read()))"
    assert g.run(code, stdin=big).stdout == "4000000\n"


def getpass_does_not_hang(g):
    e = g.run("import getpass; getpass.getpass()", timeout=20)
    assert e.status == "error"


def a_child_reads_the_same_stdin(g):
    e = g.run("import subprocess; subprocess.run(['cat'])", stdin=b"cat\n")
    assert e.stdout == "cat\n"


def source_of_half_a_mebibyte_runs(g):
    line = "x = 1\n"
    source = line * (524288 // len(line) - 10) + "print('end')"
    assert g.run(source).stdout == "end\n"


def odd_source_is_an_ordinary_error(g):
    for source in ("(" * 1000, "-" * 100000 + "1", "#only a comment", "\f1",
                   "\ufeffprint(1)", "print(1)\r\nprint(2)\r\n", "a\0b"):
        assert g.run(source).status in ("ok", "error")
    assert g.run("1").displays[0][2] == b"1"


# Ends


def an_endless_loop_ends_as_timeout_with_its_state(g):
    g.run("n = 0")
    e = g.run("while True: n += 1", timeout=1)
    assert e.status == "timeout" and not e.done["state_lost"]
    assert e.error[0] == "KeyboardInterrupt"
    assert g.run("n > 0").displays[0][2] == b"True"


def a_loop_that_refuses_sigint_is_killed(g):
    begin = time.monotonic()
    e = g.run("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
              "while True: pass", timeout=1)
    assert e.status == "timeout" and e.done["state_lost"]
    assert time.monotonic() - begin < 1 + KILL_SECONDS
    assert g.run("1").status == "ok"


def a_loop_that_eats_keyboard_interrupt_is_killed(g):
    e = g.run("import time\nwhile True:\n try: time.sleep(100)\n"
              " except BaseException: pass", timeout=1)
    assert e.status == "timeout" and e.done["state_lost"]


def a_stopped_kernel_is_killed_at_its_deadline(g):
    e = g.run("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
              timeout=1)
    assert e.status == "timeout" and e.done["state_lost"]


def an_interrupt_ends_only_the_execution_it_names(g):
    g.run("kept = 5")
    e = g.start("import time\nprint('on', flush=True)\ntime.sleep(100)")
    while not e.stdout:
        g.pump()
    g.control.say("INTERRUPT", 999999)
    g.interrupt(e)
    assert g.wait(e).status == "interrupted"
    assert g.run("kept").displays[0][2] == b"5"


def no_interrupt_comes_too_early(g):
    loop = "while True: pass"
    for source in [loop] * 50 + ["x = 1\n" * 80000 + loop]:
        e = g.start(source, timeout=60)
        g.interrupt(e)
        assert g.wait(e).status == "interrupted", e.status
    e = g.run("import os; os._exit(1)")
    e = g.start(loop, timeout=60)
    g.interrupt(e)
    assert g.wait(e).status == "interrupted", e.status


def a_late_interrupt_does_not_stop_the_next(g):
    g.run("passed = 0")
    for i in range(100):
        e = g.start("for _ in range(300): pass")
        time.sleep(i % 20 / 10000)
        g.interrupt(e)
        assert g.wait(e).status in ("ok", "interrupted"), e.status
        e = g.run("passed += 1")
        assert (e.status, e.done["state_lost"]) == ("ok", 0), e.error
    assert g.run("passed").displays[0][2] == b"100"


def an_interrupt_in_a_callback_ends_the_execution(g):
    for event in ("pre_execute", "post_execute"):
        g.run("def forever():\n"
              f"    events.unregister('{event}', forever)\n"
              "    print('on', flush=True)\n"
              "    while True: pass\n"
              "events = get_ipython().events")
        # Whether it is called in this execution already, or in the next.
        e = g.run(f"events.register('{event}', forever)", timeout=1)
        if e.status == "ok":
            e = g.start("pass", timeout=60)
            while "on" not in e.stdout:
                g.pump()
            g.interrupt(e)
            assert g.wait(e).status == "interrupted", e.status
        else:
            assert e.status == "timeout" and not e.done["state_lost"]
    assert g.run("print(1)").stdout == "1\n"


def interrupts_that_nobody_heeds_do_no_harm(g):
    e = g.start("import signal, time\n"
                "before = signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                "print('on', flush=True)\ntime.sleep(1)")
    while not e.stdout:
        g.pump()
    for _ in range(5000):
        g.interrupt(e)
    assert g.wait(e).status == "ok"
    e = g.run("print(1)")
    assert (e.stdout, e.done["state_lost"]) == ("1\n", 0)


def user_code_may_interrupt_itself(g):
    e = g.run("import os, signal\n"
              "for i in range(3):\n"
              "    try: os.kill(os.getpid(), signal.SIGINT)\n"
              "    except KeyboardInterrupt: print(i)")
    assert e.stdout == "0\n1\n2\n"


def a_time_limit_of_next_to_nothing_leaves_the_state(g):
    g.run("kept = 6")
    for _ in range(20):
        e = g.run("while True: pass", timeout=0.00001)
        assert (e.status, e.done["state_lost"]) == ("timeout", 0)
    assert g.run("kept").displays[0][2] == b"6"


def exit_of_the_process_is_told_with_its_output(g):
    before = g.run("print(1)").done
    e = g.run("print('before', flush=True)\nimport os; os._exit(7)")
    assert (e.status, e.done["exit_code"]) == ("kernel_died", 7)
    assert e.stdout == "before\n" and e.done["state_lost"]
    assert e.done["kernel_epoch"] == before["kernel_epoch"] + 1
    after = g.run("'before' in globals()")
    assert after.displays[0][2] == b"False"
    assert after.done["execution_count"] == 1
    assert not after.done["state_lost"]


def a_crash_is_told_by_its_signal(g):
    for code, number in (("import ctypes; ctypes.string_at(0)", 11),
                         ("import os; os.abort()", 6),
                         ("import os; os.kill(os.getpid(), 9)", 9)):
        e = g.run(code)
        assert (e.status, e.done["signal"]) == ("kernel_died", number)


def a_death_between_executions_is_told_by_the_next(g):
    g.run("import os, subprocess\n"
          "subprocess.Popen(['sh', '-c', f'sleep 1; kill -9 {os.getpid()}'])")
    time.sleep(2.5)
    e = g.run("'subprocess' in globals()")
    assert e.displays[0][2] == b"False" and e.done["state_lost"]


def an_alarm_does_not_outlive_its_execution(g):
    g.run("import signal; signal.alarm(1)")
    time.sleep(2.5)
    e = g.run("'signal' in globals()")
    assert e.displays[0][2] == b"True" and not e.done["state_lost"]


def what_is_broken_while_nothing_runs_is_back_the_next_time(g):
    """By a thread that was left, and by another process."""
    g.run("import builtins, threading\n"
          "def late():\n"
          "    builtins.print = sys.stdout = None\n"
          "import sys\n"
          "threading.Timer(0.5, late).start()")
    time.sleep(1.5)
    assert g.run("print('on')").stdout == "on\n"
    g.run("import os, subprocess\n"
          "os.makedirs('gone', exist_ok=True); os.chdir('gone')\n"
          "p = subprocess.Popen(['sh', '-c', 'sleep 1; rmdir ../gone;'\n"
          "    f' prlimit --pid {os.getpid()} --nofile=20:'])")
    time.sleep(2.5)
    e = g.run("import resource\n"
              "print(os.getcwd() != '', os.path.exists('.'),\n"
              "      resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 20)")
    assert e.stdout == "True True True\n", (e.stdout, e.error)


def a_child_that_holds_the_pipes_delays_nothing(g):
    begin = time.monotonic()
    e = g.run("import subprocess\np = subprocess.Popen(['sleep', '1000'])\n"
              "print('returned')")
    assert e.stdout == "returned\n" and time.monotonic() - begin < 5
    g.run("p.kill(); p.wait()")


def a_fork_that_runs_on_does_not_become_a_second_kernel(g):
    e = g.run("import os\nos.fork()\nprint('x')")
    assert e.status == "ok"
    assert [g.run(str(n)).displays[0][2] for n in (1, 2, 3)] == \
        [b"1", b"2", b"3"]


def multiprocessing_works(g):
    e = g.run("import multiprocessing as m\n"
              "with m.Pool(2) as p: print(sum(p.map(abs, range(100))))")
    # The fork before may still have had something to say.
    assert e.stdout.endswith("4950\n"), (e.stdout, e.stderr, e.error)


def rlimits_of_user_code_hurt_only_user_code(g):
    g.run("import resource as r\nr.setrlimit(r.RLIMIT_NOFILE, (3, 3))")
    assert g.run("print('still')").stdout == "still\n"
    g.run("import os; os._exit(0)")


def forged_messages_are_survived(g):
    g.run("""
import os
for fd in range(3, 64):
    try: os.write(fd, b'\\xff' * 64)
    except OSError: pass
    for forged in (b'd', b'e', b'x\\0', b'd\\x01\\xff', b'e\\xff\\xff'):
        try: os.write(fd, forged)
        except OSError: pass
""")
    g.run("import os; os._exit(0)")
    assert g.run("print('fine')").stdout == "fine\n"


def exceptions_that_fight_back_are_told(g):
    e = g.run("class E(Exception):\n"
              " def __str__(self): raise RuntimeError('no')\n"
              "raise E('m' * 10_000_000)")
    assert e.status == "error" and e.error[0] == "E"
    e = g.run("raise ValueError('m' * 10_000_000)")
    assert len(e.error[1]) < 65536 and "left out" in e.error[1]


def an_exception_whose_class_lies_is_told_by_its_name(g):
    e = g.run("""
class Liar(type):
    @property
    def __name__(cls): raise RuntimeError
class Told(Exception, metaclass=Liar): pass
raise Told('x')
""")
    assert e.status == "error" and e.error[0] == "Told", e.error
    assert "x" in e.error[1] and e.error[2], e.error


def surrogates_and_any_bytes_are_told(g):
    assert g.run("print('\\ud800')").stdout == "\\ud800\n"
    e = g.run("import sys; sys.stdout.buffer.write(bytes(range(256)))")
    assert e.streams[0] == bytes(range(256))


# Output limits


def long_output_keeps_head_and_tail_and_spills_the_rest(g):
    e = g.run("for i in range(300000): print(i)", exec_id=b"exec_long",
              timeout=LONG_SECONDS)
    everything = "".join(f"{i}\n" for i in range(300000)).encode()
    d = e.done
    assert d["total0"] == len(everything)
    assert d["omitted0"] == len(everything) - len(e.streams[0]) > 0
    assert len(e.streams[0]) == 1 << 20
    assert everything.startswith(e.streams[0][:768 * 1024])
    assert everything.endswith(e.streams[0][768 * 1024:])
    assert d["spilled0"] == len(everything)
    assert e.names == ["stdout-exec_long.txt"]
    assert g.get("stdout-exec_long.txt")[1] == everything


def exactly_head_and_tail_is_kept_whole(g):
    e = g.run("print('x' * 29, end='')", head=10, tail=19)
    assert e.done["omitted0"] == 0 and len(e.streams[0]) == 29
    e = g.run("print('x' * 30, end='')", head=10, tail=19, spill=False)
    assert e.done["omitted0"] == 1 and e.changed == []


def cuts_lie_between_characters(g):
    e = g.run("print('€' * 1000, end='')", head=100, tail=100, spill=False)
    assert e.streams[0] == "€".encode() * 66
    assert e.done["omitted0"] == 3000 - 198


def frames_end_between_characters(g):
    e = g.start("import sys, time\nfor b in '€😀é'.encode():\n"
                " sys.stdout.buffer.write(bytes([b])); sys.stdout.flush()\n"
                " time.sleep(.03)")
    text = ""
    while e.done is None:
        before = len(e.streams[0])
        g.pump()
        text += e.streams[0][before:].decode()
    assert text == "€😀é"
    g.control.say("RELEASE", e.call)


def output_beyond_its_limit_ends_the_execution(g):
    e = g.run("while True: print('x' * 1000)", output_max=4 << 20,
              spill=False, timeout=50)
    assert e.status == "output_limit"


# Files


def changed_files_are_listed_once(g):
    e = g.run("import os\nos.makedirs('sub')\nopen('sub/f', 'w').write('1')\n"
              "open('g', 'w').close()")
    assert sorted(e.names) == ["g", "sub/f"]
    assert g.run("1").changed == []
    assert g.run("open('g', 'a').write('2')").names == ["g"]
    e = g.run("os.remove('g'); os.rename('sub/f', 'sub/h')")
    assert e.names == ["sub/h"]


def what_is_no_regular_file_is_skipped_with_the_reason(g):
    e = g.run("""
import os, socket
os.makedirs('odd'); os.chdir('odd')
os.symlink('/etc/shadow', 'link'); os.symlink('loop', 'loop')
os.symlink('/etc', 'dir'); os.mkfifo('fifo')
s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.close()
os.chdir('..')
""")
    skipped = {name: skip for name, skip, _ in e.changed}
    assert skipped == {"odd/link": "symlink", "odd/loop": "symlink",
                       "odd/dir": "symlink", "odd/fifo": "special",
                       "odd/sock": "special"}
    assert g.get("odd/link")[0] == "not_regular"
    assert g.get("odd/dir/passwd")[0] == "not_regular"
    assert g.get("odd/fifo")[0] == "not_regular"
    assert g.get("odd")[0] == "not_regular"
    assert g.delete("odd/link") == "ok"


def names_may_be_anything(g):
    names = ["a\nb", 'a"b', "-rf", ".hidden", " lead", "é", "e\u0301", "😀",
             "x" * 255, "$(id)"]
    e = g.run(f"for n in {names!r}: open(n, 'w').write(n)")
    assert sorted(e.names) == sorted(names)
    for name in names:
        assert g.get(name) == ("ok", name.encode())


def a_deep_tree_is_cut_and_not_fatal(g):
    e = g.run("import os\nfor i in range(300):\n os.mkdir('d'); os.chdir('d')\n"
              "open('leaf', 'w')\nos.chdir('/'); os.chdir(os.path.expanduser("
              "'/tmp'))")
    assert [skip for _, skip, _ in e.changed] == ["too_deep"]
    g.run(f"import shutil, sys; os.chdir(sys.path[-1]); shutil.rmtree('d')")


def more_than_512_changes_are_counted(g):
    e = g.run("for i in range(600): open(f'many{i}', 'w').close()")
    assert len(e.changed) == 512 and e.done["unlisted"] == 88
    assert g.run("1").changed == []
    g.run("import os\nfor i in range(600): os.remove(f'many{i}')")


def files_go_in_and_out_byte_exact(g):
    data = os.urandom(3_000_000)
    assert g.put("in/deep/er.bin", data) == "ok"
    assert g.get("in/deep/er.bin") == ("ok", data)
    e = g.run("import hashlib\n"
              "print(hashlib.sha256(open('in/deep/er.bin','rb').read())"
              ".hexdigest())")
    import hashlib
    assert e.stdout.strip() == hashlib.sha256(data).hexdigest()
    # The host knows what it wrote itself.
    assert e.changed == []
    assert g.run("open('in/deep/er.bin', 'a').write('x')").names == \
        ["in/deep/er.bin"]
    assert g.put("empty", b"") == "ok" and g.get("empty") == ("ok", b"")
    assert g.delete("empty") == "ok" and g.get("empty")[0] == "not_found"


def a_put_that_lies_changes_nothing(g):
    assert g.put("t", b"old") == "ok"
    assert g.put("t", b"new", digest=bytes(32)) == "mismatch"
    assert g.put("t", b"new longer", size=3) == "mismatch"
    assert g.get("t") == ("ok", b"old")


def a_bad_path_is_answered_by_closing(g):
    for path in ("../x", "/etc/passwd", "a//b", "a/./b", "a/..", ""):
        try:
            g.get(path)
        except Closed:
            continue
        raise AssertionError(path)


def own_modules_can_be_imported_and_hide_nothing(g):
    g.put("mymodule.py", b"value = 6")
    g.put("json.py", b"raise SystemExit('hidden')")
    e = g.run("import mymodule, json; print(mymodule.value, json.dumps(1))")
    assert e.stdout == "6 1\n" and e.changed == []
    g.delete("json.py")


def quiesce_lists_what_no_execution_told(g):
    g.run("import subprocess; subprocess.Popen(['sh', '-c',"
          "'sleep 1; echo late > late.txt'])")
    time.sleep(3)
    assert g.quiesce() == [("late.txt", "none", 5)]
    assert g.quiesce() == []


# Links


def a_finished_execution_is_kept_until_released(g):
    e = g.wait(g.start("print('kept')"), release=False)
    g.connect()
    assert (e.call, True) in [x[:2] for x in g.hello["executions"]]
    again = type(e)(e.call)
    g.attach(again)
    g.wait(again)
    assert again.stdout == "kept\n" and again.done == e.done


def an_execution_goes_on_while_nobody_is_connected(g):
    g.run("survivor = 1")
    e = g.start("import time\nfor i in range(5):\n print(i, flush=True)\n"
                " time.sleep(.2)\nsurvivor + 1")
    while not e.stdout:
        g.pump()
    g.control.close()
    time.sleep(.3)
    g.connect()
    assert g.hello["configured"]
    g.attach(e)
    g.wait(e)
    assert e.stdout == "0\n1\n2\n3\n4\n" and e.displays[0][2] == b"2"


def only_so_many_executions_are_kept(g):
    kept = [g.wait(g.start("1"), release=False) for _ in range(4)]
    try:
        g.run("1")
        raise AssertionError("not refused")
    except Refused as refused:
        assert str(refused) == "full"
    for e in kept:
        g.control.say("RELEASE", e.call)
    assert g.run("1").status == "ok"


def a_second_execution_is_refused_while_one_runs(g):
    e = g.start("import time; time.sleep(1)")
    other = g.start("1")
    try:
        g.wait(other)
        raise AssertionError("not refused")
    except Refused as refused:
        assert str(refused) == "busy"
    assert g.wait(e).status == "ok"


def a_wrong_proof_gets_no_answer(g):
    for nonce in (bytes(32), os.urandom(32)):
        try:
            Connection(g.dial, nonce, CONTROL)
        except Closed:
            continue
        raise AssertionError("accepted")
    assert g.ping(7) == 7


def another_version_is_told_ours(g):
    link = Connection(g.dial, g.nonce, CONTROL, version=99)
    name, _, payload = link.hear()
    assert name == "HELLO" and payload[:2] == b"\x01\0"
    g.connect()


def a_frame_out_of_turn_closes_the_link(g):
    g.control.say("OUTPUT", 1, b"x" * 20)
    try:
        while True:
            g.control.hear()
    except Closed:
        pass
    g.connect()
    assert g.run("1").status == "ok"


def silent_visitors_do_not_keep_others_out(g):
    silent = [g.dial() for _ in range(5)]
    g.connect()
    assert g.run("1").status == "ok"
    for link in silent:
        link.close()


def pings_are_answered_during_an_execution(g):
    e = g.start("while True: pass", timeout=2)
    for sequence in range(20):
        assert g.ping(sequence) == sequence
    assert g.wait(e).status == "timeout"


# What only a VM can show


def user_code_is_nobody_and_alone(g):
    needs_vm()
    e = g.run("""
import os, socket
print(os.getuid(), os.getgid(), os.getgroups())
print(sorted(p for p in os.listdir('/proc') if p.isdigit() and int(p) == 1))
for family in (40, socket.AF_PACKET, socket.AF_INET):
    try: socket.socket(family, socket.SOCK_STREAM); print('made', family)
    except OSError as error: print(error.errno)
for line in open('/proc/self/status'):
    if line.startswith(('CapEff', 'CapPrm', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp:')):
        print(*line.split())
print(open('/proc/net/route').read().count('\\n'), os.listdir('/sys/class/net'))
""")
    assert e.stdout == """1000 1000 []
[]
97
97
made 2
CapPrm: 0000000000000000
CapEff: 0000000000000000
CapBnd: 00000000000000c0
CapAmb: 0000000000000000
NoNewPrivs: 1
Seccomp: 2
1 ['lo']
""", e.stdout


def user_code_cannot_harm_the_agent(g):
    needs_vm()
    e = g.run("""
import os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, call in (('kill', lambda: os.kill(1, 9)), ('nice', lambda: os.nice(-5)),
                   ('setuid', lambda: os.setuid(0)),
                   ('unshare', lambda: os.unshare(0x10000000)),
                   ('clock', lambda: __import__('time').clock_settime(0, 0)),
                   ('rt', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(9))),
                   ('mknod', lambda: os.mknod('d', 0o20666, os.makedev(1, 5))),
                   ('write', lambda: open('/usr/x', 'w'))):
    try: call(); print('done', name)
    except OSError as error: pass
print(libc.ptrace(16, 1, 0, 0), libc.mount(b'a', b'/mnt', b'tmpfs', 0, 0))
""")
    assert e.stdout == "-1 -1\n", e.stdout


def memory_beyond_the_limit_ends_as_oom(g):
    needs_vm()
    searches = ("print(*[line.split()[1] for line in open('/proc/vmstat')"
                " if line.startswith('pgscan_kswapd ')])")
    before = g.run(searches).stdout
    e = g.run("l = []\nwhile True: l.append(bytearray(1 << 20))")
    assert e.status == "oom" and e.done["state_lost"], e.done
    assert e.done["memory_peak_bytes"] > 100 << 20
    assert g.run("print('on')").stdout == "on\n"
    # The limit was met before Linux had to look for memory.
    assert g.run(searches).stdout == before


def a_child_that_memory_ended_makes_no_later_death_an_oom(g):
    needs_vm()
    e = g.run("""
import os, signal, subprocess, sys
subprocess.run([sys.executable, '-c', '''
open('/proc/self/oom_score_adj', 'w').write('1000')
l = []
while True: l.append(bytearray(1 << 20))
''']).returncode
""", timeout=120)
    assert (e.status, e.displays[0][2]) == ("ok", b"-9"), (e.status, e.displays)
    e = g.run("os.kill(os.getpid(), signal.SIGKILL)")
    assert e.status == "kernel_died" and e.done["signal"] == 9, e.done


def shared_memory_left_behind_is_no_end(g):
    """What outlives its maker must not count against every later kernel."""
    needs_vm()
    e = g.run("""
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
while True:
    at = libc.shmat(libc.shmget(0, 32 << 20, 0o1600), None, 0)
    ctypes.memset(at, 1, 32 << 20)
""", timeout=60)
    assert e.status == "oom", e.status
    e = g.run("""
import ctypes
libc = ctypes.CDLL(None)
queues = 0
while libc.msgget(0, 0o1600) >= 0: queues += 1
sets = 0
while libc.semget(0, 250, 0o1600) >= 0: sets += 1
print(queues <= 32, sets <= 32)
""")
    assert e.stdout == "True True\n", (e.status, e.stdout)
    e = g.run("try:\n with open('/dev/shm/x', 'wb') as f:\n"
              "  while True: f.write(bytes(1 << 20))\n"
              "except OSError as e: print(e.errno)", timeout=60)
    assert e.status in ("ok", "oom"), e.status
    assert g.run("x = bytearray(20 << 20); print('on')").stdout == "on\n"
    g.run("import os; os.unlink('/dev/shm/x')")


def a_lease_holds_nobody_up(g):
    needs_vm()
    g.run("""
import fcntl, os
fd = os.open('leased', os.O_RDWR | os.O_CREAT)
os.write(fd, b'x')
try: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError: pass
""")
    before = time.monotonic()
    assert g.get("leased")[1] == b"x"
    assert time.monotonic() - before < 10
    g.run("os.close(fd)")


def links_beyond_all_bounds_are_not_all_looked_at(g):
    """Three files, and more names for them than the table has room for."""
    needs_vm()
    g.run("import os; os.mkdir('links')")
    for i in range(3):
        e = g.run(f"""
open('links/{i}', 'w').close()
for j in range(50000): os.link('links/{i}', f'links/{i}-{{j}}')
""", timeout=100)
        assert e.status == "ok", e.error
    before = time.monotonic()
    e = g.run("print('on')")
    assert time.monotonic() - before < 30
    assert e.stdout == "on\n"
    assert [entry[:2] for entry in e.changed] == [("", "too_many")], e.changed
    for i in range(3):
        g.run(f"for j in range(50000): os.unlink(f'links/{i}-{{j}}')",
              timeout=100)


def a_fork_bomb_ends_at_its_deadline(g):
    needs_vm()
    e = g.start("import os\nwhile True:\n try: os.fork()\n"
                " except OSError: pass", timeout=5)
    for sequence in range(5):
        assert g.ping(sequence) == sequence
    assert g.wait(e).status in ("timeout", "kernel_died")
    assert g.run("print('on')").stdout == "on\n"


def a_full_disk_is_user_codes_problem(g):
    needs_vm()
    e = g.run("try:\n with open('fill', 'wb') as f:\n"
              "  while True: f.write(bytes(1 << 20))\n"
              "except OSError as e: print(e.errno)", timeout=100)
    assert e.stdout == "28\n"
    assert g.put("more", bytes(1 << 20)) == "no_space"
    assert g.run("print('on')").stdout == "on\n"
    assert g.delete("fill") == "ok"
    assert g.put("more", bytes(1 << 20)) == "ok"


def the_configuration_is_applied(g):
    needs_vm()
    e = g.run("import os, time\nprint(os.uname().nodename, time.time() > 1.79e9)")
    assert e.stdout == "test True\n"
    status = g.stat()
    assert status["processes"] >= 1 and status["memory_used"] > 0


TESTS = [value for module in (sys.modules[__name__], cases_ground, cases_rich,
                              cases_files)
         for value in list(vars(module).values())
         if callable(value) and getattr(value, "__code__", None) and
         value.__code__.co_varnames[:1] == ("g",) and
         value.__code__.co_argcount == 1]


class Host:
    """guest_host, or the VM that the environment names."""

    def __init__(self):
        self.process = self.directory = None
        if IN_VM:
            dial = vsock_dialler(os.environ["CUPOLA_GUEST_VSOCK"])
            nonce = bytes.fromhex(os.environ["CUPOLA_GUEST_NONCE"])
        else:
            dial, nonce = self.start()
        self.guest = Guest(dial, nonce, patience=LONG_SECONDS)

    def start(self):
        builddir = os.environ.get("abs_top_builddir", "build")
        srcdir = os.environ.get("abs_top_srcdir", ".")
        self.directory = tempfile.mkdtemp(prefix="cupola-guest.")
        os.chmod(self.directory, 0o755)
        nonce = os.urandom(32)
        path = self.directory + "/socket"
        self.process = subprocess.Popen(
            [f"{builddir}/tests/guest/guest_host", path, self.directory,
             f"{srcdir}/guest-agent/runner.py", nonce.hex()])
        end = time.monotonic() + 30
        while not os.path.exists(path):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("guest_host does not start")
            time.sleep(0.02)
        return unix_dialler(path), nonce

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            shutil.rmtree(self.directory, ignore_errors=True)


def reason_to_skip():
    if IN_VM:
        return None
    if os.geteuid() != 0:
        return "needs root, to change user"
    if subprocess.run(["/usr/bin/python3", "-c", "import IPython"],
                      capture_output=True).returncode:
        return "needs python3-ipython"
    return None


def run_one(number, test, guest):
    title = test.__name__.replace("_", " ")
    try:
        if guest.control is None:
            guest.connect(emulated=IN_VM)
        guest.run("import os, sys; os.chdir(sys.path[-1])")
        test(guest)
        print(f"ok {number} - {title}", flush=True)
        return True
    except Skipped as why:
        print(f"ok {number} - {title} # SKIP {why}", flush=True)
        return True
    except Exception:
        for line in traceback.format_exc().splitlines():
            print("#", line)
        print(f"not ok {number} - {title}", flush=True)
        try:
            guest.connect()
        except Exception:
            guest.control = None
        return False


def main():
    why = reason_to_skip()
    if why:
        print(f"1..0 # SKIP {why}")
        return 0
    wanted = sys.argv[1:]
    if "--needs-vm" in wanted:
        wanted = [t.__name__ for t in TESTS
                  if "needs_vm" in t.__code__.co_names]
    tests = [t for t in TESTS if not wanted or t.__name__ in wanted]
    print(f"1..{len(tests)}")
    host = Host()
    try:
        good = [run_one(n, test, host.guest)
                for n, test in enumerate(tests, 1)]
    finally:
        host.stop()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
