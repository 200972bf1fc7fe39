"""What must hold after every test, whatever a program in a VM has tried.

A test file asks for it with

    pytestmark = pytest.mark.usefixtures("invariants")

and then every test of it ends with Watch.check(), and the whole file with
Growth.check(). Each condition is polled and over as soon as it holds.
"""

import json
import os
import pathlib
import re
import stat

from cupola import BUILD, open_descriptors, resident_bytes, wait_until

# Under emulation, which is what tests may count on, all takes ten times longer.
SLOWNESS = 10
FINAL = {"ok", "error", "timeout", "interrupted", "output_limit", "oom",
         "kernel_died", "session_lost"}

# What no session may change. Other daemons may run on this host, and have
# their own files below /tmp: the descriptors tell that none of this daemon's
# is there.
WATCHED = ("/etc", "/usr/sbin", "/usr/local/bin", "/usr/local/etc", "/var/spool")

CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")


def fingerprint(top):
    """(path, what it is, size, time) of each file below a directory."""
    found = set()
    for folder, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(folder, name)
            try:
                st = os.lstat(path)
            except FileNotFoundError:
                continue
            found.add((path, st.st_mode, st.st_uid, st.st_size,
                       st.st_mtime_ns))
    return found


def image_of(daemon):
    """The directory of the image that the default pool boots."""
    image, = [p["image"] for p in daemon.admin("GET", "/status")["pools"]
              if p["name"] == "default"]
    name = image.split("@")[0]
    places = [os.environ.get("CUPOLA_IMAGES"), daemon.dir / "images",
              "/var/lib/cupola/images"]
    for place in filter(None, places):
        path = pathlib.Path(place) / name
        if path.exists():
            return path.resolve()
    raise AssertionError(f"no image {image} in {places}")


def outside(daemon):
    return set().union(*map(fingerprint, [*WATCHED, image_of(daemon)]))


def written_elsewhere(daemon, pid):
    """Regular files that a process has open for writing outside its state."""
    found = []
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            path = os.readlink(entry)
            is_file = stat.S_ISREG(entry.stat().st_mode)
            info = (entry.parents[1] / "fdinfo" / entry.name).read_text()
        except FileNotFoundError:
            continue
        flags = int(re.search(r"flags:\s+(\d+)", info)[1], 8)
        if (is_file and flags & os.O_ACCMODE != os.O_RDONLY
                and not path.startswith((str(daemon.dir), "/memfd:"))
                and path != daemon.log.name):
            found.append(path)
    return found


def strange_blobs(daemon):
    """What the blob store must not hold: links and special files."""
    found = []
    for folder, names, files in os.walk(daemon.dir / "blobs"):
        for name in names + files:
            path = os.path.join(folder, name)
            try:
                st = os.lstat(path)
            except FileNotFoundError:
                continue
            if not (stat.S_ISDIR(st.st_mode)
                    or stat.S_ISREG(st.st_mode) and st.st_nlink == 1
                    and not st.st_mode & 0o111):
                found.append((path, oct(st.st_mode), st.st_nlink))
    return found


def executions_ended(daemon):
    """How many the daemon has counted, whatever their status."""
    return sum(int(float(line.rsplit(" ", 1)[1]))
               for line in daemon.metrics().splitlines()
               if line.startswith("cupola_executions_total{"))


class Canary:
    """A session of another tenant, which nothing may disturb."""

    def __init__(self, daemon):
        made = daemon.ctl("keys", "create", "--tenant", "canary",
                          "--name", "canary", "--json").stdout
        self.key = json.loads(made)["key"]
        self.box = daemon.container(name="canary", key=self.key)
        # What a daemon loads at the first artifact, and what large output
        # makes for the first time, is there before growth is measured.
        self.box.run("song = ['tweet']\nprint('x' * 3_000_000)")

    def check(self):
        done = self.box.run("print(1)\nsong")
        assert (done["status"], done["stdout"]) == ("ok", "1\n"), done
        assert done["results"] == [{"text/plain": "['tweet']"}], done
        assert done["kernel_epoch"] == 1 and not done["state_lost"], done
        assert done["duration_ms"] < 1000 * SLOWNESS, done


class Watch:
    """One test, from its first line to what it leaves behind."""

    def __init__(self, daemon, canary):
        self.daemon = daemon
        self.canary = canary
        self.pid = daemon.pid
        self.outside = outside(daemon)
        self.log_began = os.path.getsize(daemon.log.name)
        daemon.accepted.clear()
        daemon.requests.clear()
        self.ended = executions_ended(daemon)
        self.by_others = daemon.accepted_by_others

    def check(self):
        self.check_alive()
        self.check_records()
        self.canary.check()
        self.check_nothing_left()
        self.check_outside()
        self.check_log()

    def check_alive(self):
        daemon = self.daemon
        assert daemon.pid == self.pid and daemon.process.poll() is None
        wait_until(daemon.is_ready, 2 * SLOWNESS, "/readyz to answer 200")

    def check_records(self):
        """Each accepted execution has ended once, and stays as it ended."""
        daemon = self.daemon
        for path, key in list(daemon.accepted):
            def ended():
                response = daemon.call("GET", path, key=key)
                # Nothing is left of a deleted container.
                return (response.status_code == 404
                        or response.json()["status"] in FINAL)
            wait_until(ended, 30 * SLOWNESS, f"{path} to end")
            first = daemon.call("GET", path, key=key)
            assert first.text == daemon.call("GET", path, key=key).text
        wanted = (self.ended + len(daemon.accepted)
                  + daemon.accepted_by_others - self.by_others)
        wait_until(lambda: executions_ended(daemon) >= wanted, 5 * SLOWNESS,
                   f"{wanted} executions to have ended")
        assert executions_ended(daemon) == wanted

    def check_nothing_left(self):
        daemon = self.daemon

        def alone():
            live = daemon.admin("GET", "/sessions")["data"]
            return len(daemon.qemus()) == len(live)
        wait_until(alone, 10 * SLOWNESS, "ended sessions' VMs to be gone")
        wait_until(lambda: daemon.audit() == [], 10 * SLOWNESS,
                   "audit to print no differences")

    def check_outside(self):
        daemon = self.daemon
        assert outside(daemon) ^ self.outside == set()
        for pid in (daemon.pid, daemon.vmd_pid()):
            assert written_elsewhere(daemon, pid) == []
        assert strange_blobs(daemon) == []

    def log_lines(self):
        with open(self.daemon.log.name, "rb") as f:
            f.seek(self.log_began)
            return f.read().split(b"\n")

    def check_log(self):
        """One line for each request; no control byte and no key in any."""
        def missing():
            lines = [line for line in self.log_lines() if b" status=" in line]
            found = b"\n".join(lines).decode("utf-8", "replace")
            return [(ident, found.count(f"request={ident}"))
                    for ident in self.daemon.requests
                    if found.count(f"request={ident}") != 1]
        wait_until(lambda: not missing(), 2 * SLOWNESS,
                   "one line in the log for each request")
        for line in self.log_lines():
            assert not CONTROL.search(line), line
            for key in (self.daemon.key, self.canary.key):
                assert key.encode() not in line, "a key in the log"


# AddressSanitizer keeps a shadow of all memory that was ever used, and redzones
# around each piece.
SANITIZED = b"__asan_init" in (BUILD / "cupolad").read_bytes()
GROWTH_MAX = (32 if SANITIZED else 8) << 20


class Growth:
    """What both processes take before a file's tests, and after them."""

    PROCESSES = ("cupolad", "cupola-vmd")

    def __init__(self, daemon, canary):
        self.daemon = daemon
        self.canary = canary
        self.before = self.measure()

    def measure(self):
        # A connection that is kept open is no leak.
        self.daemon.http.close()
        pids = (self.daemon.pid, self.daemon.vmd_pid())
        return [(open_descriptors(pid), resident_bytes(pid)) for pid in pids]

    def over(self):
        found = []
        for name, old, new in zip(self.PROCESSES, self.before,
                                  self.measure()):
            # Fewer are those of sessions that ended since, of other files.
            if new[0] - old[0] > 4:
                found.append(f"{name}: {old[0]} descriptors, then {new[0]}")
            if new[1] - old[1] > GROWTH_MAX:
                found.append(f"{name}: {old[1]} bytes, then {new[1]}")
        return found

    def end_sessions(self):
        """What the file's own containers take is no growth."""
        for session in self.daemon.admin("GET", "/sessions")["data"]:
            if session["id"] != self.canary.box.id:
                self.daemon.admin("DELETE", f"/sessions/{session['id']}")

    def check(self):
        self.end_sessions()
        last = []

        def back():
            last[:] = self.over()
            return not last
        try:
            wait_until(back, 30, "what was taken to be given back")
        except AssertionError:
            assert last == []
