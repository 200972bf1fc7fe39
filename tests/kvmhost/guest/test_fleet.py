"""What befalls one host of many."""

import json
import os
import pathlib
import shutil
import signal
import socket
import time

import host
from host import CRASH, ctl, systemctl

STATE = pathlib.Path("/var/lib/cupola")
CLONE = pathlib.Path("/var/lib/cupola-clone")
PARTS = ("daemon", "vmd")


def session():
    return host.Session(ident=host.state["session"])


def test_a_drain_outlives_a_restart_until_it_is_undone():
    one = host.Session("fleet")
    one.output("x = 1")
    host.state["session"] = one.id
    for _ in range(2):
        ctl("drain")
        check_drained()
    systemctl("restart", "cupolad")
    host.until(lambda: host.call("GET", "/healthz")[0] == 200, "the daemon")
    check_drained()
    assert one.output("print(x)") == "1\n"
    ctl("undrain")
    host.await_ready()
    assert host.api("GET", "/admin/v1/drain")["state"] == "off"


def check_drained():
    status, answer = host.call("POST", "/v1/containers", {"name": "late"})
    assert status == 503, answer
    assert "drained" in answer["error"]["message"], answer
    told = host.api("GET", "/admin/v1/drain")
    assert (told["state"], told["sessions"]) == ("draining", 1), told
    assert not host.is_ready()


def test_a_key_is_renewed_without_a_gap():
    old = ctl("keys", "create", "--tenant", "default", "--name", "old")
    new = ctl("keys", "create", "--tenant", "default", "--name", "new")
    old, new = old.stdout.strip(), new.stdout.strip()
    assert [by_key(old), by_key(new)] == [200, 200]
    systemctl("reload", "cupolad")
    assert [by_key(old), by_key(new)] == [200, 200]
    for key in host.api("GET", "/admin/v1/keys")["keys"]:
        if key["name"] == "old":
            ctl("keys", "revoke", key["id"])
    assert [by_key(old), by_key(new)] == [401, 200]
    assert session().output("print(x)") == "1\n"


def by_key(key):
    """Over TCP, where nobody is known by their user."""
    done = host.run("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}",
                    "-H", f"Authorization: Bearer {key}",
                    "http://127.0.0.1:8080/v1/containers")
    return int(done.stdout)


def test_an_image_is_known_by_its_digest_and_not_by_its_name():
    manifest = json.loads((host.IMAGES / "python-minimal" / "manifest.json")
                          .read_text())
    told = session().info()["session"]["image"]
    assert told == "python-minimal@" + manifest["digest"], told
    pin = told.replace("sha256:", "")[:len("python-minimal@") + 12]
    assert pinned(pin)[0] // 100 == 2, pinned(pin)
    status, answer = pinned("python-minimal@000000000000")
    assert status == 404, answer
    assert manifest["digest"][7:19] in answer["error"]["message"], answer


def pinned(image):
    path = "/api/projects/fleet/toolboxes/drift/versions?api-version=v1"
    return host.call("POST", path,
                     {"tools": [{"type": "code_interpreter"}],
                      "policies": {"image": image}})


def test_a_log_that_takes_nothing_delays_nobody():
    journald = host.main_pid("systemd-journald")
    os.kill(journald, signal.SIGSTOP)
    try:
        slowest = max(seconds_of_request() for _ in range(900))
        assert session().output("print(x)") == "1\n"
    finally:
        os.kill(journald, signal.SIGCONT)
    host.figure("seconds of the slowest request", slowest)
    assert slowest < 10, slowest
    assert lost_lines() > 0


def seconds_of_request():
    began = time.monotonic()
    assert host.call("GET", "/v1/containers?limit=1", timeout=60)[0] == 200
    return time.monotonic() - began


def lost_lines():
    text = host.call("GET", "/metrics")[1]
    return sum(float(line.split()[-1]) for line in text.splitlines()
               if line.startswith("cupola_log_lost_total"))


def test_who_asks_for_metrics_and_never_reads_delays_nobody():
    peers = []
    for _ in range(20):
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(host.SOCKET)
        peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 40)
        peers.append(peer)
    assert session().output("print(x)") == "1\n"
    assert max(seconds_of_request() for _ in range(20)) < 10
    for peer in peers:
        peer.close()


def test_before_the_host_crashes_it_has_a_session():
    CLONE.mkdir()
    for part in PARTS:
        host.run("cp", "-a", str(STATE / part), str(CLONE / part))
    return CRASH


def check_ended_with_the_host():
    host.await_ready()
    ended = session().info()["session"]["ended"]
    assert ended and ended["reason"] == "host_restart", ended
    assert not host.qemus() and host.differences() == []


def test_a_crash_of_the_host_is_told_and_leaves_nothing():
    check_ended_with_the_host()


def test_a_clone_has_no_session_of_its_original():
    """Where it starts is another boot than where the original runs."""
    systemctl("stop", "cupolad.socket", "cupolad.service",
              "cupola-vmd.socket", "cupola-vmd.service")
    for part in PARTS:
        shutil.rmtree(STATE / part)
        (CLONE / part).rename(STATE / part)
    CLONE.rmdir()
    systemctl("start", "cupola-vmd.socket", "cupolad.socket", "cupolad.service")
    check_ended_with_the_host()
