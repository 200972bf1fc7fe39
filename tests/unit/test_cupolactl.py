#!/usr/bin/python3
"""cupolactl against a scripted server: what it asks for, prints and saves.

How it looks at things again and again is in test_cupolactl_watch.py.
"""

import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import tap
from ctl_fixture import CONTAINER, CTL, WAIT, Handler, cfile, done, run


def run_uploads_creates_prints_saves_and_deletes(fx):
    script = fx.write("s.py", "print(1)")
    table = fx.write("t.csv", "a,b\n")
    fx.contents = {"cfile_1": b"\x00png\xff", "cfile_2": b"x" * 300000}
    fx.events[1:1] = [
        ("execution.output", {"stream": "stdout", "data": "out\u00e9\n"}),
        ("execution.output", {"stream": "stderr", "data": "err\n"}),
        ("execution.result", {"text/plain": "42"}),
    ]
    fx.events[-1] = ("execution.done", done(artifacts=[
        cfile("cfile_1", "/mnt/data/chart.png"),
        cfile("cfile_2", "/mnt/data/sub/big.bin")]))
    got = fx.ctl("run", script, "--file", table, "--out", "out")
    assert got.stdout == "out\u00e9\n42\n", got.stdout
    assert got.stderr.startswith("err\n"), got.stderr
    assert "Saved out/chart.png" in got.stderr
    assert (fx.dir / "out/chart.png").read_bytes() == b"\x00png\xff"
    assert (fx.dir / "out/sub/big.bin").stat().st_size == 300000
    assert fx.calls() == [
        "POST /v1/files", "POST /v1/containers",
        "POST /v1/containers/cntr_1/exec",
        "GET /v1/containers/cntr_1/files/cfile_1/content",
        "GET /v1/containers/cntr_1/files/cfile_2/content",
        "DELETE /v1/containers/cntr_1", "DELETE /v1/files/file-1"], fx.calls()
    upload = fx.asked[0][2]
    assert b'name="file"; filename="t.csv"' in upload and b"a,b\n" in upload
    assert b'name="purpose"' in upload
    made = json.loads(fx.asked[1][2])
    assert made == {"name": "s.py", "file_ids": ["file-1"]}, made
    run = json.loads(fx.asked[2][2])
    assert run == {"code": "print(1)", "stream": True}, run
    assert fx.asked[2][3]["Content-Type"] == "application/json"


def a_result_begins_a_line_of_its_own(fx):
    fx.events[1:1] = [
        ("execution.output", {"stream": "stdout", "data": "no newline"}),
        ("execution.result", {"text/plain": "42"}),
    ]
    got = fx.ctl("exec", "cntr_1", "-c", "x")
    assert got.stdout == "no newline\n42\n", got.stdout


def code_that_fails_is_told_by_traceback_and_status(fx):
    fx.events[-1] = ("execution.done", done("error", error={
        "name": "ZeroDivisionError", "value": "division by zero",
        "traceback": "Traceback: ZeroDivisionError"}))
    got = fx.ctl("exec", "cntr_1", "-c", "1/0", status=1)
    assert got.stdout == "" and got.stderr == \
        "Traceback: ZeroDivisionError\n"


def other_endings_have_their_words_and_statuses(fx):
    for status, code, words in (("timeout", 1, "time limit"),
                                ("kernel_died", 1, "Python process died"),
                                ("session_lost", 8, "session ended")):
        fx.events[-1] = ("execution.done", done(
            status, state_lost=True,
            error={"name": "exit", "value": "1", "traceback": None}))
        got = fx.ctl("exec", "cntr_1", "-c", "x", status=code)
        assert words in got.stderr and "variables are lost" in got.stderr
    fx.events[-1] = ("execution.done", done("timeout", error={
        "name": "KeyboardInterrupt", "value": "", "traceback": None}))
    got = fx.ctl("exec", "cntr_1", "-c", "x", status=1)
    assert got.stderr.endswith(": KeyboardInterrupt\n")


def what_was_cut_or_skipped_is_said(fx):
    fx.events[-1] = ("execution.done", done(
        truncated={"total_bytes": 5000000, "omitted_bytes": 4000000},
        skipped=[{"path": f"/mnt/data/\x1bf{i}", "reason": "too_large"}
                 for i in range(12)]))
    got = fx.ctl("exec", "cntr_1", "-", input="x")
    assert "Of 4.8 MiB of output, 3.8 MiB were left out" in got.stderr
    assert "Not kept: \\x1bf0 (too_large)" in got.stderr
    assert "Not kept: 2 more" in got.stderr


def hostile_names_stay_in_the_directory(fx):
    script = fx.write("s.py", "x")
    names = ["/mnt/data/../../evil", "/mnt/data/.bashrc",
             "/mnt/data/a\nb\x1b[2J", "/etc/evil", "/mnt/data/-rf"]
    fx.contents = {f"cfile_{i}": b"data" for i in range(len(names))}
    fx.events[-1] = ("execution.done", done(artifacts=[
        cfile(f"cfile_{i}", name) for i, name in enumerate(names)]))
    before = set(fx.dir.iterdir())
    got = fx.ctl("run", script, "--out", "o")
    assert set(fx.dir.iterdir()) - before == {fx.dir / "o"}
    found = sorted(str(p.relative_to(fx.dir / "o"))
                   for p in (fx.dir / "o").rglob("*") if p.is_file())
    assert found == ["_./_./evil", "_bashrc", "_rf", "a_b_[2J",
                     "etc/evil"], found
    assert "\x1b" not in got.stderr


def existing_files_are_kept_unless_forced(fx):
    script = fx.write("s.py", "x")
    fx.write("r.txt", "mine")
    fx.contents = {"cfile_1": b"theirs"}
    fx.events[-1] = ("execution.done", done(
        artifacts=[cfile("cfile_1", "/mnt/data/r.txt")]))
    fx.ctl("run", script)
    assert (fx.dir / "r.txt").read_text() == "mine"
    assert (fx.dir / "r-1.txt").read_text() == "theirs"
    fx.ctl("run", script, "--force")
    assert (fx.dir / "r.txt").read_text() == "theirs"


def one_file_that_fails_does_not_keep_the_others(fx):
    script = fx.write("s.py", "x")
    fx.contents = {"cfile_2": b"fine"}
    fx.events[-1] = ("execution.done", done(artifacts=[
        cfile("cfile_1", "/mnt/data/a"), cfile("cfile_2", "/mnt/data/b")]))
    fx.ctl("run", script, "--out", "o", status=4)
    assert os.listdir(fx.dir / "o") == ["b"]
    assert fx.calls()[-1] == "DELETE /v1/containers/cntr_1"


def a_refused_create_removes_the_uploads(fx):
    script = fx.write("s.py", "x")
    fx.special["POST /v1/containers"] = \
        lambda h: h.refuse(503, "All 8 VMs are in use")
    got = fx.ctl("run", script, "--file", script, status=5)
    assert got.stderr == "cupolactl: All 8 VMs are in use\n"
    assert fx.calls()[-1] == "DELETE /v1/files/file-1"


def ctrl_c_deletes_the_container(fx):
    script = fx.write("s.py", "x")
    started = threading.Event()

    def hang(h):
        h.begin_stream()
        h.event(0, "execution.started", {"id": "exec_1"})
        started.set()
        time.sleep(WAIT)

    fx.special[".*/exec"] = hang
    for number in (signal.SIGINT, signal.SIGTERM):
        started.clear()
        fx.asked.clear()
        p = subprocess.Popen([CTL, "run", script], env=fx.env(), cwd=fx.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert started.wait(WAIT)
        begun = time.monotonic()
        p.send_signal(number)
        _, err = p.communicate(timeout=WAIT)
        assert p.returncode == 130 and b"Interrupted" in err, err
        assert time.monotonic() - begun < 5
        assert fx.calls()[-1] == "DELETE /v1/containers/cntr_1"


def ctrl_c_in_exec_interrupts_the_code_only(fx):
    started = threading.Event()

    def hang(h):
        h.begin_stream()
        h.event(0, "execution.started", {"id": "exec_1"})
        started.set()
        time.sleep(WAIT)

    fx.special[".*/exec"] = hang
    fx.special[".*/interrupt"] = lambda h: h.send({}, 202)
    p = subprocess.Popen([CTL, "exec", "cntr_1", "-c", "x"], env=fx.env(),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert started.wait(WAIT)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=WAIT)
    assert p.returncode == 130
    assert fx.calls()[-1] == \
        "POST /v1/containers/cntr_1/executions/exec_1/interrupt"


def ctrl_c_that_comes_with_the_start_interrupts_the_code(fx):
    asked, told, over = threading.Event(), threading.Event(), threading.Event()
    stopped = threading.Event()

    def hang(h):
        asked.set()
        stopped.wait(WAIT)
        h.begin_stream()
        h.event(0, "execution.started", {"id": "exec_1"})
        told.set()
        over.wait(WAIT)

    fx.special[".*/exec"] = hang
    fx.special[".*/interrupt"] = lambda h: h.send({}, 202)
    p = subprocess.Popen([CTL, "exec", "cntr_1", "-c", "x"], env=fx.env(),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert asked.wait(WAIT)
    p.send_signal(signal.SIGSTOP)
    stopped.set()
    assert told.wait(WAIT)
    p.send_signal(signal.SIGINT)
    p.send_signal(signal.SIGCONT)
    p.communicate(timeout=WAIT)
    over.set()
    assert p.returncode == 130
    assert fx.calls()[-1].endswith("/executions/exec_1/interrupt"), fx.calls()


def a_stream_that_breaks_is_taken_up_again(fx):
    def cut(h):
        h.begin_stream()
        h.event(1, "execution.started", {"id": "exec_1"})
        h.event(2, "execution.output", {"stream": "stdout", "data": "a"})
        h.wfile.write(b"event: execution.output\ndata: {\"stre")

    def rest(h):
        h.begin_stream()
        h.event(3, "execution.output", {"stream": "stdout", "data": "b"})
        h.event(4, "execution.done", done())

    fx.special["POST .*/exec"] = cut
    fx.special["GET .*/events.*"] = rest
    got = fx.ctl("exec", "cntr_1", "-c", "x")
    assert got.stdout == "ab"
    assert fx.calls()[-1] == \
        "GET /v1/containers/cntr_1/executions/exec_1/events?after=2"


def a_closed_pipe_still_deletes_the_container(fx):
    script = fx.write("s.py", "x")
    fx.events[1:1] = [("execution.output",
                       {"stream": "stdout", "data": "x" * 100000})] * 50
    with subprocess.Popen([CTL, "run", script], env=fx.env(), cwd=fx.dir,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p:
        p.stdout.read(10)
        p.stdout.close()
        err = p.stderr.read()
        assert p.wait(WAIT) == 7, err
    assert fx.calls()[-1] == "DELETE /v1/containers/cntr_1"


def run_answers_in_json(fx):
    script = fx.write("s.py", "x")
    fx.contents = {"cfile_1": b"12345"}
    fx.special["POST .*/exec"] = lambda h: h.send(done(
        stdout="out", stderr="", artifacts=[cfile("cfile_1",
                                                  "/mnt/data/a.b")]))
    got = fx.ctl("run", script, "--json", "--out", "o", "--timeout", "7")
    answer = json.loads(got.stdout)
    assert answer["stdout"] == "out"
    assert answer["saved"] == [{"file_id": "cfile_1", "directory": "o",
                                "name": "a.b"}]
    assert (fx.dir / "o/a.b").read_bytes() == b"12345"
    body = json.loads(fx.asked[1][2])
    assert body["stream"] is False and body["timeout_s"] == 7


def bad_local_files_cost_no_container(fx):
    script = fx.write("s.py", "x")
    big = fx.write("big.py", "#" * (512 * 1024 + 1))
    empty = fx.write("empty.py", "")
    os.mkdir(fx.dir / "d")
    other = fx.write("d/s.py", "y")
    for argv, status in ((("none.py",), 7), ((big,), 7), ((empty,), 7),
                         ((str(fx.dir),), 7),
                         ((script, "-f", "none.csv"), 7),
                         ((script, "-f", script, "-f", other), 2),
                         ((script, "-o", script), 7)):
        fx.ctl("run", *argv, status=status)
    got = fx.ctl("run", "-", status=7)
    assert got.stderr == "cupolactl: Standard input is empty\n"
    assert fx.asked == []


def ps_is_a_table_or_json(fx):
    named = dict(CONTAINER, name="evil\x1b[2Jname", tenant="default")
    fx.special["GET /admin/v1/sessions.*"] = lambda h: h.send(
        {"object": "list", "data": [named], "has_more": False})
    table = fx.ctl("ps").stdout.splitlines()
    assert table[0].split()[:3] == ["CONTAINER", "NAME", "STATE"]
    assert table[1].split()[0] == "cntr_1" and "\x1b" not in table[1]
    assert "evil\\x1b[2Jname" in table[1] and "running" in table[1]
    rows = json.loads(fx.ctl("ps", "--json").stdout)
    assert rows["data"] == [named]
    fx.ctl("ps", "--all")
    assert fx.calls()[-1].startswith("GET /admin/v1/sessions?all=true&")


def a_drain_is_begun_told_of_and_undone(fx):
    fx.special["(POST|GET) /admin/v1/drain"] = lambda h: h.send(
        {"state": "draining", "sessions": 2})
    fx.special["GET /admin/v1/sessions.*"] = lambda h: h.send(
        {"object": "list", "data": [CONTAINER], "has_more": False})
    assert fx.ctl("drain").stdout == "draining, 2 live sessions\n"
    assert "undrain" in fx.ctl("ps").stderr
    for left, deadline, words in ((1, 4000000000, "1 live session, ended in "),
                                  (0, 4000000000, "0 live sessions\n")):
        fx.special["POST /admin/v1/drain"] = lambda h: h.send(
            {"state": "drained", "sessions": left, "deadline_at": deadline})
        fx.special.pop("(POST|GET) /admin/v1/drain", None)
        assert words in fx.ctl("drain", "-d", "9").stdout
    fx.special["GET /admin/v1/drain"] = fx.special["POST /admin/v1/drain"] = \
        lambda h: h.send({"state": "draining", "sessions": 2})
    p = subprocess.Popen([CTL, "drain", "--wait"], env=fx.env(), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    while fx.calls()[-1] != "GET /admin/v1/drain":
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=WAIT)
    assert p.returncode == 130 and b"goes on until" in err, err
    del fx.special["POST /admin/v1/drain"]
    fx.special["DELETE /admin/v1/drain"] = \
        fx.special["GET /admin/v1/drain"] = lambda h: h.send(
            {"state": "off", "sessions": 2})
    assert fx.ctl("undrain").stdout == "not drained, 2 live sessions\n"
    assert fx.calls()[-1] == "DELETE /admin/v1/drain"
    assert fx.ctl("ps").stderr == ""


def lists_are_read_to_their_last_page(fx):
    def page(h):
        after = re.search(r"after=([^&]*)", h.path)
        first = int(after[1].split("_")[1]) + 1 if after else 0
        rows = [cfile(f"cfile_{i}", f"/mnt/data/f{i}")
                for i in range(first, min(first + 100, 250))]
        h.send({"object": "list", "data": rows, "last_id": rows[-1]["id"],
                "has_more": first + 100 < 250})

    fx.special["GET .*/files.limit.*"] = page
    assert len(fx.ctl("files", "ls", "cntr_1").stdout.splitlines()) == 251
    data = json.loads(fx.ctl("files", "ls", "cntr_1", "--json").stdout)
    assert len(data["data"]) == 250


def all_files_are_fetched_as_an_archive(fx):
    fx.special["GET .*/files.zip"] = lambda h: h.send(
        b"PK zip", kind="application/zip")
    fx.ctl("files", "get", "--all", "cntr_1")
    assert fx.calls() == ["GET /v1/containers/cntr_1/files.zip"], fx.calls()
    assert (fx.dir / "cntr_1.zip").read_bytes() == b"PK zip"
    fx.ctl("files", "get", "-a", "cntr_1", "-o", "all.zip")
    assert (fx.dir / "all.zip").read_bytes() == b"PK zip"
    assert fx.ctl("files", "get", "-a", "cntr_1", "-o", "-").stdout == "PK zip"
    fx.ctl("files", "get", "-a", "cntr_1", "a.csv", status=2)
    fx.ctl("files", "get", "-a", status=2)

    def cut(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"6\r\nPK zip\r\n")
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    fx.special["GET .*/files.zip"] = cut
    fx.ctl("files", "get", "-a", "cntr_1", "-o", "cut.zip", status=3)
    assert not (fx.dir / "cut.zip").exists()


def files_are_fetched_by_name_or_id(fx):
    fx.special["GET .*/files.*limit.*"] = lambda h: h.send(
        {"data": [cfile("cfile_9", "/mnt/data/sub/a.txt")],
         "has_more": False})
    fx.special["GET .*/files/cfile_old"] = lambda h: h.send(
        cfile("cfile_old", "/mnt/data/old.txt"))
    fx.contents = {"cfile_9": b"nine", "cfile_old": b"old"}
    fx.ctl("files", "get", "cntr_1", "sub/a.txt", "--out", "got")
    assert (fx.dir / "got").read_bytes() == b"nine"
    fx.ctl("files", "get", "cntr_1", "sub/a.txt", "--out", "got", status=7)
    fx.ctl("files", "get", "cntr_1", "cfile_old", "--out", "got", "--force")
    assert (fx.dir / "got").read_bytes() == b"old"
    assert fx.ctl("files", "get", "cntr_1", "/mnt/data/sub/a.txt",
                  "--out", "-").stdout == "nine"
    fx.ctl("files", "get", "cntr_1", "sub/a.txt")
    assert (fx.dir / "sub/a.txt").read_bytes() == b"nine"
    fx.ctl("files", "rm", "cntr_1", "sub/a.txt")
    assert fx.calls()[-1] == "DELETE /v1/containers/cntr_1/files/cfile_9"


def a_directory_for_files_is_made_where_a_slash_says_so(fx):
    fx.special["GET /v1/files[?].*"] = lambda h: h.send(
        {"data": [{"id": "file-1", "filename": "a", "bytes": 1, "created_at": 1,
                   "purpose": "user_data"}], "has_more": False})
    fx.contents = {"file-1": b"1"}
    fx.ctl("files", "get", "a", "--out", "new/dir/")
    assert (fx.dir / "new/dir/a").read_bytes() == b"1"


def a_name_that_is_not_there_is_called_a_name(fx):
    fx.special["GET .*/files.*"] = lambda h: h.send(
        {"data": [], "has_more": False})
    said = fx.ctl("files", "rm", "cntr_1", "none.txt", status=4).stderr
    assert "Container 'cntr_1' has no file 'none.txt'" in said, said
    said = fx.ctl("files", "rm", "none.txt", status=4).stderr
    assert "There is no file 'none.txt'" in said, said
    assert not any(call.startswith("DELETE") for call in fx.calls())


def an_id_stays_one_segment_of_the_path(fx):
    fx.ctl("inspect", "../v1/files?x=1#y", status=4)
    assert fx.calls() == \
        ["GET /admin/v1/sessions/%2E%2E%2Fv1%2Ffiles%3Fx%3D1%23y"]


def inspect_shows_whatever_there_is(fx):
    fx.special["GET /admin/v1/sessions/vm_1"] = lambda h: h.send(
        {"id": "vm_1", "created_at": 1700000000, "parts": ["disk"],
         "ended_at": 0, "x": {"deep": True, "none": None},
         "bad": "a\x1b[0mb"})
    text = fx.ctl("inspect", "vm_1").stdout
    assert "created_at: 1700000000 (2023-11-14 22:13:20 UTC)" in text
    assert "  deep: true\n  none: null\n" in text and "  - disk" in text
    assert "ended_at: null\n" in text
    assert "\x1b" not in text


def audit_says_what_it_mended(fx):
    found = {"differences": [{"kind": "vm", "id": "vm_1", "what": "stray",
                              "mended": "it is being ended"}]}
    fx.special["POST /admin/v1/audit"] = lambda h: h.send(found)
    got = fx.ctl("audit", "--fix").stdout.splitlines()
    assert re.split(r"  +", got[0]) == ["KIND", "ID", "DIFFERENCE", "DONE"]
    assert got[1].endswith("it is being ended")
    found["differences"].append({"kind": "cid", "id": "vm_2", "what": "twice",
                                 "mended": None})
    got = fx.ctl("audit", "--fix", status=1).stdout
    assert "needs a person" in got
    assert json.loads(fx.ctl("audit", "--fix", "--json", status=1).stdout) == found


def audit_tells_differences_by_status(fx):
    found = {"differences": [], "checked": {"vms": 3}}
    fx.special["GET /admin/v1/audit"] = lambda h: h.send(found)
    assert fx.ctl("audit").stdout == "No differences\n"
    found["differences"] = [{"kind": "disk", "id": "vm_1", "what": "left"}]
    assert "vm_1" in fx.ctl("audit", status=1).stdout
    assert json.loads(fx.ctl("audit", "--json", status=1).stdout) == found


def a_console_is_a_guests_words(fx):
    answer = {"vm": "vm_1", "total_bytes": 5000, "omitted_bytes": 4900,
              "text": "Linux\r\n\x1b[2Jpanic"}
    fx.special["GET /admin/v1/sessions/cntr_1/console"] = \
        lambda h: h.send(answer)
    got = fx.ctl("console", "cntr_1")
    assert got.stdout == "Linux\n\x1b[2Jpanic\n"
    assert "4900 bytes before these" in got.stderr
    assert json.loads(fx.ctl("console", "cntr_1", "--json").stdout) == answer
    answer.update(text="", omitted_bytes=0)
    got = fx.ctl("console", "cntr_1")
    assert got.stdout == "" and "Nothing" in got.stderr
    fx.ctl("console", "cntr_2", status=4)


def pools_are_shown_and_their_target_is_set(fx):
    pool = {"name": "default", "image": f"python@sha256:{'a' * 64}",
            "problem": None, "vcpus": 2, "memory_mib": 1024,
            "disk_bytes": 4096, "accelerator": "kvm", "ready_target": 3,
            "ready_setting": 1, "ready": 2, "vms": 5, "max": 16}
    fx.special["GET /admin/v1/pools"] = lambda h: h.send({"pools": [pool]})
    row = re.split(r"  +", fx.ctl("pools").stdout.splitlines()[1])
    assert row == ["default", "python@aaaaaaaaaaaa", "2 of 3 (settings: 1)",
                   "5 of 16", "2", "1.0 GiB", "4.0 KiB", "kvm", "-"], row
    assert json.loads(fx.ctl("pools", "list", "--json").stdout) == \
        {"pools": [pool]}
    fx.special["POST /admin/v1/pools/a%2Fb"] = lambda h: h.send(pool)
    got = fx.ctl("pools", "set", "a/b", "--ready", "3")
    assert got.stdout == "a/b: 2 of 3 (settings: 1) ready\n"
    assert json.loads(fx.asked[-1][2]) == {"ready": 3}
    fx.ctl("pools", "set", "a/b", "-r", "default")
    assert json.loads(fx.asked[-1][2]) == {"ready": None}
    asked = len(fx.asked)
    for wrong in (["set"], ["set", "a"], ["set", "a", "-r", "-1"],
                  ["set", "a", "-r", "1x"], ["x"], ["list", "-r", "1"]):
        fx.ctl("pools", *wrong, status=2)
    assert len(fx.asked) == asked


def keys_are_made_listed_and_revoked(fx):
    made = {"id": "key_1", "tenant": "t1", "name": "ci", "scopes": ["files"],
            "created_at": 1700000000, "expires_at": None, "key": "ck-secret"}
    fx.special["POST /admin/v1/keys"] = lambda h: h.send(made)
    fx.special["GET /admin/v1/keys"] = lambda h: h.send(
        {"keys": [{k: v for k, v in made.items() if k != "key"}]})
    got = fx.ctl("keys", "create", "--tenant", "t1", "--name", "ci",
                 "--scope", "files", "--expires", "60")
    assert got.stdout == "ck-secret\n"
    assert json.loads(fx.asked[0][2]) == {
        "tenant": "t1", "name": "ci", "scopes": ["files"],
        "expires_after_s": 60}
    assert re.search("key_1 .* -\n", fx.ctl("keys", "list").stdout)
    made["expires_at"] = 1700000060
    assert re.search("key_1 .* expired\n", fx.ctl("keys", "list").stdout)
    made["revoked_at"] = 1700000001
    assert re.search("key_1 .* revoked\n", fx.ctl("keys", "list").stdout)
    fx.ctl("keys", "revoke", "key_1")
    assert fx.calls()[-1] == "DELETE /admin/v1/keys/key_1"
    fx.ctl("keys", "frobnicate", status=2)


TENANT = {"id": "acme", "object": "tenant", "created_at": 1700000000,
          "state": "active",
          "limits": {"max_sessions": 4, "max_bytes": None},
          "effective": {"max_sessions": 4, "max_bytes": 2 << 30,
                        "session_seconds_per_day": 5400},
          "holds": {"sessions": 1, "executions": 0, "requests": 0,
                    "files": 2, "bytes": 10}}


def tenants_are_made_changed_and_erased(fx):
    fx.special["POST /admin/v1/tenants"] = lambda h: h.send(TENANT)
    fx.special["POST /admin/v1/tenants/acme"] = lambda h: h.send(TENANT)
    fx.special["GET /admin/v1/tenants"] = \
        lambda h: h.send({"tenants": [TENANT]})
    fx.special["GET /admin/v1/tenants/acme"] = lambda h: h.send(TENANT)
    fx.special["DELETE /admin/v1/tenants/acme"] = \
        lambda h: h.send({"id": "acme", "deleted": True})
    fx.ctl("tenants", "create", "acme", "sessions=4", "bytes=2G", "hours=1.5")
    assert json.loads(fx.asked[-1][2]) == {
        "id": "acme", "max_sessions": 4, "max_bytes": 2 << 30,
        "session_seconds_per_day": 5400}
    fx.ctl("tenants", "set", "acme", "rate=600", "sessions=default")
    assert json.loads(fx.asked[-1][2]) == {"requests_per_minute": 600,
                                           "max_sessions": 0}
    text = fx.ctl("tenants", "show", "acme").stdout
    assert "limit sessions: 4 (its own)" in text
    assert "limit hours: 1.50\n" in text and "limit rate: none\n" in text
    assert "acme" in fx.ctl("tenants", "list").stdout
    fx.ctl("tenants", "delete", "acme")
    asked = len(fx.asked)
    for bad in ("sessions", "sessions=", "sessions=0", "sessions=1.5",
                "sessions=4k", "bytes=2X", "bytes=-1", "hours=inf",
                "rooms=1", "rate=99999999999999999999"):
        fx.ctl("tenants", "set", "acme", bad, status=2)
    for bad in (("set", "acme"), ("show",), ("list", "acme"), ("x", "acme")):
        fx.ctl("tenants", *bad, status=2)
    assert len(fx.asked) == asked


def artifacts_of_all_are_listed_fetched_and_removed(fx):
    fx.special[r"GET /admin/v1/artifacts\?limit=100"] = lambda h: h.send(
        {"object": "list", "has_more": False,
         "data": [dict(cfile("cfile_1", "/mnt/data/a.png"), tenant="acme",
                       container_id="cntr_9")]})
    text = fx.ctl("artifacts", "list").stdout
    assert re.search(r"^cfile_1 +a.png .* acme +cntr_9$", text, re.M), text
    fx.special["GET /admin/v1/artifacts/cfile_1/content"] = \
        lambda h: h.send(b"png", kind="application/octet-stream")
    fx.ctl("artifacts", "get", "cfile_1")
    assert (fx.dir / "cfile_1").read_bytes() == b"png"
    fx.ctl("artifacts", "rm", "cfile_1", "cfile_2")
    assert fx.calls()[-2:] == ["DELETE /admin/v1/artifacts/cfile_1",
                               "DELETE /admin/v1/artifacts/cfile_2"]
    fx.ctl("artifacts", "rm", status=2)
    fx.ctl("artifacts", "get", status=2)


def usage_is_a_table_csv_or_json(fx):
    row = {"tenant": "acme", "sessions": 2, "live_sessions": 1,
           "executions": 3, "assigned_s": 7200, "executing_ms": 1800000,
           "cpu_ms": 1000, "memory_gib_s": 7200.5, "bytes_in": 1,
           "bytes_out": 2048, "idle_share": 0.75, "responses": 4,
           "input_tokens": 500, "output_tokens": 60, "tool_calls": 7,
           "held_s": 80}
    fx.special[re.escape("GET /admin/v1/usage?by=tenant")] = \
        lambda h: h.send({"usage": [row, dict(row, tenant=None)]})
    text = fx.ctl("usage").stdout
    assert re.search(r"^TENANT +SESSIONS ", text, re.M), text
    assert re.search(r"^acme +2 +3 +2\.00 +0\.50 +0\.00 +75 % .* "
                     r"4 +500\+60 +7$", text, re.M), text
    assert "(deleted)" in text
    assert fx.ctl("usage", "--csv").stdout == (
        "tenant,day,origin,key,sessions,live_sessions,executions,assigned_s,"
        "executing_ms,cpu_ms,memory_gib_s,bytes_in,bytes_out,idle_share,"
        "responses,input_tokens,output_tokens,tool_calls,held_s\n"
        "acme,,,,2,1,3,7200,1800000,1000,7200.5,1,2048,0.75,4,500,60,7,80\n"
        ",,,,2,1,3,7200,1800000,1000,7200.5,1,2048,0.75,4,500,60,7,80\n")
    assert json.loads(fx.ctl("usage", "--json").stdout)["usage"][0] == row
    path = "GET /admin/v1/usage?by=day&since=2026-11-01&tenant=a%26b"
    fx.special[re.escape(path)] = lambda h: h.send({"usage": []})
    fx.ctl("usage", "--by", "day", "--since", "2026-11-01", "--tenant", "a&b")
    fx.special[re.escape("GET /admin/v1/usage?by=origin")] = lambda h: h.send(
        {"usage": [dict(row, origin="conv_7"), dict(row, origin="api")]})
    text = fx.ctl("usage", "--by", "origin").stdout
    assert re.search(r"^TENANT +ORIGIN ", text, re.M), text
    assert re.search(r"^acme +conv_7 +2 +3 +2\.00 ", text, re.M), text
    assert "\nacme,,conv_7,,2,1," in fx.ctl("usage", "--by", "origin",
                                           "--csv").stdout
    fx.special[re.escape("GET /admin/v1/usage?by=key")] = lambda h: h.send(
        {"usage": [dict(row, key="key_7"), dict(row, key="")]})
    text = fx.ctl("usage", "--by", "key").stdout
    assert re.search(r"^TENANT +KEY ", text, re.M), text
    assert re.search(r"^acme +key_7 +2 ", text, re.M), text
    assert "'week'" in fx.ctl("usage", "--by", "week", status=2).stderr
    assert "Cupola-Tenant" not in fx.asked[-1][3]


def a_backup_is_private_whole_and_replaces_nothing(fx):
    fx.special["GET /admin/v1/backup"] = \
        lambda h: h.send(b"SQLite", kind="application/vnd.sqlite3")
    fx.ctl("backup", "copy.sqlite")
    made = pathlib.Path(fx.dir) / "copy.sqlite"
    assert made.read_bytes() == b"SQLite"
    assert made.stat().st_mode & 0o777 == 0o600
    fx.ctl("backup", "copy.sqlite", status=7)
    fx.special["GET /admin/v1/backup"] = lambda h: h.refuse(409, "busy")
    fx.ctl("backup", "other.sqlite", status=4)
    assert not (pathlib.Path(fx.dir) / "other.sqlite").exists()
    assert made.read_bytes() == b"SQLite"


def refusals_have_statuses_of_their_own(fx):
    for http_status, status in ((404, 4), (409, 4), (429, 5), (503, 5),
                                (500, 6), (502, 6)):
        fx.special["GET /admin/v1/sessions/.*"] = \
            lambda h, s=http_status: h.refuse(s, f"Because of {s}")
        got = fx.ctl("inspect", "x", status=status)
        assert got.stderr == f"cupolactl: Because of {http_status}\n"
    fx.special["GET /admin/v1/sessions/.*"] = \
        lambda h: h.send(b"<html>", 200)
    fx.ctl("inspect", "x", status=6)
    fx.special["GET /admin/v1/sessions/.*"] = \
        lambda h: h.send(b"<html>", 418)
    assert "418" in fx.ctl("inspect", "x", status=4).stderr


def without_a_daemon_it_says_what_to_do(fx):
    got = fx.ctl("ps", "--socket", "/nonexistent/s", status=3)
    assert "/nonexistent/s" in got.stderr and "cupolad" in got.stderr
    got = fx.ctl("ps", "--url", "http://127.0.0.1:1", status=3)
    assert "127.0.0.1:1" in got.stderr


@contextlib.contextmanager
def http_server(fx):
    """The fixture's server at an address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.fixture = fx
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def what_operators_ask_needs_the_socket(fx):
    url = ("--url", "http://127.0.0.1:1")
    for command in (("audit",), ("keys", "list"), ("nmi", "cntr_1"), ("events",),
                    ("model", "list"), ("drain", "-s"), ("top", "--once"),
                    ("pools",), ("usage",), ("tenants", "list"),
                    ("console", "cntr_1"), ("backup", "copy.sqlite"),
                    ("artifacts", "list"), ("artifacts", "get", "cfile_1")):
        got = fx.ctl(*url, *command, status=2)
        assert "Unix socket" in got.stderr, (command, got)
    assert not (fx.dir / "copy.sqlite").exists()
    assert "--tenant" in fx.ctl(*url, "--tenant", "a", "files", "ls", status=2).stderr
    found = fx.ctl(*url, "doctor", "--quick", "--json", status=None)
    daemon = [f for f in json.loads(found.stdout)["findings"] if f["what"] == "daemon"]
    assert len(daemon) == 1 and "--url" in daemon[0]["remedy"], daemon
    assert fx.asked == []


def an_address_may_be_an_sdks_base_url(fx):
    with http_server(fx) as address:
        for url in (address, f"{address}/", f"{address}/v1", f"{address}/v1/"):
            fx.asked.clear()
            fx.ctl("--url", url, "exec", "cntr_1", "-c", "x")
            assert fx.calls() == ["POST /v1/containers/cntr_1/exec"], (url, fx.calls())


def a_socket_that_is_anothers_is_told_from_none(fx):
    if os.getuid() != 0:
        raise tap.Skip("only root can become somebody else")
    os.chmod(fx.dir, 0o755)
    os.chmod(fx.socket, 0o600)
    got = subprocess.run([CTL.resolve(), "ps"], env=fx.env(), text=True, cwd="/",
                         capture_output=True, timeout=WAIT, user=65534, group=65534,
                         extra_groups=[])
    assert got.returncode == 3 and "cupola-view" in got.stderr, got


def the_key_goes_out_and_nowhere_else(fx):
    fx.special["GET /v1/files.*"] = lambda h: h.send({"data": []})
    got = fx.ctl("files", "ls", "--tenant", "t2", CUPOLA_API_KEY="ck-abc")
    assert fx.asked[0][3]["Authorization"] == "Bearer ck-abc"
    assert fx.asked[0][3]["Cupola-Tenant"] == "t2"
    assert "ck-abc" not in got.stdout + got.stderr


def a_terminal_gets_no_control_characters(fx):
    fx.events[1:1] = [("execution.output", {
        "stream": "stdout", "data": "\x1b[31mred\x1b[0m \x1b]0;t\x07\n"})]
    pid, master = pty.fork()
    if pid == 0:
        os.execve(CTL, [str(CTL), "exec", "cntr_1", "-c", "x"],
                  fx.env(TERM="xterm"))
    seen = b""
    try:
        while chunk := os.read(master, 4096):
            seen += chunk
    except OSError:
        pass
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"\x1b[31mred\x1b[0m \\x1b]0;t\\x07" in seen, seen


def doctor_and_images_work_without_a_daemon(fx):
    image = fx.dir / "images/tiny"
    image.mkdir(parents=True)
    (image / "manifest.json").write_text(json.dumps(
        {"name": "tiny", "digest": "sha256:12", "size": 7,
         "built_at": "2026-01-01T00:00:00Z"}))
    env = {"CUPOLA_SOCKET": str(fx.dir / "none"),
           "CUPOLA_IMAGES": str(fx.dir / "images")}
    got = subprocess.run([CTL, "doctor", "--json"], capture_output=True,
                         text=True, env=fx.env(**{}) | env, timeout=WAIT)
    assert got.returncode in (0, 1), got.stderr
    found = {f["what"] for f in json.loads(got.stdout)["findings"]}
    assert {"kvm", "vsock", "qemu", "libvirt", "disk", "memory", "image",
            "daemon", "user"} <= found, found
    got = subprocess.run([CTL, "images"], capture_output=True, text=True,
                         env=fx.env() | env, timeout=WAIT)
    assert "tiny" in got.stdout and "sha256:12" in got.stdout


def doctor_asks_the_daemon_for_the_accelerator(fx):
    status = {"problems": [], "vms": 2,
              "hypervisor": {"accelerator": "qemu", "vsock": "user",
                             "accelerator_reason": "no KVM here",
                             "libvirt_version": 9000000,
                             "qemu_version": 7002022, "uri": "qemu:///embed"},
              "pools": [{"name": "default", "image": "tiny@sha256:1",
                         "problem": None}]}
    fx.special["GET /admin/v1/status"] = lambda h: h.send(status)

    def ask():
        got = subprocess.run([CTL, "doctor", "--json"], capture_output=True,
                             text=True, env=fx.env(), timeout=WAIT)
        return {f["what"]: f for f in json.loads(got.stdout)["findings"]}

    probed = {"pool": "default", "booted": True, "create_ms": 100.2,
              "boot_ms": 9000, "echo_ms": 3.04, "reason": "it booted"}
    fx.special["POST /admin/v1/probe"] = lambda h: h.send(probed)

    found = ask()
    assert found["daemon"]["text"].endswith(" with 2 VMs")
    assert "no isolation: no KVM here" in found["accelerator"]["text"]
    assert "QEMU 7.2.22" in found["hypervisor"]["text"]
    assert found["pool"]["level"] == "good"
    status["pools"][0]["problem"] = "Image 'tiny' is missing"
    assert ask()["pool"]["level"] == "bad"
    status["vms"] = 1
    assert ask()["daemon"]["text"].endswith(" with 1 VM")
    status["problems"] = ["it is draining"]
    status["hypervisor"] = None
    found = ask()
    assert found["daemon"]["level"] == "bad" and "hypervisor" not in found


def doctor_proves_by_booting(fx):
    status = {"problems": [], "vms": 0, "pools": [], "emulation_allowed": True,
              "hypervisor": {"accelerator": "kvm", "pid": os.getpid()}}
    kvm = {"pool": "p", "booted": True, "create_ms": 200.4, "boot_ms": 900.2,
           "echo_ms": 3.14, "reason": "it booted"}
    slow = dict(kvm, boot_ms=12000, create_ms=300)
    fx.special["GET /admin/v1/status"] = lambda h: h.send(status)
    answers = []
    fx.special["POST /admin/v1/probe"] = lambda h: answers.pop(0)(h)

    def ask(*what):
        # Whether this host is well besides is not the question.
        answers[:] = what
        got = subprocess.run([CTL, "doctor", "--json"], capture_output=True,
                             text=True, env=fx.env(), timeout=WAIT)
        assert not answers, got.stderr
        return [f for f in json.loads(got.stdout)["findings"]
                if f["what"] == "probe"]

    def says(answer):
        return lambda h: h.send(answer)

    first, second = ask(says(kvm), says(slow))
    bodies = [json.loads(body) for _, path, body, _ in fx.asked
              if path.endswith("/probe")]
    assert bodies == [{"accelerator": "kvm"}, {"accelerator": "qemu"}]
    assert first["text"] == ("KVM boots 'p': made in 200 ms, booted in 900 ms, "
                             "vsock answers in 3.1 ms"), first
    # Emulation may take its time.
    assert first["level"] == second["level"] == "good"

    for bad in ({"boot_ms": 9000}, {"create_ms": 40000}, {"echo_ms": 80}):
        first, _ = ask(says(dict(kvm, **bad)), says(slow))
        assert first["level"] == "degraded" and first["remedy"], bad
    # What is not used may fail; what is used may not.
    dead = {"booted": False, "reason": "KVM cannot run it"}
    first, second = ask(says(dead), says(dead))
    assert (first["level"], second["level"]) == ("bad", "degraded")
    first, second = ask(lambda h: h.refuse(503, "the host is full"),
                        lambda h: h.refuse(403, "not allowed"))
    assert first["level"] == second["level"] == "degraded"
    assert "was not tried: the host is full" in first["text"]

    status["emulation_allowed"] = False
    assert len(ask(says(kvm))) == 1
    asked = len(fx.asked)
    subprocess.run([CTL, "doctor", "--quick"], capture_output=True, check=False,
                   env=fx.env(), timeout=WAIT)
    assert "GET /admin/v1/status" in fx.calls()[asked:]
    assert not any("probe" in call for call in fx.calls()[asked:])


def help_explains_every_command(fx):
    overview = fx.ctl("--help").stdout
    assert fx.ctl("help").stdout == overview
    for name in re.findall(r"^  ([a-z]+)  ", overview, re.M):
        text = fx.ctl("help", name).stdout
        assert text.startswith(f"Usage: cupolactl {name}")
        assert fx.ctl(name, "--help").stdout == text
        assert " \n" not in text
        for wrong in (("--nonsense",), ["x"] * 99):
            got = fx.ctl(name, *wrong, status=2)
            assert not got.stderr.endswith(" \n")
    assert fx.asked == []
    assert not fx.ctl("--nonsense", status=2).stderr.endswith(" \n")
    fx.ctl("help", "nonsense", status=2)
    fx.ctl("nonsense", status=2)
    fx.ctl(status=2)
    assert fx.ctl("version").stdout == fx.ctl("--version").stdout


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z]+", text))


def lists_need_no_word(fx):
    for command, path, answer in (
            ("keys", "/admin/v1/keys", {"keys": []}),
            ("tenants", "/admin/v1/tenants", {"tenants": []}),
            ("model", "/admin/v1/models", {"models": []}),
            ("pools", "/admin/v1/pools", {"pools": []}),
            ("artifacts", "/admin/v1/artifacts[?].*", {"data": [], "has_more": False}),
            ("files", "/v1/files[?].*", {"data": [], "has_more": False})):
        fx.special[f"GET {path}"] = lambda h, answer=answer: h.send(answer)
        word = "ls" if command == "files" else "list"
        assert fx.ctl(command).stdout == fx.ctl(command, word).stdout != ""
        assert fx.calls()[-1] == fx.calls()[-2]


def help_has_what_the_usage_has_no_room_for(fx):
    assert "sessions=20" in fx.ctl("tenants", "--help").stdout
    words = re.findall(r"[a-z]+", fx.ctl("keys", "--help").stdout)
    refused = fx.ctl("keys", "create", "--scope", "x", status=2).stderr
    scopes = re.findall(r"'([a-z]+)'", refused.rpartition(", not")[0])
    assert len(scopes) == 6 and set(scopes) <= set(words), (scopes, words)
    text = fx.ctl("images", "--help").stdout
    for action in re.search(r"\[(.*) \.\.\.\]", text)[1].split(" | "):
        assert f"\n  images {action}" in text, (action, text)


def beside_images(fixture):
    """A cupolactl as in a source tree, wherever this one was built."""
    build = fixture.dir / "build"
    build.mkdir()
    source = os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2])
    (fixture.dir / "images").symlink_to(pathlib.Path(source) / "images")
    return shutil.copy(CTL, build)


def what_is_wrong_about_images_is_said_in_a_line(fx):
    program = beside_images(fx)
    got = fx.ctl("images", "foo", status=2)
    assert "'foo'" in got.stderr and "verify" in got.stderr
    for argv, usage in ((("rm",), "rm IMAGE..."), (("diff", "a"), "diff IMAGE IMAGE"),
                        (("export", "a"), "export IMAGE FILE")):
        lines = fx.ctl("images", *argv, status=2, program=program).stderr.splitlines()
        assert lines[0] == f"usage: cupolactl images {usage}" and len(lines) == 2, lines


def completions_name_what_help_names(fx):
    overview = fx.ctl("--help").stdout
    commands = re.findall(r"^  ([a-z]+)  ", overview, re.M)
    for shell in ("bash", "zsh", "fish"):
        script = fx.ctl("completion", shell).stdout
        for name in commands:
            assert re.search(rf"\b{name}\b", script), (shell, name)
            for option in options_of(fx.ctl("help", name).stdout):
                spelled = f"-l {option[2:]}" if shell == "fish" else option
                assert spelled in script, (shell, name, option)
    fx.ctl("completion", "csh", status=2)
    assert fx.asked == []


def complete(fixture, *words):
    """What bash offers for the last of some words."""
    script = fixture.write("completion", fixture.ctl("completion", "bash").stdout)
    program = (f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
               '_cupolactl; echo "${COMPREPLY[*]}"')
    return subprocess.run(["bash", "-c", program, "bash", *words], text=True,
                          capture_output=True, check=True).stdout.split()


def bash_completes_commands_words_and_options(fx):
    assert complete(fx, "cupolactl", "und") == ["undrain"]
    assert complete(fx, "cupolactl", "--socket", "s", "keys", "re") == ["revoke"]
    assert complete(fx, "cupolactl", "run", "--fi") == ["--file"]
    assert complete(fx, "cupolactl", "run", "--file", "") == []
    assert complete(fx, "cupolactl", "keys", "list", "re") == []


def undrain_is_a_word_of_its_own(fx):
    fx.special["DELETE /admin/v1/drain"] = lambda h: h.send(
        {"state": "off", "sessions": 2, "deadline_at": None})
    assert fx.ctl("undrain").stdout == "not drained, 2 live sessions\n"
    assert json.loads(fx.ctl("undrain", "--json").stdout)["sessions"] == 2


def logs_asks_the_journal_by_the_kind_of_id(fx):
    journal = pathlib.Path(fx.write("journalctl", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"))
    journal.chmod(0o755)
    path = f"{fx.dir}:{os.environ['PATH']}"
    for ident, field in (("cntr_1", "SESSION_ID"), ("vm_1", "VM_NAME"),
                         ("exec_1", "EXEC_ID"), ("req_1", "REQUEST_ID"),
                         ("key_1", "KEY_ID"), ("0af7651916cd43dd8448eb211c80319c", "TRACE_ID")):
        words = fx.ctl("logs", ident, PATH=path).stdout.splitlines()
        assert words[-1] == f"{field}={ident}" and "--quiet" in words, words
    for ident in ("foo", "file-1", ""):
        assert f"'{ident}'" in fx.ctl("logs", ident, status=2, PATH=path).stderr
    words = fx.ctl("logs", "-f", "-n", "5", "--since", "today", "--json",
                   PATH=path).stdout.splitlines()
    assert words[1:] == ["--quiet", "--output=json", "--follow", "--lines", "5",
                         "--since", "today", "SYSLOG_IDENTIFIER=cupolad",
                         "SYSLOG_IDENTIFIER=cupola-vmd"], words
    for lines in ("-3", "", "5x", "--output=json"):
        got = fx.ctl("logs", "--lines", lines, status=2, PATH=path)
        assert got.stderr == f"cupolactl: --lines takes a number, not '{lines}'\n" and not got.stdout
    got = fx.ctl("logs", status=7, PATH=str(fx.dir / "none"))
    assert "journalctl" in got.stderr
    assert fx.asked == []


if __name__ == "__main__":
    run(sys.modules[__name__])
