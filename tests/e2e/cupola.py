"""A daemon in development mode, as tests and benchmarks drive it.

Everything goes through what users have: the command line, HTTP, the Unix
socket and signals. Nothing here reaches into the daemon.
"""

import contextlib
import json
import os
import pathlib
import signal
import shutil
import subprocess
import tempfile
import time

import requests

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CUPOLA_BUILD", SOURCE / "build")).resolve()

# Where the daemons' logs go and stay; without it each lies beside its directory
# and goes with it.
LOGS = os.environ.get("CUPOLA_LOGS") and pathlib.Path(os.environ["CUPOLA_LOGS"])

# Under emulation a guest needs seconds for what hardware does in a tenth.
BOOT_SECONDS = 180

SANITIZER_ENV = {
    # Freed memory must not pass for growth when the resident size is measured.
    "ASAN_OPTIONS": "quarantine_size_mb=1:detect_leaks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


class ApiError(Exception):
    """An answer that is not 2xx, with the envelope taken apart."""

    def __init__(self, response):
        self.status = response.status_code
        self.headers = response.headers
        self.body = response.text
        try:
            error = response.json()["error"]
        except (ValueError, KeyError, TypeError):
            error = {}
        self.message = error.get("message")
        self.code = error.get("code")
        self.param = error.get("param")
        self.type = error.get("type")
        super().__init__(f"{self.status} {self.body[:400]}")


def image_is_there(name):
    """Where cupola-vmd would find it."""
    places = [os.environ.get("CUPOLA_IMAGES"), "/var/lib/cupola/images",
              SOURCE / "images/out"]
    return any(p and (pathlib.Path(p) / name).exists() for p in places)


def wait_until(condition, seconds, what):
    """Poll, since nothing outside can be told when the state changes."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} has no VmRSS")


def open_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def processes_with(text):
    """(pid, argv) of every process whose command line holds `text`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(text.encode() in word for word in argv):
            found.append((int(entry.name), [w.decode("utf-8", "replace")
                                            for w in argv]))
    return found


@contextlib.contextmanager
def running(**options):
    """A Daemon of one's own, which in the end has nothing to complain of."""
    d = Daemon(**options)
    try:
        d.start()
        yield d
        assert d.audit() == []
        assert d.stop() == 0, d.log_text()[-4000:]
    finally:
        d.remove()


class Daemon:
    def __init__(self, settings=None, image="python-minimal", env=None):
        # Short: the paths of libvirt's sockets must stay below 108 bytes.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cup-"))
        self.settings = {
            "pool.default.image": image,
            "pool.default.ready": "0",
            "pool.default.memory": "512M",
            "test.clock": "yes",
        }
        self.settings.update(settings or {})
        self.env = env or {}
        self.process = None
        self.http = requests.Session()
        self.http.trust_env = False
        # What was asked for and taken on, for the invariants to look after:
        # request ids, (path, key) of executions, and how many executions
        # others than this object asked for.
        self.requests = []
        self.accepted = []
        self.accepted_by_others = 0

    # ------------------------------------------------------------ life

    def command(self):
        argv = [str(BUILD / "cupolad"), "--dev", str(self.dir)]
        for key, value in self.settings.items():
            argv += ["--set", f"{key}={value}"]
        return argv

    def spawn(self):
        env = dict(os.environ, **SANITIZER_ENV, **self.env)
        if LOGS:
            LOGS.mkdir(parents=True, exist_ok=True)
        self.log = open((LOGS or self.dir.parent) / f"{self.dir.name}.log",
                        "ab")
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, env=env)

    def start(self, seconds=BOOT_SECONDS):
        (self.dir / "url").unlink(missing_ok=True)
        self.spawn()
        wait_until(self.is_ready, seconds, "the daemon to become ready")
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(
                f"cupolad ended with {self.process.returncode}:\n"
                + self.log_text()[-4000:])
        try:
            return self.http.get(f"{self.url}/readyz",
                                 timeout=5).status_code == 200
        except (OSError, requests.RequestException):
            return False

    def log_text(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def stop(self, seconds=60):
        """SIGTERM: in development mode that ends everything."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("cupolad did not stop:\n"
                                     + self.log_text()[-4000:])
        return self.process.returncode if self.process else 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def remove(self):
        """Leave nothing, whatever went wrong before."""
        try:
            self.stop()
        finally:
            for pid, argv in processes_with(str(self.dir)):
                if argv[0].endswith(("cupola-vmd", "vhost-device-vsock")) \
                   or "qemu-system" in argv[0] or "cupola-vmd" in argv[0]:
                    os.kill(pid, signal.SIGKILL)
            self.log.close()
            if not LOGS:
                pathlib.Path(self.log.name).unlink(missing_ok=True)
            shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def url(self):
        return (self.dir / "url").read_text().strip()

    @property
    def key(self):
        return (self.dir / "api-key").read_text().strip()

    @property
    def pid(self):
        return self.process.pid

    @property
    def socket(self):
        return str(self.dir / "cupola.sock")

    def vmd_pid(self):
        """The hypervisor process: the daemon's child of that name."""
        for pid, argv in processes_with(str(self.dir)):
            if "--socket-fd" in argv and alive(pid):
                return pid
        return None

    def qemus(self):
        return [pid for pid, argv in processes_with(str(self.dir))
                if "qemu-system" in argv[0] and alive(pid)]

    def backends(self):
        return [pid for pid, argv in processes_with(str(self.dir))
                if "vhost-device-vsock" in argv[0] and alive(pid)]

    # ------------------------------------------------------------- API

    def call(self, method, path, key=None, timeout=300, **kwargs):
        headers = {"Authorization": f"Bearer {key or self.key}"}
        headers.update(kwargs.pop("headers", {}))
        response = self.http.request(method, self.url + path, headers=headers,
                                     timeout=timeout, **kwargs)
        self.requests.append(response.headers.get("x-request-id"))
        if method == "POST" and path.endswith("/exec") and response.ok \
           and not kwargs.get("stream"):
            self.note_accepted(response.json(), key)
        return response

    def note_accepted(self, execution, key=None):
        path = (f"/v1/containers/{execution['container_id']}"
                f"/executions/{execution['id']}")
        if (path, key) not in self.accepted:
            self.accepted.append((path, key))

    def ok(self, method, path, **kwargs):
        response = self.call(method, path, **kwargs)
        if response.status_code // 100 != 2:
            raise ApiError(response)
        return response

    def json(self, method, path, **kwargs):
        return self.ok(method, path, **kwargs).json()

    def upload(self, name, data, purpose="assistants", **kwargs):
        return self.json("POST", "/v1/files",
                         files={"file": (name, data)},
                         data={"purpose": purpose}, **kwargs)

    def container(self, name="test", key=None, **fields):
        return Container(self, self.json(
            "POST", "/v1/containers", key=key,
            json={"name": name, **fields}), key)

    def ctl(self, *argv, check=True, input=None, timeout=300):
        env = dict(os.environ, **SANITIZER_ENV, CUPOLA_SOCKET=self.socket)
        if argv[0] in ("exec", "run"):
            self.accepted_by_others += 1
        done = subprocess.run([str(BUILD / "cupolactl"), *argv], env=env,
                              input=input, capture_output=True, text=True,
                              timeout=timeout)
        if check and done.returncode != 0:
            raise AssertionError(f"cupolactl {argv} ended with "
                                 f"{done.returncode}:\n{done.stdout}"
                                 f"{done.stderr}")
        return done

    def curl(self, *argv):
        argv = ["curl", "-sS", "--fail-with-body", "--unix-socket",
                self.socket, *argv]
        done = subprocess.run(argv, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout

    def admin(self, method, path, body=None):
        argv = ["-X", method]
        if body is not None:
            argv += ["-H", "Content-Type: application/json",
                     "-d", json.dumps(body)]
        answer = self.curl(*argv, "http://localhost/admin/v1" + path)
        return json.loads(answer) if answer.strip() else None

    def metrics(self):
        return self.curl("http://localhost/metrics")

    def audit(self):
        return self.admin("GET", "/audit")["differences"]

    def advance(self, seconds):
        self.admin("POST", "/clock", {"advance_s": seconds})


class Container:
    def __init__(self, daemon, made, key=None):
        self.daemon = daemon
        self.key = key
        self.made = made
        self.id = made["id"]
        self.path = f"/v1/containers/{self.id}"

    def call(self, method, path="", **kwargs):
        """A call below the container's own path."""
        return self.daemon.call(method, self.path + path, key=self.key,
                                **kwargs)

    def json(self, method, path="", **kwargs):
        return self.daemon.json(method, self.path + path, key=self.key,
                                **kwargs)

    def get(self):
        return self.json("GET")

    def run(self, code, **fields):
        return self.json("POST", "/exec", json={"code": code, **fields})

    def start(self, code, **fields):
        """Run in the background. Return: the execution's id."""
        return self.run(code, background=True, **fields)["id"]

    def execution(self, ident):
        return self.json("GET", f"/executions/{ident}")

    def wait_status(self, ident, statuses, seconds=60):
        """Return: the execution, once its status is one of these."""
        def reached():
            execution = self.execution(ident)
            return execution["status"] in statuses and execution
        return wait_until(reached, seconds, f"{ident} to be {statuses}")

    def stream(self, code, **fields):
        """The events of one execution, as (event, id, data)."""
        response = self.daemon.ok(
            "POST", f"{self.path}/exec", key=self.key, stream=True,
            json={"code": code, "stream": True, **fields})
        for event, ident, data in read_events(response):
            if event == "execution.started":
                self.daemon.note_accepted(data, self.key)
            yield event, ident, data

    def put(self, name, data):
        return self.json("POST", "/files", files={"file": (name, data)})

    def files(self):
        return self.json("GET", "/files?limit=100")["data"]

    def content(self, file_id):
        return self.daemon.ok("GET",
                              f"{self.path}/files/{file_id}/content",
                              key=self.key).content

    def delete(self):
        return self.json("DELETE")

    def wait_ended(self, seconds=60):
        def ended():
            session = self.get()["session"]
            return session["ended"] and session
        return wait_until(ended, seconds, f"{self.id} to end")


def read_events(response):
    event, ident, data = None, None, []
    for line in response.iter_lines(decode_unicode=True):
        if line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("id:"):
            ident = line[3:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].strip())
        elif line == "" and data:
            yield event, ident, json.loads("\n".join(data))
            event, ident, data = None, None, []
