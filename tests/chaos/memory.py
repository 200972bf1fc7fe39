#!/usr/bin/python3
"""Each allocation of both daemons fails once, and everything goes on.

	tests/chaos/memory.py [--long] [--seed N] [--keep]
		[--program cupolad|cupola-vmd] [STEP...]

The daemons run with no_memory.c loaded, and processes for VMs (host.py). Each
step, a request or a start, is done again and again: once while the first
allocation of cupolad fails, once while the second does, and so on until one is
done in which none fails; then the same with cupola-vmd. The short run takes some of
them, by the seed; --long takes all, and of a start, which has thousands, each tenth.

Whatever fails, the request is answered as it should be, or it says 500, 503 or 507,
or its connection ends if there is no memory for even that. Then it is asked again,
with the same Idempotency-Key where there is one, and is answered. A daemon may end by
itself, with a status of its own, never by a signal, and is started again. Nothing that
was ever answered may be lost: sessions with their variables, records, files. The
audit finds nothing, and so does the sanitizer of a build with --enable-sanitizers.
"""

import argparse
import collections
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import time
import uuid
from unittest import mock

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "upstream"))

from model import Model  # noqa: E402
from host import BUILD, Away, Host, Refused, is_alive, wait_until  # noqa: E402
from load import pattern  # noqa: E402

SHIM = BUILD / "tests" / "chaos" / "no_memory.so"
PROGRAMS = ("cupolad", "cupola-vmd")

# What no log may have
FINDING = re.compile(rb"killed by signal \d+|Sanitizer: .*|runtime error: .*|Assertion .*")

# Answers that a lack of memory may have
EXCUSED = {500, 503, 507}

# A cupola-vmd that gives up again and again is begun after ten seconds.
PATIENCE_SECONDS = 30
START_SECONDS = 30
CLEAN_SECONDS = 5
# Without an allocation, until all that a request led to is taken for done
QUIET_SECONDS = 0.06
# Of each step in each program, in the short run
SAMPLES = 5


class Control:
    """struct control of no_memory.c, which one program has mapped."""

    HEAD = struct.Struct("=qqq")

    def __init__(self, path):
        with open(path, "w+b") as f:
            f.truncate(4096)
            self.map = mmap.mmap(f.fileno(), 4096)
        path.chmod(0o666)

    def arm(self, number):
        """The number-th from now on fails; 0: none."""
        struct.pack_into("=q", self.map, 0, number)

    def failed(self):
        return self.HEAD.unpack_from(self.map)[1]

    def asked(self):
        return self.HEAD.unpack_from(self.map)[2]

    def trace(self):
        text = self.map[self.HEAD.size:].split(b"\0")[0].decode()
        return [line.split() for line in text.splitlines()]


def source_of(trace, programs):
    """The way to the last allocation that failed, in words."""
    lines = []
    for path, offset, name in trace:
        program = pathlib.Path(path).name
        if program == SHIM.name:
            continue
        if program in PROGRAMS:
            found = subprocess.run(
                ["addr2line", "-f", "-s", "-e", programs / program, hex(int(offset, 16) - 1)],
                capture_output=True, text=True, check=False).stdout.split()
            name = " ".join(found[:2])
        lines.append(f"{program}: {name}")
    return lines


class Starved(Host):
    """A host whose daemons can be refused memory."""

    def __init__(self, settings):
        super().__init__(settings)
        directory = self.top / "no-memory"
        directory.mkdir(mode=0o755)
        self.controls = {name: Control(directory / name) for name in PROGRAMS}
        self.preload = {"LD_PRELOAD": str(SHIM), "CUPOLA_NO_MEMORY": str(directory)}
        # The sanitizers' own library wants to be the first.
        self.asan += "verify_asan_link_order=0:"

    def spawn(self):
        with mock.patch.dict(os.environ, self.preload):
            super().spawn()

    def disarm(self):
        for control in self.controls.values():
            control.arm(0)
        super().disarm()


class World:
    """What the steps work with, and what they were promised."""

    def __init__(self, host, rng):
        self.host, self.random = host, rng
        self.complaints = []
        self.ends = collections.Counter()
        self.failures = collections.Counter()
        self.session, self.count = None, 0
        self.canary, self.canary_count = None, 0
        self.records, self.files = {}, {}
        self.where, self.known, self.skipped, self.total = None, [], 0, 0

    # ------------------------------------------------------------- complaints

    def complain(self, what):
        step, program, number = self.where
        print(f"# {step}, allocation {number} of {program}: {what}")
        for line in source_of(self.host.controls[program].trace(), self.host.top / "bin")[:14]:
            print(f"#     {line}")
        sys.stdout.flush()
        self.complaints.append(what)

    # --------------------------------------------------------------- requests

    def create(self, key=None):
        return self.host.json("POST", "/v1/containers", {
            "name": "memory", "expires_after": {"anchor": "last_active_at", "minutes": 20}},
            {"Idempotency-Key": key or str(uuid.uuid4())})["id"]

    def run(self, session, words, key=None):
        return self.host.json("POST", f"/v1/containers/{session}/exec", {
            "code": words, "timeout_s": 60}, {"Idempotency-Key": key or str(uuid.uuid4())})

    def insist(self, ask):
        """Until it is answered, with no allocation failing any more."""
        end = time.monotonic() + PATIENCE_SECONDS * self.host.SLOWNESS
        while True:
            try:
                return ask()
            except (Away, Refused) as e:
                if isinstance(e, Refused) and e.status not in EXCUSED | {429}:
                    raise
                if time.monotonic() > end:
                    raise AssertionError(f"never answered: {e}") from e
                time.sleep(0.05)

    def need_session(self):
        if self.session is None:
            self.session, self.count = self.insist(self.create), 0
        return f"/v1/containers/{self.session}"


# ------------------------------------------------------------------------ steps
#
# A step prepares what it needs and returns the request, a function that may be
# called until it is answered and checks its answer.


def create(world):
    key = str(uuid.uuid4())

    def ask():
        ident = world.create(key)
        world.extra = ident
    return ask


def execute(world):
    world.need_session()
    key, token = str(uuid.uuid4()), uuid.uuid4().hex
    name, seed = f"f{world.random.randrange(20)}.bin", world.random.getrandbits(31)

    def ask():
        done = world.run(world.session, f"count say {token} file {name} 3000 {seed}", key)
        expected = f"{world.count + 1}\n{token}\n"
        assert done["status"] == "ok" and done["stdout"] == expected, done
        assert len(done["artifacts"]) + len(done["skipped"]) == 1, done
        world.count += 1
        world.records[(world.session, done["id"])] = expected
        for file in done["artifacts"]:
            world.files[(world.session, file["id"])] = (3000, seed)
        world.skipped += len(done["skipped"])
    return ask


def read_file(world):
    if not world.files:
        world.insist(execute(world))
    session, ident = world.random.choice(list(world.files))
    return lambda: read_one_file(world, session, ident)


def read_one_file(world, session, ident):
    data = world.host.call("GET", f"/v1/containers/{session}/files/{ident}/content")
    assert data == pattern(*world.files[(session, ident)])


def read_record(world):
    if not world.records:
        world.insist(execute(world))
    session, ident = world.random.choice(list(world.records))
    return lambda: read_one_record(world, session, ident)


def read_one_record(world, session, ident):
    record = world.host.json("GET", f"/v1/containers/{session}/executions/{ident}")
    assert record["status"] == "ok", record
    assert record["stdout"] == world.records[(session, ident)], record


def upload(world):
    data = pattern(world.random.randrange(1, 20000), 7)
    path = world.need_session()

    def ask():
        made = world.host.upload(f"{path}/files", "up.bin", data)
        assert world.host.call("GET", f"{path}/files/{made['id']}/content") == data
        world.host.call("DELETE", f"{path}/files/{made['id']}")
    return ask


def put_file(world):
    data = pattern(world.random.randrange(1, 20000), 8)

    def ask():
        made = world.host.upload("/v1/files", "up.bin", data, [("purpose", "assistants")])
        assert world.host.call("GET", f"/v1/files/{made['id']}/content") == data
        world.host.call("DELETE", f"/v1/files/{made['id']}")
    return ask


def lists(world):
    path = world.need_session()

    def ask():
        for where in ("/v1/containers", f"{path}/files", "/v1/files"):
            assert "data" in world.host.json("GET", where)
    return ask


def respond(world):
    path = world.need_session()
    container = path.rsplit("/", 1)[1]
    key = str(uuid.uuid4())

    def ask():
        view = world.host.json("POST", "/v1/responses", {
            "model": "m", "input": "```python\nsay hello\n```\n!say done",
            "tools": [{"type": "code_interpreter", "container": container}]},
            {"Idempotency-Key": key})
        text = [part["text"] for item in view["output"] if item["type"] == "message"
                for part in item["content"]]
        if view["status"] == "failed":
            raise Refused(500, b"")
        assert view["status"] == "completed" and text == ["done"], view
    return ask


def administrate(world):
    def ask():
        for path in ("status", "sessions", "usage", "audit", "tenants"):
            world.host.json("GET", f"/admin/v1/{path}", admin=True)
        world.host.call("GET", "/metrics", admin=True)
    return ask


def delete(world):
    world.need_session()
    session = world.session

    def ask():
        world.session = None
        for kept in (world.records, world.files):
            for key in [k for k in kept if k[0] == session]:
                del kept[key]
        try:
            world.host.call("DELETE", f"/v1/containers/{session}")
        except Refused as e:
            if e.status != 404:
                raise
    return ask


def restart(world):
    """Killed, and begun while sessions live; one that gives up begins again."""
    host = world.host
    host.process.kill()
    host.process.wait()
    host.reap()

    def ask():
        if host.process.poll() is not None:
            (host.dir / "url").unlink(missing_ok=True)
            host.spawn()
        wait_until(lambda: host.process.poll() is not None or host.is_ready(),
                   START_SECONDS * host.SLOWNESS, "readiness")
        if host.process.poll() is not None:
            raise Away("it gave up")
        for name in ("url", "api-key"):
            wait_until((host.dir / name).exists, START_SECONDS, name)
    return ask


STEPS = (create, delete, execute, read_file, read_record, upload, put_file, lists, respond,
         administrate, restart)

# What there is too much of for each to fail, even in the long run
LONG_STRIDE = {restart: 10}


# ---------------------------------------------------------------------- trying


class Trial:
    """A step while one allocation of one program fails."""

    def __init__(self, world, step, program, number):
        self.world, self.host = world, world.host
        self.step, self.number = step, number
        self.control = self.host.controls[program]
        world.where = (step.__name__, program, number)

    def attempt(self, ask):
        """Returns how it went."""
        try:
            ask()
            return "answered"
        except Refused as e:
            if e.status not in EXCUSED:
                self.world.complain(f"{e.status} {e.error or e}")
                self.world.session = None
            return str(e.status)
        except Away:
            return "no answer"
        except AssertionError as e:
            self.world.complain(f"wrong: {str(e)[:600]}")
            self.world.session = None
            return "wrong"

    def revive(self):
        """If a daemon ended, it was by itself; returns whether one did."""
        status = self.host.process.poll()
        if status is None:
            return False
        if status <= 0:
            self.world.complain(f"cupolad died: {status}")
        if self.step is not restart:
            self.host.start_for_clients()
        return True

    def run(self):
        """Returns whether an allocation failed."""
        world, log = self.world, self.host.log_size()
        ask = self.step(world)
        failed = self.control.failed()
        self.control.arm(self.number)
        outcome = self.attempt(ask)
        self.wait_quiet(failed)
        self.control.arm(0)
        failed = self.control.failed() > failed
        if outcome != "answered":
            self.again(ask, outcome)
        elif self.revive():
            outcome += ", then ended"
        if failed:
            world.ends[outcome] += 1
            self.look_back(log)
        return failed

    def wait_quiet(self, failed):
        """What is done after the answer needs memory as well."""
        asked, since = None, time.monotonic()
        while self.control.failed() == failed and time.monotonic() < since + QUIET_SECONDS:
            if asked != (asked := self.asked()):
                since = time.monotonic()
            time.sleep(0.002)

    def asked(self):
        return [control.asked() for control in self.host.controls.values()]

    def again(self, ask, outcome):
        time.sleep(0.01)
        self.revive()
        try:
            self.world.insist(ask)
        except (AssertionError, Refused) as e:
            self.world.complain(f"{outcome}, and then {str(e)[:600]}")
            self.world.session = None

    def look_back(self, log):
        text = self.host.log_since(log)
        for finding in FINDING.findall(text):
            self.world.complain(finding.decode(errors="replace"))
        self.count_canary()
        self.audit()

    def audit(self):
        world = self.world
        try:
            world.insist(lambda: wait_until(lambda: is_clean(world), CLEAN_SECONDS, "an audit"))
        except AssertionError:
            world.complain(f"audit: {world.differences}")
            world.known += world.differences

    def count_canary(self):
        world = self.world
        done = world.insist(lambda: world.run(world.canary, "count"))
        world.canary_count += 1
        if done["stdout"] != f"{world.canary_count}\n":
            world.complain(f"the canary counted {done['stdout']!r}, not {world.canary_count}: {done}")
            world.canary, world.canary_count = world.insist(world.create), 0


def is_clean(world):
    world.differences = [d for d in world.host.differences() if d not in world.known]
    return not world.differences


def try_one(world, step, program, number):
    """Returns whether there was such an allocation."""
    world.extra = None
    failed = Trial(world, step, program, number).run()
    if world.extra:
        world.insist(lambda: world.host.call("DELETE", f"/v1/containers/{world.extra}"))
    return failed


def count_allocations(world, step, program):
    """How many there are in a step of which none fails."""
    control = world.host.controls[program]
    before = control.asked()
    try_one(world, step, program, 0)
    return control.asked() - before


def try_step(world, step, program, arguments):
    count = 0
    if arguments.long:
        stride = LONG_STRIDE.get(step, 1)
        number = world.random.randrange(stride) + 1
        while try_one(world, step, program, number):
            number, count = number + stride, count + 1
    else:
        most = count_allocations(world, step, program)
        for _ in range(SAMPLES if most else 0):
            count += try_one(world, step, program, world.random.randrange(most) + 1)
    print(f"# {step.__name__}: {count} allocations of {program} failed: "
          + ", ".join(f"{n} {how}" for how, n in sorted(world.ends.items())), flush=True)
    world.total += count
    world.ends.clear()


def end(world):
    """Nothing that was promised is lost, and nothing is left."""
    host = world.host
    world.where = ("the end", "cupolad", 0)
    for session, ident in world.records:
        check(world, lambda: read_one_record(world, session, ident))
    for session, ident in world.files:
        check(world, lambda: read_one_file(world, session, ident))
    status = host.stop()
    host.reap()
    left = [str(argv) for pid, argv in host.processes().items() if is_alive(pid)] + host.traces()
    if status != 0 or left:
        world.complain(f"SIGTERM: {status}, and then there is {left}")


def check(world, ask):
    try:
        world.insist(ask)
    except (AssertionError, Refused) as e:
        world.complain(f"lost: {str(e)[:300]}")


def each_allocation_fails_once(world, arguments):
    """And nothing that was ever answered is lost. Returns what was compared."""
    world.host.start_for_clients()
    world.canary = world.insist(world.create)
    for step in STEPS:
        for program in PROGRAMS:
            if (not arguments.names or step.__name__ in arguments.names) \
                    and arguments.program in (None, program):
                try_step(world, step, program, arguments)
    kept = f"{len(world.records)} records and {len(world.files)} artifacts"
    end(world)
    return kept


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", choices=PROGRAMS)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    began = time.monotonic()
    with Model() as model:
        host = Starved({"model.url": model.url, "model.name": "m",
                        "test.minute_seconds": "60"})
        world = World(host, random.Random(arguments.seed))
        try:
            kept = each_allocation_fails_once(world, arguments)
        finally:
            host.remove(arguments.keep)
    print(f"{world.total} allocations failed in {time.monotonic() - began:.0f} s; "
          f"at the end {kept} were compared; complaints {len(world.complaints)}")
    sys.exit(1 if world.complaints else 0)


if __name__ == "__main__":
    main()
