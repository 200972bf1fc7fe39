"""The command line, as a person and as a program uses it."""

import json
import re

SCRIPT = """
import csv
rows = list(csv.DictReader(open('numbers.csv')))
print('total', sum(int(r['n']) for r in rows))
open('/mnt/data/report.txt', 'w').write('fine')
"""


def test_run_brings_output_and_artifacts_back(daemon, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    table = tmp_path / "numbers.csv"
    table.write_text("n\n1\n2\n3\n")
    out = tmp_path / "out"
    before = len(daemon.qemus())
    done = daemon.ctl("run", str(script), "--file", str(table),
                      "--out", str(out))
    assert done.stdout.splitlines()[0] == "total 6"
    assert (out / "report.txt").read_text() == "fine"
    from cupola import wait_until
    wait_until(lambda: len(daemon.qemus()) == before, 60, "the VM to end")


def test_run_says_how_code_failed(daemon, tmp_path, box):
    script = tmp_path / "bad.py"
    script.write_text("1 / 0")
    done = daemon.ctl("exec", box.id, str(script), check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    done = daemon.ctl("exec", box.id, "-c", "print('hi')")
    assert done.stdout == "hi\n"


def test_tables_and_json_tell_the_same(daemon, box):
    rows = json.loads(daemon.ctl("ps", "--json").stdout)
    table = daemon.ctl("ps").stdout
    assert box.id in table and "\x1b" not in table
    assert box.id in json.dumps(rows)
    info = json.loads(daemon.ctl("inspect", box.id, "--json").stdout)
    assert info
    assert box.id in daemon.ctl("inspect", box.id).stdout


def test_top_measures_what_a_session_takes(daemon, box):
    box.run("open('/mnt/data/big', 'wb').write(b'x' * 20_000_000)\n"
            "import os; os.sync()")
    rows = json.loads(daemon.ctl("top", "--json").stdout)["data"]
    row = next(r for r in rows if r["container"] == box.id)
    assert row["cpu_usec"] > 0 and 0 <= row["cpu_share"] < 2
    assert 20_000_000 < row["disk_used_bytes"] < row["disk_bytes"]
    assert 100_000_000 < row["memory_used_bytes"]
    assert row["last_execution"]["status"] == "ok"
    assert box.id in daemon.ctl("top").stdout


def test_files_in_and_out(daemon, box, tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("through the CLI")
    daemon.ctl("files", "put", box.id, str(path))
    assert "in.txt" in daemon.ctl("files", "ls", box.id).stdout
    got = tmp_path / "got.txt"
    daemon.ctl("files", "get", box.id, "in.txt", "--out", str(got))
    assert got.read_text() == "through the CLI"


def test_kill_ends_a_session_with_the_operators_reason(daemon, new_box):
    box = new_box()
    box.run("print(1)")
    daemon.ctl("kill", box.id)
    assert box.wait_ended()["ended"]["reason"] == "operator"


def test_a_key_is_shown_once_and_can_be_revoked(daemon):
    made = json.loads(daemon.ctl("keys", "create", "--tenant", "t1",
                                 "--name", "ci", "--json").stdout)
    assert daemon.json("GET", "/v1/files", key=made["key"])["data"] == []
    listed = daemon.ctl("keys", "list", "--json").stdout
    assert made["key"] not in listed and made["id"] in listed
    daemon.ctl("keys", "revoke", made["id"])
    assert daemon.call("GET", "/v1/files",
                       key=made["key"]).status_code == 401


def test_audit_has_nothing_to_mend(daemon, box):
    box.run("print(1)")
    assert daemon.ctl("audit").stdout == "No differences\n"
    assert daemon.ctl("audit", "--fix").stdout == "No differences\n"
    assert box.run("print(2)")["status"] == "ok"


def test_doctor_boots_a_vm_as_a_proof(daemon):
    before = len(daemon.qemus())
    said = daemon.ctl("doctor", "--json", check=False)
    probes = [f for f in json.loads(said.stdout)["findings"]
              if f["what"] == "probe"]
    assert any(re.search(r"boots 'default': made in \d+ ms, booted in \d+ ms, "
                         r"vsock answers in [\d.]+ ms", f["text"])
               for f in probes), probes
    assert len(daemon.qemus()) == before and daemon.audit() == []


def test_a_console_outlives_its_vm(daemon, new_box):
    box = new_box()
    box.run("print(1)")
    assert "cupola-guest: listening" in daemon.ctl("console", box.id).stdout
    daemon.ctl("kill", box.id)
    box.wait_ended()
    assert "cupola-guest: listening" in daemon.ctl("console", box.id).stdout


def test_a_pool_is_filled_and_emptied(daemon):
    from cupola import wait_until

    def ready():
        pools = json.loads(daemon.ctl("pools", "--json").stdout)["pools"]
        return next(p["ready"] for p in pools if p["name"] == "default")

    daemon.ctl("pools", "set", "default", "--ready", "1")
    wait_until(lambda: ready() == 1, 120, "a VM to be ready")
    daemon.ctl("pools", "set", "default", "--ready", "0")
    wait_until(lambda: ready() == 0, 60, "it to be ended")
    assert "0 of 0" in daemon.ctl("pools").stdout
    daemon.ctl("pools", "set", "default", "--ready", "default")


def test_a_daemon_that_is_not_there(tmp_path, daemon):
    import os
    import subprocess
    from cupola import BUILD
    done = subprocess.run([str(BUILD / "cupolactl"), "ps"],
                          env=dict(os.environ,
                                   CUPOLA_SOCKET=str(tmp_path / "none")),
                          capture_output=True, text=True, timeout=20)
    assert done.returncode not in (0, 1)
    assert "none" in done.stderr
    assert daemon.ctl("nonsense", check=False).returncode != 0
    assert daemon.ctl("inspect", "cntr_none", check=False).returncode != 0
