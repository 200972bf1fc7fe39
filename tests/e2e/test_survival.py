"""Sessions end with a reason, and outlive the daemon's own deaths."""

import os
import signal
import threading
import time

import pytest

from cupola import ApiError, processes_with, wait_until


def test_an_idle_limit_ends_the_vm_and_keeps_the_artifact(fresh_daemon):
    d = fresh_daemon()
    box = d.container(name="idle",
                      expires_after={"anchor": "last_active_at", "minutes": 1})
    done = box.run("open('/mnt/data/kept.txt', 'w').write('kept')")
    kept = done["artifacts"][0]
    # Written by a thread after the execution: the last harvest finds it.
    box.run("import threading, time\n"
            "def late():\n"
            "    time.sleep(0.5)\n"
            "    open('/mnt/data/late.txt', 'w').write('late')\n"
            "t = threading.Thread(target=late); t.start()")
    box.run("t.join()")
    response = d.call("GET", box.path)
    assert int(response.headers["Cupola-Idle-Expires-At"]) > 0
    d.advance(61)
    wait_until(lambda: not d.qemus(), 60, "the VM to end")
    session = box.wait_ended()
    assert session["ended"]["reason"] == "idle_timeout"
    got = box.get()
    assert got["status"] == "expired"
    assert session["state"] == "ended"
    assert box.content(kept["id"]) == b"kept"
    assert {f["path"] for f in box.files()} \
        == {"/mnt/data/kept.txt", "/mnt/data/late.txt"}
    for attempt in (lambda: box.run("1"), lambda: box.put("x", b"x")):
        with pytest.raises(ApiError) as e:
            attempt()
        assert e.value.status == 404
        assert e.value.code == "container_expired"
        assert "expired" in e.value.message
    assert d.audit() == []
    box.delete()
    with pytest.raises(ApiError) as e:
        box.content(kept["id"])
    assert e.value.status == 404 and e.value.code is None

    # The hard limit counts from the assignment, executing or not.
    box = d.container(name="hard")
    result = {}

    def run():
        result.update(box.run("import time\nprint('begun', flush=True)\n"
                              "time.sleep(250)", timeout_s=290))

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: box.get()["session"]["state"] == "executing",
               180, "the execution")
    exec_started = wait_until(
        lambda: d.admin("GET", f"/sessions/{box.id}"), 5, "inspect")
    assert exec_started
    time.sleep(3)
    d.advance(3601)
    thread.join(120)
    assert not thread.is_alive()
    assert result["status"] == "session_lost"
    assert result["error"]["name"] == "hard_limit"
    assert result["stdout"] == "begun\n"
    assert box.wait_ended()["ended"]["reason"] == "hard_limit"
    assert d.audit() == []


def test_a_guest_panic_and_a_dead_qemu_are_told_apart(fresh_daemon):
    d = fresh_daemon()
    panicked = d.container(name="panic")
    killed = d.container(name="killed")
    panicked.run("print(1)")
    running = {}

    def run():
        running.update(panicked.run(
            "import time\nprint('before', flush=True)\ntime.sleep(200)"))

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: panicked.get()["session"]["state"] == "executing",
               60, "the execution")
    time.sleep(2)
    d.ctl("nmi", panicked.id)
    thread.join(120)
    assert running["status"] == "session_lost"
    assert running["error"]["name"] == "guest_panic"
    assert running["stdout"] == "before\n"
    assert panicked.wait_ended()["ended"]["reason"] == "guest_panic"

    killed.run("print(1)")
    qemu, = d.qemus()
    os.kill(qemu, signal.SIGKILL)
    assert killed.wait_ended()["ended"]["reason"] == "vm_crashed"
    assert killed.get()["status"] == "expired"
    wait_until(lambda: not d.qemus() and not d.backends(), 30, "an empty host")
    assert d.audit() == []


def test_an_execution_survives_the_death_of_both_processes(fresh_daemon):
    d = fresh_daemon()
    box = d.container(name="survivor")
    box.run("value = 'from before'")
    background = d.call(
        "POST", f"{box.path}/exec",
        json={"code": "import time\n"
                      "for i in range(20):\n"
                      "    print(i, flush=True)\n"
                      "    time.sleep(1)\n"
                      "open('/mnt/data/after.txt', 'w').write('after')\n"
                      "'finished'",
              "background": True, "timeout_s": 200})
    assert background.status_code == 202
    path = f"{box.path}/executions/{background.json()['id']}"
    wait_until(lambda: "1\n" in d.json("GET", path)["stdout"], 60, "output")

    # First the daemon, in the middle of the execution.
    d.kill()
    assert d.qemus()
    d.start()
    assert d.json("GET", path)["status"] in ("running", "ok")

    # Then the hypervisor process, which the daemon starts again.
    before = d.vmd_pid()
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: d.vmd_pid() not in (None, before), 30, "a new vmd")

    wait_until(lambda: d.json("GET", path)["status"] not in
               ("queued", "running"), 120, "the execution to end")
    done = d.json("GET", path)
    assert done["status"] == "ok", done
    assert done["stdout"] == "".join(f"{i}\n" for i in range(20))
    assert done["results"] == [{"text/plain": "'finished'"}]
    assert [a["path"] for a in done["artifacts"]] == ["/mnt/data/after.txt"]
    assert done["state_lost"] is False
    assert box.content(done["artifacts"][0]["id"]) == b"after"
    assert box.run("print(value)")["stdout"] == "from before\n"
    wait_until(lambda: d.audit() == [], 30, "a clean audit")

    box.delete()
    wait_until(lambda: not d.qemus(), 60, "the VM to end")


def test_killed_while_a_vm_boots_nothing_is_left_over(fresh_daemon):
    d = fresh_daemon()
    box = d.container(name="booting")
    wait_until(d.qemus, 60, "QEMU")
    d.kill()
    d.start()
    # Either adopted or ended with a reason; never in between.
    def settled():
        session = box.get()["session"]
        return session["ended"] or session["state"] == "running"
    wait_until(settled, 180, "the session to settle")
    if not box.get()["session"]["ended"]:
        assert box.run("print(1)")["stdout"] == "1\n"
    assert d.audit() == []
    assert d.stop() == 0
    assert not d.qemus() and not d.backends()


def test_stopped_while_libvirt_asks_qemu_what_it_can_do(fresh_daemon):
    """It asks daemons, which know nothing of the end of who asks."""
    for delay in (0.1, 0.3, 0.5, 0.7, 1.0):
        d = fresh_daemon(start=False)
        d.spawn()
        time.sleep(delay)       # nothing outside tells how far it is
        # It may not even have got to where it takes the signal.
        assert d.stop() in (0, -signal.SIGTERM)
        assert processes_with(str(d.dir)) == []
        d.remove()


def test_a_pool_keeps_a_vm_ready(fresh_daemon):
    d = fresh_daemon(settings={"pool.default.ready": "1"})
    wait_until(lambda: any(p["ready"] == 1 for p in
                           d.admin("GET", "/status")["pools"]), 180,
               "a ready VM")
    pooled = d.qemus()
    box = d.container(name="from the pool")
    done = box.run("print(1)")
    assert done["stdout"] == "1\n"
    assert set(pooled) <= set(d.qemus())
    assert d.stop() == 0
    assert not d.qemus() and not d.backends()
    # All that is left are files.
    assert not [e for e in (d.dir / "vm").iterdir()] \
        if (d.dir / "vm").exists() else True
