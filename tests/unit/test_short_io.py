#!/usr/bin/python3
"""All streams in pieces, interrupted, and made to wait, as TAP; see chaos/short_io.c.

1,000 requests come through all the same, every byte right, and a daemon that has
nothing to do does nothing. Processes stand for VMs.
"""

import os
import pathlib
import sys
import time
from unittest import mock

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("CUPOLA_BUILD", os.environ.get("abs_top_builddir", "build"))
sys.path.insert(0, str(TOP / "tests" / "chaos"))

import tap  # noqa: E402
from host import BUILD, Host  # noqa: E402
from load import Books, Client, pattern  # noqa: E402

SHIM = BUILD / "tests" / "chaos" / "short_io.so"
TICKS = os.sysconf("SC_CLK_TCK")
REQUESTS = 1000
IDLE_SECONDS = 3
IDLE_CPU_SECONDS = 0.5


class Counted(Host):
    """Counts requests that were answered."""

    def __init__(self, settings):
        self.answered = 0
        super().__init__(settings)

    def call(self, *args, **kwargs):
        data = super().call(*args, **kwargs)
        self.answered += 1
        return data


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def use(host, client, number):
    """A life of a container, with everything that moves bytes."""
    session = client.create(20)
    data = pattern(number * 997 % 200000, number)
    put = host.upload(f"{session.path}/files", "put.bin", data)["id"]
    for _ in range(4):
        assert client.make_file(session)
    for ident, (size, seed) in session.files.items():
        assert host.call("GET", f"{session.path}/files/{ident}/content") == pattern(size, seed)
    assert host.call("GET", f"{session.path}/files/{put}/content") == data
    assert len(host.json("GET", f"{session.path}/files")["data"]) >= 2
    client.delete(session)


def everything_in_pieces_is_everything():
    host = Counted({"pool.default.ready": "1"})
    # The sanitizers' own library wants to be the first.
    with mock.patch.dict(os.environ, {"LD_PRELOAD": str(SHIM)}), \
            mock.patch.object(host, "asan", "verify_asan_link_order=0:"):
        host.start_for_clients()
    try:
        pids = (host.process.pid, host.vmd())
        for pid in pids:
            maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
            assert str(SHIM) in maps, "it was not loaded"
        tap.need_own_calls(BUILD / "cupolad", maps)
        books = Books()
        client = Client(host, books, 1)
        host.answered = number = 0
        while host.answered < REQUESTS:
            use(host, client, number)
            number += 1
        assert books.complaints == []
        before = [cpu_seconds(pid) for pid in pids]
        time.sleep(IDLE_SECONDS)
        spent = [cpu_seconds(pid) - b for pid, b in zip(pids, before)]
        print(f"# {host.answered} requests; then {spent} s of CPU in {IDLE_SECONDS} s")
        assert max(spent) < IDLE_CPU_SECONDS
        assert host.differences() == []
        assert host.stop() == 0 and host.findings() == []
    except BaseException:
        sys.stderr.write((host.top / "log").read_text(errors="replace")[-20000:])
        raise
    finally:
        host.remove(keep=False)


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run([everything_in_pieces_is_everything], with_user))
