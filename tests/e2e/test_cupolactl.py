"""The command line, as a person and as a program uses it."""

import json

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


def test_audit_and_doctor(daemon):
    assert daemon.ctl("audit").returncode == 0
    said = daemon.ctl("doctor", check=False)
    assert "emulation" in said.stdout.lower() or "KVM" in said.stdout


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
