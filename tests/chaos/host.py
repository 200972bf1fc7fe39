"""A cupolad with a cupola-vmd whose VMs are processes, and how to talk to it.

Only what Python brings along is used, so that the run needs nothing but a build
with ./configure --enable-failpoints. The same with real VMs is in real.py.
"""

import contextlib
import ctypes
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(os.environ.get("CUPOLA_BUILD", "build")).resolve()

PR_SET_CHILD_SUBREAPER = 36


class Refused(Exception):
    """An answer that is not 2xx."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body[:300]!r}")
        self.status = status
        try:
            self.error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            self.error = {}

    @property
    def code(self):
        return self.error.get("code")


class Away(Exception):
    """No answer: the daemon died, or is not there yet."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.01)


def in_background(log):
    """Go on as a process of its own that outlives the terminal; None: do not.

    What it says goes to the log, and it ends by SIGTERM as it would by Ctrl-C.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if log is None:
        return
    with open(log, "a", encoding="utf-8") as file:
        pid = os.fork()
        if pid:
            print(f"process {pid} writes to {log}")
            # What this one has set up is the other's to take down.
            os._exit(0)
        os.setsid()
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)


class Host:
    PROGRAMS = ("cupolad", "tests/chaos/cupola-vmd",
                "tests/chaos/scripted_guest")
    SETTINGS = {
        "host.memory": "8G",
        "hypervisor.accel": "qemu",
        "hypervisor.vsock": "user",
        "pool.default.memory": "128M",
        "pool.default.disk": "64M",
        "pool.default.ready": "2",
        # Room for all sessions that clients leave to expire: those who wait
        # for it would do nothing, and nobody would come by a failpoint.
        "pool.default.max": "60",
        # That other work keeps this machine busy is no reason to have fewer VMs.
        "host.refill_pressure": "100",
        # What a client calls a minute: sessions expire while we watch.
        "test.minute_seconds": "2",
    }
    # How many times longer all takes than with processes for VMs
    SLOWNESS = 1
    # Clients at a time, and sessions that have to outlive all
    WORKERS = 5
    CANARIES = 3
    # Of the files that programs write, beside empty and small ones
    FILE_BYTES = 300000
    # Where a VM leaves something as long as it is there
    TRACES = ("vm/*", "libvirt/domains/*")
    # What else the sanitizers are told, with a colon behind it
    asan = ""

    def __init__(self, settings=None):
        # Short: sockets are made below it.
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="ch-"))
        self.top.chmod(0o755)
        self.dir = self.top / "d"
        self.points = self.top / "points"
        self.settings = {**self.SETTINGS, **(settings or {})}
        self.process = None
        self.log = open(self.top / "log", "ab")
        self.points.mkdir()
        self.points.chmod(0o777)
        self.copy_programs()
        self.images = self.find_images()
        self.adopt_orphans()

    def adopt_orphans(self):
        """VMs whose vmd was killed become our children."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def log_size(self):
        return os.path.getsize(self.log.name)

    def log_since(self, size):
        with open(self.log.name, "rb") as f:
            f.seek(size)
            return f.read()

    def copy_programs(self):
        """cupolad takes the cupola-vmd that lies beside it."""
        bin_dir = self.top / "bin"
        bin_dir.mkdir()
        for path in self.PROGRAMS:
            shutil.copy(BUILD / path, bin_dir)

    def find_images(self):
        """One that is as good as any to a process."""
        images = self.top / "images"
        image = images / "python"
        image.mkdir(parents=True)
        for name in ("vmlinux", "initrd", "root.erofs"):
            (image / name).touch()
        (image / "manifest.json").write_text(json.dumps(
            {"name": "python", "digest": "sha256:" + "0" * 64, "built_at": "2026-11-30T00:00:00Z",
             "packages": {"python3": "3.13.5-1", "python3-ipython": "8.35.0-1"}}))
        return images

    def source(self, words):
        """What an execution is asked to do, as its VM understands it."""
        return words

    def findings(self):
        """What a sanitizer said. A cupola-vmd that dies of it is begun anew."""
        return [line.decode(errors="replace") for line in self.log_since(0).splitlines()
                if b"Sanitizer: " in line or b"runtime error: " in line]

    # ------------------------------------------------------------ processes

    def spawn(self):
        argv = [self.top / "bin" / "cupolad", "--dev", self.dir]
        for key, value in self.settings.items():
            argv += ["--set", f"{key}={value}"]
        env = dict(os.environ, CUPOLA_IMAGES=str(self.images),
                   CUPOLA_FAILPOINT=f"@{self.points}/list",
                   # Freed memory must not pass for growth.
                   ASAN_OPTIONS=self.asan +
                   "detect_leaks=0:quarantine_size_mb=1")
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=env)

    def start(self):
        """Returns whether it became ready, rather than being killed on the way."""
        (self.dir / "url").unlink(missing_ok=True)
        self.spawn()
        return self.wait_settled() == "ready"

    def start_for_clients(self):
        """Ready, and what clients need to know is written down."""
        assert self.start()
        for name in ("url", "api-key"):
            wait_until((self.dir / name).exists, 30, name)

    def wait_settled(self):
        return wait_until(self.is_settled, 30 * self.SLOWNESS, "readiness")

    def is_settled(self):
        status = self.process.poll()
        if status == -signal.SIGKILL:
            return "killed"
        assert status is None, f"cupolad ended by itself: {status}"
        return "ready" if self.is_ready() else None

    def is_ready(self):
        try:
            return bool(self.call("GET", "/readyz", admin=True, timeout=5))
        except (Away, Refused):
            return False

    def processes(self):
        """{pid: argv} of all that runs here, cupolad left out."""
        found = {}
        needle = str(self.top).encode()
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == self.process.pid:
                continue
            try:
                argv = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if needle in argv and is_alive(int(entry)):
                found[int(entry)] = [w.decode() for w in argv.split(b"\0")]
        return found

    def vmd(self):
        for pid, argv in self.processes().items():
            if "--socket-fd" in argv:
                return pid
        return None

    def guests(self):
        """{VM id: pid} of the processes that stand for VMs."""
        return {pathlib.Path(argv[1]).name: pid
                for pid, argv in self.processes().items()
                if len(argv) > 3 and argv[1].startswith(f"{self.dir}/vm/")}

    def reap(self):
        """What was orphaned to us, cupolad left to its own object."""
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == self.process.pid:
                continue
            try:
                os.waitpid(int(entry), os.WNOHANG)
            except ChildProcessError:
                continue

    # ----------------------------------------------------------- failpoints

    def has_idle_vm(self):
        pool, = self.json("GET", "/admin/v1/status", admin=True)["pools"]
        return pool["ready"] > 0

    def forget_idle_vm(self):
        """As a ledger from a backup: it lacks a VM that runs."""
        self.process.wait()
        database = sqlite3.connect(self.dir / "db.sqlite")
        with database:
            database.execute("DELETE FROM vms WHERE id = (SELECT id FROM vms"
                             " WHERE container_id = '' ORDER BY seq LIMIT 1)")
        database.close()

    def arm(self, name, action="kill9"):
        temporary = self.points / "new"
        temporary.write_text(f"{name}:{action}")
        temporary.chmod(0o644)
        temporary.rename(self.points / "list")

    def is_armed(self):
        return (self.points / "list").exists()

    def disarm(self):
        (self.points / "list").unlink(missing_ok=True)

    # ------------------------------------------------------------------ API

    def connection(self, admin, timeout):
        if admin:
            return UnixConnection(self.dir / "cupola.sock", timeout)
        address = (self.dir / "url").read_text().strip().split("//")[1]
        return http.client.HTTPConnection(address, timeout=timeout)

    def call(self, method, path, body=None, headers=None, admin=False,
             timeout=60):
        """The body of a 2xx answer; raises Refused or Away."""
        headers = dict(headers or {})
        if isinstance(body, dict):
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            if not admin:
                key = (self.dir / "api-key").read_text().strip()
                headers["Authorization"] = f"Bearer {key}"
            connection = self.connection(admin, timeout)
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                data = response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, IndexError) as e:
            raise Away(repr(e)) from e
        if response.status // 100 != 2:
            raise Refused(response.status, data)
        return data

    def json(self, *args, **kwargs):
        return json.loads(self.call(*args, **kwargs))

    def upload(self, path, name, data, fields=()):
        boundary = "chaos-boundary"
        parts = [f'--{boundary}\r\nContent-Disposition: form-data; '
                 f'name="{key}"\r\n\r\n{value}\r\n'.encode()
                 for key, value in fields]
        parts += [f'--{boundary}\r\nContent-Disposition: form-data; '
                  f'name="file"; filename="{name}"\r\n\r\n'.encode(),
                  data, f"\r\n--{boundary}--\r\n".encode()]
        return self.json("POST", path, b"".join(parts), {
            "Content-Type": f"multipart/form-data; boundary={boundary}"})

    def differences(self):
        return self.json("GET", "/admin/v1/audit", admin=True)["differences"]

    def traces(self):
        """Of VMs that are there, or should not be."""
        return [str(path.relative_to(self.dir)) for pattern in self.TRACES
                for path in self.dir.glob(pattern)]

    # ------------------------------------------------------------------ end

    def stop(self, seconds=60):
        self.process.send_signal(signal.SIGTERM)
        reaping = threading.Event()

        def reap():
            while not reaping.wait(0.05):
                self.reap()

        thread = threading.Thread(target=reap)
        thread.start()
        try:
            return self.process.wait(seconds)
        finally:
            reaping.set()
            thread.join()

    def remove(self, keep):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.log.close()
        if not keep:
            shutil.rmtree(self.top, ignore_errors=True)


@contextlib.contextmanager
def serving(settings=None):
    """A daemon with no VM in stock, ready for clients; its log is shown if what it is for fails."""
    host = Host({"pool.default.ready": "0", "pool.default.min": "0", **(settings or {})})
    try:
        host.start_for_clients()
        yield host
    except BaseException:
        sys.stderr.write((host.top / "log").read_text())
        raise
    finally:
        host.remove(keep=False)
