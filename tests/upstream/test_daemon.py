#!/usr/bin/python3
"""Models of a whole daemon: lists, figures and "cupolactl model", as TAP. No VM."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("abs_top_builddir", HERE.parent.parent / "build"))
os.environ.setdefault("CUPOLA_BUILD", str(BUILD))
sys.path[:0] = [str(HERE), str(HERE.parent / "chaos")]

from host import serving, wait_until  # noqa: E402
from model import Model  # noqa: E402

PATIENCE = 60


def ctl(host, *argv, status=0):
    ended = subprocess.run([BUILD / "cupolactl", *argv], capture_output=True, text=True, timeout=PATIENCE, check=False,
                           env={**os.environ, "CUPOLA_SOCKET": f"{host.dir}/cupola.sock"})
    assert ended.returncode == status, ended
    return ended.stdout


def three(model):
    """A chat model, one that speaks Responses, and one that does not answer."""
    return {"model.url": model.url, "model.name": "main", "model.other.url": model.url,
            "model.other.protocol": "responses", "model.other.upstream_name": "other-7b",
            "model.lost.url": "http://127.0.0.1:9/v1", "model.lost.retries": "0"}


def models_are_listed_with_where_they_are():
    with Model() as model, serving(three(model)) as host:
        lines = ctl(host, "model", "list").splitlines()
        assert [line.split()[:2] for line in lines[1:]] == [["main", "chat"], ["other", "responses"], ["lost", "chat"]]
        assert "other-7b" in lines[2] and f"{model.url}/responses" in lines[2]
        listed = host.json("GET", "/v1/models")["data"]
        assert [m["id"] for m in listed] == ["main", "other", "lost"] and model.url not in json.dumps(listed)


def a_test_asks_for_words_and_for_a_call():
    with Model() as model, serving(three(model)) as host:
        for name in ("main", "other"):
            lines = ctl(host, "model", "test", name).splitlines()
            assert [line.split()[:3] for line in lines[1:]] == [[name, "text", "ok"], [name, "call", "ok"]]
        tests = json.loads(ctl(host, "model", "test", "--json", status=1))["tests"]
        assert [(t["model"], t["ok"]) for t in tests] == [("main", True), ("other", True), ("lost", False)]
        assert tests[0]["call"]["input_tokens"] > 0 and tests[0]["text"]["error"] is None
        assert "Cannot reach the model's server" in tests[2]["text"]["error"]
        assert "not tried" in ctl(host, "model", "test", "lost", status=1)
        ctl(host, "model", "test", "none", status=4)
        ctl(host, "model", "tests", status=2)
        assert model.log[-1]["body"]["model"] == "other-7b"
        figures = host.call("GET", "/metrics", admin=True).decode()
        assert 'cupola_model_answers_total{model="main",finish="stop"} 4' in figures
        assert 'cupola_model_answers_total{model="lost",finish="failed"} 2' in figures
        assert 'cupola_model_first_piece_seconds_bucket{model="other",le="+Inf"} 4' in figures


def a_trace_reaches_the_model_and_the_log():
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    trace = f"00-{trace_id}-b7ad6b7169203331-01"
    with Model() as model, serving({"model.url": model.url, "model.name": "m"}) as host:
        def ask(**headers):
            answer = host.json("POST", "/v1/responses", {"model": "m", "input": "hello"}, headers=headers)
            assert answer["status"] == "completed", answer
            return model.log[-1]["headers"].get("traceparent")

        assert ask(traceparent="00-bad-01") is None
        assert ask(traceparent=trace) == trace
        assert ask() is None
        # The response's line and the request's, which comes after the answer.
        wait_until(lambda: lines_of(host, f"trace={trace_id}") == 2, PATIENCE, "two lines in the log")


def write_key(path, text):
    """As editors and key stores do it: another file takes the name."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(0o640)
    os.chown(new, -1, path.parent.stat().st_gid)
    new.rename(path)


def lines_of(host, words):
    return (host.top / "log").read_text().count(words)


def reload(host):
    before = lines_of(host, "keys again")
    host.process.send_signal(signal.SIGHUP)
    wait_until(lambda: lines_of(host, "keys again") > before, PATIENCE, "a line in the log")


def keys_are_read_again():
    """Each by itself, and a file that is no good changes nothing."""
    with Model(key="sesame-first") as model, tempfile.TemporaryDirectory() as top:
        directory = Path(top)
        directory.chmod(0o750)
        if os.getuid() == 0:
            shutil.chown(directory, group="cupola")
        files = {name: directory / name for name in ("main", "other")}
        for path in files.values():
            write_key(path, "sesame-first\n")
        settings = {**three(model), "model.key_file": files["main"], "model.other.key_file": files["other"]}
        with serving(settings) as host:
            for name in files:
                ctl(host, "model", "test", name)
            model.key = "sesame-second"
            for path in files.values():
                write_key(path, "sesame-second\n")
            ctl(host, "model", "test", "main", status=1)
            reload(host)
            for name in files:
                ctl(host, "model", "test", name)
            model.key = "sesame-third"
            write_key(files["main"], "sesame-third\nsesame-fourth\n")
            write_key(files["other"], "sesame-third\n")
            reload(host)
            assert lines_of(host, "model.default.key_file: ") == 1 and lines_of(host, "the old key stays") == 1
            ctl(host, "model", "test", "other")
            ctl(host, "model", "test", "main", status=1)
            model.key = "sesame-second"
            ctl(host, "model", "test", "main")
            assert not lines_of(host, "sesame")


def a_daemon_that_ends_waits_for_no_model():
    with Model(always="!dead") as model, serving({"model.url": model.url, "model.name": "m"}) as host:
        asking = subprocess.Popen([BUILD / "cupolactl", "model", "test", "m"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, "CUPOLA_SOCKET": f"{host.dir}/cupola.sock"})
        while not model.log:
            assert asking.poll() is None
        assert host.stop() == 0
        # Not its status: Host reaps whatever ends.
        assert b"cupolactl: " in asking.communicate(timeout=PATIENCE)[1]


CASES = (models_are_listed_with_where_they_are, a_test_asks_for_words_and_for_a_call, keys_are_read_again,
         a_trace_reaches_the_model_and_the_log, a_daemon_that_ends_waits_for_no_model)


def main():
    cases = [case for case in CASES if not sys.argv[1:] or case.__name__ in sys.argv[1:]]
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {case.__name__}", flush=True)
        except Exception:
            print(f"not ok {number} - {case.__name__}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), flush=True)


if __name__ == "__main__":
    main()
