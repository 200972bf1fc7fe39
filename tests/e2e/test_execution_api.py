"""The execution call to the field: objects, events, refusals, interrupts."""

import concurrent.futures
import time

import pytest

from cupola import ApiError, read_events, wait_until

pytestmark = pytest.mark.usefixtures("invariants")

OBJECT = {
    "id", "object", "container_id", "status", "stdout", "stderr", "truncated",
    "results", "error", "artifacts", "skipped", "skipped_count",
    "execution_count", "kernel_epoch", "state_lost", "trace_id",
    "created_at", "duration_ms", "cpu_ms", "peak_memory_bytes",
}
NO_EXEC = "exec_" + "0" * 48


def refused(box, status, code, method, path, **kwargs):
    response = box.call(method, path, **kwargs)
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == code and error["message"]
    return response


# ----------------------------------------------------------------- object


def test_a_trace_reaches_the_code_and_what_it_starts(box):
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    trace = f"00-{trace_id}-b7ad6b7169203331-01"
    code = ("import os\nprint(os.environ.get('TRACEPARENT'), flush=True)\n"
            "_ = os.system('echo $TRACEPARENT')")
    done = box.json("POST", "/exec", json={"code": code},
                    headers={"traceparent": trace})
    assert done["stdout"] == f"{trace}\n{trace}\n"
    assert done["trace_id"] == trace_id
    assert box.execution(done["id"])["trace_id"] == trace_id
    later = box.run(code)
    assert (later["stdout"], later["trace_id"]) == ("None\n\n", None)


def test_a_result_has_all_its_fields(box):
    began = int(time.time())
    done = box.run("open('/mnt/data/f.txt', 'w').write('12')\n"
                   "import os; os.symlink('/etc/passwd', '/mnt/data/link')\n"
                   "x = bytearray(10_000_000)\n"
                   "n = 0\nfor i in range(200_000): n += i\n"
                   "print('é'); {'a': 1}")
    assert set(done) == OBJECT
    assert done["object"] == "container.execution"
    assert done["id"].startswith("exec_") and done["container_id"] == box.id
    assert done["truncated"] == {"stdout": False, "stderr": False,
                                 "total_bytes": 3, "omitted_bytes": 0}
    assert done["results"] == [{"text/plain": "{'a': 1}"}]
    assert done["error"] is None and done["state_lost"] is False
    artifact, = done["artifacts"]
    assert {"id", "object", "container_id", "created_at", "bytes", "path",
            "source"} <= set(artifact)
    assert artifact["object"] == "container.file"
    assert (artifact["path"], artifact["bytes"]) == ("/mnt/data/f.txt", 2)
    assert artifact["source"] == "assistant"
    skipped, = done["skipped"]
    assert skipped["path"].endswith("link") and skipped["reason"]
    assert began <= done["created_at"] <= time.time() + 1
    assert 0 < done["cpu_ms"] <= done["duration_ms"] + 100
    assert 10_000_000 < done["peak_memory_bytes"] < 512 << 20
    assert box.execution(done["id"]) == done
    box.run("os.unlink('/mnt/data/link')")


def test_count_and_epoch_are_seen_in_the_result_and_the_container(box):
    first, second = box.run("1"), box.run("2")
    assert second["execution_count"] == first["execution_count"] + 1
    died = box.run("import os, signal; os.kill(os.getpid(), signal.SIGBUS)")
    assert died["status"] == "kernel_died"
    assert died["error"] == {"name": "SIGBUS", "value": "7", "traceback": ""}
    assert died["execution_count"] == second["execution_count"] + 1
    assert died["kernel_epoch"] == second["kernel_epoch"] + 1
    assert box.get()["session"]["kernel_epoch"] == died["kernel_epoch"]
    after = box.run("3")
    assert (after["execution_count"], after["kernel_epoch"],
            after["state_lost"]) == (1, died["kernel_epoch"], False)


def test_an_object_that_waits_or_runs_says_so(box):
    running = box.start("import time\nprint('on', flush=True)\ntime.sleep(60)")
    waiting = box.start("print('never')")
    box.wait_status(running, ["running"])
    now = box.execution(waiting)
    assert set(now) == OBJECT
    assert (now["status"], now["stdout"], now["execution_count"]) \
        == ("queued", "", 0)
    assert box.get()["session"]["state"] == "executing"
    assert box.get()["status"] == "running"
    wait_until(lambda: box.execution(running)["stdout"] == "on\n", 60, "output")

    # One that waits is taken out of the queue, and has an end like the others.
    answer = box.call("POST", f"/executions/{waiting}/interrupt")
    assert answer.status_code == 202
    assert answer.json()["status"] == "interrupted"
    assert box.execution(waiting)["execution_count"] == 0
    box.call("POST", f"/executions/{running}/interrupt")
    done = box.wait_status(running, ["interrupted"])
    assert done["stdout"] == "on\n" and done["state_lost"] is False
    assert done["error"]["name"] == "KeyboardInterrupt"
    assert box.get()["session"]["state"] == "running"


# ----------------------------------------------------------------- events


def test_events_tell_the_same_as_the_object(box):
    events = list(box.stream(
        "import sys\n"
        "from IPython.display import display, HTML\n"
        "print('out', flush=True); print('err', file=sys.stderr)\n"
        "display(HTML('<b>x</b>'))\n"
        "open('/mnt/data/e.txt', 'w').write('e')\n"
        "'last'"))
    names = [name for name, _, _ in events]
    assert names[0] == "execution.started"
    assert names[-1] == "execution.done"
    assert set(names) == {"execution.started", "execution.output",
                          "execution.result", "execution.artifact",
                          "execution.done"}
    ids = [int(ident) for _, ident, _ in events]
    assert ids == sorted(set(ids))
    done = events[-1][2]
    assert set(done) == OBJECT - {"stdout", "stderr"}
    whole = box.execution(done["id"])
    assert {k: v for k, v in whole.items() if k in done} == done
    for stream in ("stdout", "stderr"):
        assert "".join(d["data"] for n, _, d in events
                       if n == "execution.output"
                       and d["stream"] == stream) == whole[stream]
    # What is in the events is in the object, in the same order.
    flat = str([d for n, _, d in events if n == "execution.result"])
    assert len(whole["results"]) == names.count("execution.result") == 2
    assert "<b>x</b>" in flat and "'last'" in flat
    assert whole["artifacts"][0]["id"] in str(
        [d for n, _, d in events if n == "execution.artifact"])

    # Each place to go on from gives the rest and nothing else.
    for at, ident in enumerate(ids):
        response = box.call("GET", f"/executions/{done['id']}/events"
                            f"?after={ident}", stream=True)
        rest = list(read_events(response))
        assert [int(i) for _, i, _ in rest] == ids[at + 1:] or \
            "".join(d["data"] for n, _, d in rest if n == "execution.output"
                    and d["stream"] == "stdout") in whole["stdout"]
        if at < len(ids) - 1:
            assert rest[-1][0] == "execution.done"


def test_a_client_that_leaves_does_not_end_the_execution(box):
    stream = box.stream("import time\n"
                        "for i in range(3):\n"
                        "    print(i, flush=True); time.sleep(1)")
    _, _, started = next(stream)
    stream.close()
    done = box.wait_status(started["id"], ["ok"])
    assert done["stdout"] == "0\n1\n2\n"


# --------------------------------------------------------------- refusals


@pytest.mark.parametrize("fields, param, code", [
    ({}, "code", "missing_required_parameter"),
    ({"code": ""}, "code", "string_below_min_length"),
    ({"code": 7}, "code", "invalid_type"),
    ({"code": None}, "code", None),
    ({"code": "x" * (512 * 1024 + 1)}, "code", "string_above_max_length"),
    ({"code": "1", "timeout_s": 0}, "timeout_s", None),
    ({"code": "1", "timeout_s": -1}, "timeout_s", None),
    ({"code": "1", "timeout_s": 301}, "timeout_s",
     "decimal_above_max_value"),
    ({"code": "1", "timeout_s": 1e300}, "timeout_s", None),
    ({"code": "1", "timeout_s": "5"}, "timeout_s", "invalid_type"),
    ({"code": "1", "encoding": "latin-1"}, "encoding", "invalid_value"),
    ({"code": "1", "stdin": 5}, "stdin", "invalid_type"),
    ({"code": "1", "stream": 1}, "stream", "invalid_type"),
    ({"code": "1", "spill": "yes"}, "spill", "invalid_type"),
    ({"code": "1", "stream": True, "background": True}, "background", None),
    ({"code": "1", "image": "x"}, "image", "unknown_parameter"),
    ({"code": "1", "id": "exec_mine"}, "id", "unknown_parameter"),
])
def test_bad_fields_are_refused_and_run_nothing(box, fields, param, code):
    before = box.run("0")["execution_count"]
    with pytest.raises(ApiError) as e:
        box.json("POST", "/exec", json=fields)
    assert e.value.status == 400
    assert e.value.param == param
    if code:
        assert e.value.code == code
    assert box.run("0")["execution_count"] == before + 1


def test_what_does_not_exist_is_not_found(box, canary):
    path = f"/executions/{NO_EXEC}"
    refused(box, 404, None, "GET", path)
    refused(box, 404, None, "GET", f"{path}/events")
    refused(box, 404, None, "POST", f"{path}/interrupt")
    refused(box, 404, None, "GET", "/executions/none")
    refused(box, 404, None, "POST", "/executions/none/interrupt")
    # Another tenant's is exactly as one that is not.
    foreign = canary.box.run("1")["id"]
    for at in (f"/executions/{foreign}", f"/executions/{foreign}/events"):
        refused(box, 404, None, "GET", at)
    refused(box, 404, None, "POST", f"/executions/{foreign}/interrupt")
    for method, path in (("POST", "/exec"), ("GET", f"/executions/{foreign}"),
                         ("POST", f"/executions/{foreign}/interrupt")):
        body = {"json": {"code": "1"}} if path == "/exec" else {}
        theirs = box.daemon.call(method, canary.box.path + path, **body)
        none = box.daemon.call(
            method, "/v1/containers/cntr_" + "0" * 48 + path, **body)
        assert theirs.status_code == none.status_code == 404
        assert theirs.json()["error"]["code"] is None
        assert theirs.text.replace(canary.box.id, "ID") \
            == none.text.replace("cntr_" + "0" * 48, "ID")


def test_an_execution_lost_with_its_session_says_why(daemon, new_box):
    box = new_box()
    running = box.start("import time\nprint('so far', flush=True)\n"
                        "time.sleep(200)")
    waiting = box.start("1")
    wait_until(lambda: box.execution(running)["stdout"], 60, "output")
    daemon.ctl("kill", box.id)
    box.wait_ended()
    done = box.wait_status(running, ["session_lost"])
    assert set(done) == OBJECT
    assert done["error"]["name"] == "operator"
    assert done["error"]["value"] and done["error"]["traceback"] == ""
    assert done["stdout"] == "so far\n"
    assert done["truncated"]["total_bytes"] == 7
    assert done["duration_ms"] > 0
    done = box.wait_status(waiting, ["session_lost"])
    assert done["error"]["name"] == "operator" and done["duration_ms"] == 0
    response = refused(box, 404, "container_expired", "POST", "/exec",
                       json={"code": "1"})
    assert "operator" in response.json()["error"]["message"]
    # A late interrupt finds the record, and nothing to do.
    assert box.call("POST", f"/executions/{running}/interrupt") \
        .status_code == 202
    assert box.execution(running)["status"] == "session_lost"


# ------------------------------------------------------- queue, interrupts


def test_twenty_at_once_run_one_after_the_other_or_are_refused(box):
    def one(i):
        return box.call("POST", "/exec", json={
            "code": f"print({i})\nimport time; time.sleep(.2)\nprint({i})"})
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(20)))
    good = [(i, a) for i, a in enumerate(answers) if a.status_code == 200]
    busy = [a for a in answers if a.status_code == 409]
    assert len(good) + len(busy) == 20 and len(good) >= 9
    for i, answer in good:
        assert answer.json()["stdout"] == f"{i}\n{i}\n"
    for answer in busy:
        assert answer.json()["error"]["code"] == "container_busy"
        assert int(answer.headers["Retry-After"]) >= 1
    counts = sorted(a.json()["execution_count"] for _, a in good)
    assert counts == list(range(counts[0], counts[0] + len(good)))


def test_an_interrupt_is_bound_to_its_execution(box):
    over = box.run("interrupts = []\n"
                   "import time")["id"]
    older = box.run("import os; os._exit(0)")["id"]
    running = box.start("""
import time
caught = 0
end = time.monotonic() + 6
print('on', flush=True)
while time.monotonic() < end:
    try:
        time.sleep(0.2)
    except KeyboardInterrupt:
        caught += 1
        if caught == 2:
            break
print('caught', caught)
""", timeout_s=100)
    wait_until(lambda: box.execution(running)["stdout"], 60, "output")
    # Of what is over, of an older kernel, or never was: no signal to anybody.
    for ident in (over, older):
        before = box.execution(ident)
        answer = box.call("POST", f"/executions/{ident}/interrupt")
        assert answer.status_code == 202 and answer.json() == before
    refused(box, 404, None, "POST", f"/executions/{NO_EXEC}/interrupt")
    time.sleep(1)
    assert box.execution(running)["stdout"] == "on\n"
    # Twice for the one that runs: the program may catch it.
    for _ in range(2):
        assert box.call("POST", f"/executions/{running}/interrupt") \
            .status_code == 202
        time.sleep(1)
    done = box.wait_status(running, ["ok", "interrupted"])
    assert done["status"] == "ok" and done["stdout"] == "on\ncaught 2\n", done
    again = box.call("POST", f"/executions/{running}/interrupt")
    assert again.status_code == 202 and again.json() == done
    assert box.run("print('fine')")["stdout"] == "fine\n"
