"""Tenants on a real daemon: what is theirs, what is left of them, and secrets."""

import pathlib
import re
import sqlite3

from cupola import wait_until

MARK = "MARK-7f3a91"

LEAVE = f"""
open('/mnt/data/m', 'w').write('{MARK}' * 100000)
x = bytearray(b'{MARK}' * 1000000)
open('/dev/shm/m', 'wb').write(x[:1 << 22])
open('/tmp/m', 'wb').write(x[:1 << 22])
print(len(x))
"""

SEARCH = """
import glob, os
needle = b'MARK-7f3' + b'a91'
found = []
for path in glob.glob('/dev/vd*') + ['/dev/mem', '/proc/kcore']:
    try:
        with open(path, 'rb') as f:
            while (piece := f.read(1 << 20)):
                if needle in piece:
                    found.append(path)
                    break
    except OSError as e:
        print(path, e.strerror)
for root in ('/mnt/data', '/tmp', '/dev/shm', '/var/tmp'):
    for top, _, names in os.walk(root):
        found += [os.path.join(top, n) for n in names
                  if os.path.join(top, n) != '/mnt/data/m']
print('FOUND', found)
"""


def make_tenant(daemon, name, *limits):
    daemon.ctl("tenants", "create", name, *limits)
    return daemon.ctl("keys", "create", "--tenant", name).stdout.strip()


def test_nothing_of_one_tenant_reaches_the_next(fresh_daemon):
    daemon = fresh_daemon(settings={"pool.default.max": "1"})
    first = make_tenant(daemon, "first", "sessions=1")
    second = make_tenant(daemon, "second")

    box = daemon.container(key=first)
    assert box.run(LEAVE)["status"] == "ok"
    refused = daemon.call("POST", "/v1/containers", key=first,
                          json={"name": "more"})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "All 1 " in refused.json()["error"]["message"]

    # Foreign is missing, to the byte but for the ids.
    foreign = daemon.call("GET", box.path, key=second)
    missing = daemon.call("GET", "/v1/containers/cntr_" + "0" * 32,
                          key=second)
    assert foreign.status_code == missing.status_code == 404
    assert re.sub("cntr_[a-z0-9]+", "ID", foreign.text) == \
        re.sub("cntr_[a-z0-9]+", "ID", missing.text)

    # All of it goes with its tenant, the VM too.
    daemon.ctl("tenants", "delete", "first")
    assert daemon.call("GET", "/v1/files", key=first).status_code == 401
    wait_until(lambda: not daemon.qemus(), 60, "the VM is gone")

    box = daemon.container(key=second)
    done = box.run(SEARCH)
    assert "FOUND []" in done["stdout"], done["stdout"]
    box.delete()
    assert daemon.audit() == []
    assert "first" not in daemon.ctl("usage", "--csv").stdout


def test_a_key_is_in_no_file_log_or_process(daemon):
    key = make_tenant(daemon, "secretive")
    assert daemon.call("GET", "/v1/files?key=" + key).status_code == 200
    assert daemon.call("GET", "/v1/files", key=key).status_code == 200
    assert key not in daemon.log_text()
    for name in ("db.sqlite", "db.sqlite-wal"):
        path = pathlib.Path(daemon.dir) / name
        assert not path.exists() or key.encode() not in path.read_bytes()
    for pid in [daemon.pid, daemon.vmd_pid()] + list(daemon.qemus()):
        for what in ("cmdline", "environ"):
            data = pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
            assert key.encode() not in data
    assert key not in daemon.metrics()
    limits = pathlib.Path(f"/proc/{daemon.pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.M)
    daemon.ctl("tenants", "delete", "secretive")


def test_a_backup_is_a_database_that_opens(daemon, tmp_path):
    copy = tmp_path / "copy.sqlite"
    daemon.ctl("backup", str(copy))
    assert copy.stat().st_mode & 0o777 == 0o600
    db = sqlite3.connect(copy)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT id FROM tenants WHERE id = 'default'").fetchone()
