"""Clients that work, and remember what they were promised.

Whatever the daemon said is held against it: a record, a file or a variable that
it told of once must be there as long as its container is. Requests that got no
answer are asked again with the same Idempotency-Key, so that each happens once.
"""

import random
import threading
import time
import uuid

from host import Away, Refused, wait_until

# A container whose create was cut short may fail to boot; one that worked may
# only end by its limit, or with its VM if we killed that.
BOOT_REASONS = {"boot_failed"}
LIMIT_REASONS = {"idle_timeout"}

PATTERN_PERIOD = 1000003

PATIENCE = 60
EXPIRED_SECONDS = 20


def pattern(size, seed):
    """The bytes that scripted_guest_main.c writes."""
    out, x = bytearray(min(size, PATTERN_PERIOD)), seed
    for i in range(len(out)):
        x = (x * 1664525 + 1013904223) & 0xffffffff
        out[i] = x >> 24
    return (bytes(out) * (size // PATTERN_PERIOD + 1))[:size]


class Session:
    """A container, and what was promised about it."""

    def __init__(self, made, box):
        self.id = made["id"]
        self.path = f"/v1/containers/{self.id}"
        self.box = box
        self.begun = 0      # executions that were accepted
        self.worked = False
        self.records = {}   # execution id: stdout
        self.files = {}     # file id: (size, seed)
        self.deleted = False
        self.vm_killed = False
        self.vm = None


class Client:
    """One client; books are shared, each session has one client."""

    def __init__(self, host, books, seed):
        self.host = host
        self.books = books
        self.random = random.Random(seed)

    def insist(self, *args, **kwargs):
        """Ask until there is an answer that is not "come back later"."""
        end = time.monotonic() + PATIENCE * self.host.SLOWNESS
        while True:
            try:
                return self.host.json(*args, **kwargs)
            except Away:
                pass
            except Refused as e:
                if e.status not in (429, 503):
                    raise
            if self.books.over and time.monotonic() > end:
                raise Away("for good")
            assert time.monotonic() < end, f"no answer to {args[:2]}"
            time.sleep(0.02)

    def create(self, minutes):
        made = self.insist(
            "POST", "/v1/containers",
            {"name": "chaos", "expires_after": {"anchor": "last_active_at",
                                                "minutes": minutes}},
            {"Idempotency-Key": str(uuid.uuid4())})
        session = Session(made, self)
        self.books.add(session)
        return session

    def may_have_ended(self, session, error):
        """Whether the session ended in a way that is nobody's fault."""
        if error.status != 404:
            return False
        end = self.wait_expired(session)
        reason = (end["session"]["ended"] or {}).get("reason")
        allowed = set(LIMIT_REASONS)
        if not session.worked:
            allowed |= BOOT_REASONS
        if session.vm_killed:
            allowed |= {"vm_crashed"}
        # Until the VM is seen dead there is no reason yet.
        if reason is None:
            return end["status"] == "expired"
        if reason not in allowed:
            self.books.complain("session", session.id, f"ended: {reason}")
        return True

    def wait_expired(self, session):
        """An end that was told may be older than its record."""
        end = time.monotonic() + EXPIRED_SECONDS * self.host.SLOWNESS
        while True:
            view = self.insist("GET", session.path)
            if view["status"] == "expired" or time.monotonic() > end:
                return view
            time.sleep(0.05)

    def run(self, session, words):
        """One execution, exactly once; None if the session is over."""
        body = {"code": self.host.source(words), "timeout_s": 60}
        key = {"Idempotency-Key": str(uuid.uuid4())}
        try:
            done = self.insist("POST", f"{session.path}/exec", body, key)
        except Refused as e:
            if not self.may_have_ended(session, e):
                self.books.complain("answer", session.id, str(e))
            return None
        if done["status"] == "session_lost":
            ended = Refused(404, b"")
            if not self.may_have_ended(session, ended):
                self.books.complain("session", session.id, "session_lost")
            return None
        if done["status"] != "ok":
            self.books.complain("answer", session.id, done["status"])
            return None
        session.begun += 1
        session.worked = True
        return done

    def count(self, session):
        """A variable of the session must have outlived everything."""
        done = self.run(session, "count")
        if done and done["stdout"] != f"{session.begun}\n":
            self.books.complain(
                "session", session.id,
                f"counted {done['stdout']!r}, not {session.begun}")
        return done

    def make_file(self, session):
        large = self.host.FILE_BYTES
        size, seed = self.random.choice((0, 1, large // 60, large)), \
            self.random.getrandbits(31)
        if size == large:
            size += self.random.randrange(1000)
        name = f"f{self.random.randrange(20)}.bin"
        token = uuid.uuid4().hex
        pause = self.random.choice((0, 0, 5, 40))
        done = self.run(session, f"count say {token} sleep {pause} "
                                 f"file {name} {size} {seed}")
        if not done:
            return False
        expected = f"{session.begun}\n{token}\n"
        if done["skipped"] and self.may_have_ended(session, Refused(404, b"")):
            return False    # its VM went before the file was here
        if done["stdout"] != expected or len(done["artifacts"]) != 1:
            self.books.complain("record", done["id"],
                                f"{done['stdout']!r} {done['artifacts']}")
            return True
        session.records[done["id"]] = expected
        session.files[done["artifacts"][0]["id"]] = (size, seed)
        return True

    def delete(self, session):
        session.deleted = True
        try:
            self.insist("DELETE", session.path)
        except Refused as e:
            # The first of two may have been the one without an answer.
            if e.status != 404:
                self.books.complain("answer", session.id, str(e))

    def put_file(self):
        """An upload that was answered is there until it is deleted."""
        data = pattern(self.random.randrange(20000), self.random.getrandbits(31))
        try:
            made = self.host.upload("/v1/files", "up.bin", data,
                                    [("purpose", "assistants")])
        except (Away, Refused):
            return
        self.books.uploads[made["id"]] = data

    def respond(self):
        """A response that was answered comes to an end, and stays."""
        body = {"model": "test-model", "input": "!say done", "background": True}
        try:
            made = self.host.json("POST", "/v1/responses", body)
        except (Away, Refused):
            return
        self.books.responses.append(made["id"])

    def cycle(self):
        session = self.create(self.random.choice((1, 1, 20)))
        for _ in range(self.random.randrange(1, 5)):
            if self.books.over or not self.make_file(session):
                break
        if self.random.random() < 0.3:
            self.put_file()
            self.respond()
        if self.random.random() < 0.3 and session.worked:
            self.run(session, f"late late.bin 9000 {session.begun}")
        if self.random.random() < 0.6 or session.box.books.crowded():
            self.delete(session)


class Books:
    """What all clients were promised, and what was not kept."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions = []
        self.uploads = {}
        self.responses = []
        self.complaints = []
        self.over = False

    def add(self, session):
        with self.lock:
            self.sessions.append(session)

    def crowded(self):
        with self.lock:
            return sum(not s.deleted for s in self.sessions[-40:]) > 14

    def complain(self, kind, whom, what):
        with self.lock:
            self.complaints.append((kind, whom, what))
            print(f"# {kind} {whom}: {what}", flush=True)

    def session_of_vm(self, vm):
        with self.lock:
            return next((s for s in self.sessions if s.vm == vm), None)


def work(client):
    while not client.books.over:
        try:
            client.cycle()
        except Away:
            return
        except Refused as e:
            client.books.complain("answer", "-", str(e))
        except AssertionError as e:
            client.books.complain("answer", "-", str(e))


# ------------------------------------------------------------------ verifying


def verify_session(client, session):
    host, books = client.host, client.books
    for ident, stdout in session.records.items():
        try:
            record = host.json("GET", f"{session.path}/executions/{ident}")
            if record["stdout"] != stdout or record["status"] != "ok":
                books.complain("record", ident, record["status"])
        except Refused as e:
            books.complain("record", ident, str(e))
    for ident, (size, seed) in session.files.items():
        try:
            data = host.call("GET", f"{session.path}/files/{ident}/content")
            if data != pattern(size, seed):
                books.complain("artifact", ident, f"{len(data)} bytes")
        except Refused as e:
            books.complain("artifact", ident, str(e))


def verify_deleted(client, session):
    for path in [session.path] + [f"{session.path}/files/{i}/content"
                                  for i in session.files]:
        try:
            client.host.call("GET", path)
            client.books.complain("deleted", session.id, f"{path} is back")
        except Refused as e:
            if e.status != 404:
                client.books.complain("deleted", session.id, str(e))


def verify_response(client, ident):
    """A model that was asked has answered, or its daemon was killed meanwhile."""
    def over():
        view = client.host.json("GET", f"/v1/responses/{ident}")
        return view if view["status"] not in ("queued", "in_progress") else None
    try:
        view = wait_until(over, 20 * client.host.SLOWNESS, f"the end of {ident}")
    except (AssertionError, Refused) as e:
        client.books.complain("record", ident, str(e))
        return
    if view["status"] == "completed":
        good = view["output"][0]["content"][0]["text"] == "done"
    else:
        good = view["status"] == "failed" and "restarted" in view["error"]["message"]
    if not good:
        client.books.complain("record", ident, str(view))


def verify(client):
    """Everything that was promised; returns how much that was."""
    books = client.books
    figures = {"sessions": len(books.sessions), "records": 0, "artifacts": 0,
               "uploads": len(books.uploads), "responses": len(books.responses)}
    for ident in books.responses:
        verify_response(client, ident)
    for session in books.sessions:
        if session.deleted:
            verify_deleted(client, session)
            continue
        figures["records"] += len(session.records)
        figures["artifacts"] += len(session.files)
        verify_session(client, session)
    for ident, data in books.uploads.items():
        try:
            if client.host.call("GET", f"/v1/files/{ident}/content") != data:
                books.complain("artifact", ident, "an upload is another one")
        except Refused as e:
            books.complain("artifact", ident, str(e))
    return figures
