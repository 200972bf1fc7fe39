#!/usr/bin/python3
"""A whole cupolad, as clients see it over HTTP; processes stand for VMs.

What the unit tests above the fake core cannot show: sockets by the thousand,
TLS, signals, and memory.
"""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import pwd
import resource
import select
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("CUPOLA_BUILD", os.environ.get("abs_top_builddir", "build"))
sys.path.insert(0, str(TOP / "tests" / "chaos"))

import tap  # noqa: E402
from host import Host, Refused, serving, wait_until  # noqa: E402

CROWD = 10000
CRAMPED = 80
PATIENCE = 60


@contextlib.contextmanager
def daemon(settings=None):
    with serving(settings) as host:
        yield host
        assert host.stop() == 0


def log_of(host):
    return (host.top / "log").read_text()


def address(host):
    scheme, rest = (host.dir / "url").read_text().strip().split("://")
    name, port = rest.rsplit(":", 1)
    return scheme, (name, int(port))


def memory_mib(pid):
    """What is the process's alone, as the kernel counts it."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) // 1024


def exchange(sock, request):
    """One answer with a Content-Length, over a socket of any kind."""
    sock.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        assert more, data
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(head.lower().split(b"content-length:")[1].split()[0])
    while len(body) < length:
        body += sock.recv(65536)
    return int(head.split()[1]), head.decode(), body


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


# ------------------------------------------------------------------------- TLS


class Pair:
    """A certificate and its key, below a directory that the daemon may enter."""

    def __init__(self, directory):
        self.cert, self.key = directory / "cert.pem", directory / "key.pem"
        self.owner = pwd.getpwnam("cupola") if os.geteuid() == 0 else None

    def put(self, name, cert=True, key=True):
        """Make a new pair and put it, or one half of it, in place."""
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{made}/key", "-out", f"{made}/cert"],
                check=True, capture_output=True)
            if key:
                self.place(f"{made}/key", self.key, 0o600)
            if cert:
                self.place(f"{made}/cert", self.cert, 0o644)

    def place(self, source, target, mode):
        new = target.with_suffix(".new")
        shutil.copy(source, new)
        new.chmod(mode)
        if self.owner:
            os.chown(new, self.owner.pw_uid, self.owner.pw_gid)
        new.rename(target)

    def settings(self):
        return {"listen.tls_cert": str(self.cert), "listen.tls_key": str(self.key)}


def secure(where, version=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if version:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
    return context.wrap_socket(socket.create_connection(where, PATIENCE))


def shown(where):
    with secure(where) as sock:
        assert exchange(sock, HEALTH)[0] == 200
        return hashlib.sha256(sock.getpeercert(binary_form=True)).hexdigest()


@contextlib.contextmanager
def pair():
    if not shutil.which("openssl"):
        raise tap.Skip("openssl is missing")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tls-"))
    directory.chmod(0o755)
    try:
        made = Pair(directory)
        made.put("first")
        yield made
    finally:
        shutil.rmtree(directory)


def tcp_is_served_with_tls_of_1_2_or_newer():
    with pair() as made, daemon(made.settings()) as host:
        scheme, where = address(host)
        assert scheme == "https"
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with secure(where, version) as sock:
                assert exchange(sock, HEALTH)[0] == 200
        for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            try:
                secure(where, version).close()
                raise AssertionError(f"{version} is taken")
            except (ssl.SSLError, ConnectionError):
                pass
        with socket.create_connection(where, PATIENCE) as sock:
            sock.sendall(HEALTH)
            sock.settimeout(PATIENCE)
            try:
                assert b"200" not in sock.recv(4096)
            except ConnectionError:
                pass
        # The Unix socket goes on as it was.
        assert host.call("GET", "/readyz", admin=True)


def files_come_and_go_over_tls():
    with pair() as made, daemon(made.settings()) as host:
        _, where = address(host)
        key = (host.dir / "api-key").read_text().strip()
        data = os.urandom(8 << 20)
        with secure(where) as sock:
            for _ in range(2):
                form = (b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nassistants\r\n'
                        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' +
                        data + b"\r\n--x--\r\n")
                status, head, body = exchange(sock, (
                    f"POST /v1/files HTTP/1.1\r\nHost: x\r\napi-key: {key}\r\nContent-Length: {len(form)}\r\n"
                    "Content-Type: multipart/form-data; boundary=x\r\n\r\n").encode() + form)
                assert status == 200, head
                name = json.loads(body)["id"]
                status, head, body = exchange(
                    sock, f"GET /v1/files/{name}/content HTTP/1.1\r\nHost: x\r\napi-key: {key}\r\n\r\n".encode())
                assert status == 200 and body == data, head


def links_say_https():
    with pair() as made, daemon(made.settings()) as host:
        _, where = address(host)
        key = (host.dir / "api-key").read_text().strip()
        body = b'{"code":"1","codeInputType":"inline","executionType":"asynchronous"}'
        with secure(where) as sock:
            _, head, _ = exchange(sock, (
                "POST /pools/default/executions?identifier=a&api-version=2025-02-02-preview HTTP/1.1\r\n"
                f"Host: cupola.example:8443\r\napi-key: {key}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
        assert "https://cupola.example:8443/" in head, head


def connected(host):
    text = host.call("GET", "/metrics", admin=True).decode()
    return int(float(text.split("\ncupola_http_connections ")[1].split()[0]))


def clients_that_leave_tls_are_noticed():
    raise_descriptors(4096)
    with pair() as made, daemon(made.settings()) as host:
        _, where = address(host)
        key = (host.dir / "api-key").read_text().strip()
        before = memory_mib(host.process.pid)
        crowd = [socket.create_connection(where, PATIENCE) for _ in range(400)]
        for _ in range(50):
            sock = secure(where)
            sock.sendall(f"POST /v1/containers HTTP/1.1\r\nHost: x\r\napi-key: {key}\r\n"
                         "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode())
            crowd.append(sock)
        wait_until(lambda: connected(host) > 400, PATIENCE, "the crowd")
        print(f"# {memory_mib(host.process.pid) - before} MiB for {connected(host)} connections")
        for sock in crowd:
            sock.close()
        begin = time.monotonic()
        wait_until(lambda: connected(host) == 1, 8, "their end")
        print(f"# all were noticed after {time.monotonic() - begin:.2f} s")


def what_is_told_in_the_middle_of_a_body_is_encrypted_too():
    with pair() as made, daemon(made.settings()) as host:
        _, where = address(host)
        key = (host.dir / "api-key").read_text().strip()
        with secure(where) as sock:
            sock.sendall(f"POST /v1/containers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
                         "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            with contextlib.suppress(OSError):
                for _ in range(64):
                    sock.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            assert sock.recv(4096).startswith(b"HTTP/1.1 413 ")


def a_new_pair_is_taken_over_and_a_bad_one_is_not():
    with pair() as made, daemon(made.settings()) as host:
        _, where = address(host)
        first = shown(where)
        with secure(where) as old:
            assert exchange(old, HEALTH)[0] == 200

            made.put("second")
            host.process.send_signal(signal.SIGHUP)
            second = wait_until(lambda: shown(where) != first and shown(where), PATIENCE, "the second pair")
            assert exchange(old, HEALTH)[0] == 200

            # Only one half of it is there.
            made.put("third", key=False)
            host.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "the old pair stays" in log_of(host), PATIENCE, "a line in the log")
            assert shown(where) == second
            assert exchange(old, HEALTH)[0] == 200

            # Seen without being told.
            made.put("fourth")
            wait_until(lambda: shown(where) not in (first, second), PATIENCE, "the fourth pair")
            assert exchange(old, HEALTH)[0] == 200
            # Nothing is read again as long as nothing changes.
            said = log_of(host).count("Serving the certificate")
            time.sleep(6)
            assert log_of(host).count("Serving the certificate") == said


def a_key_that_others_may_read_is_refused():
    with pair() as made:
        made.key.chmod(0o644)
        host = Host(made.settings())
        try:
            host.spawn()
            assert host.process.wait(PATIENCE) != 0
            assert "nobody but its owner may write it" in log_of(host)
        finally:
            host.remove(keep=False)


# ---------------------------------------------------------------------- SIGHUP


class Configured(Host):
    """With a file of settings, which can change."""

    def configure(self, text):
        (self.top / "conf").write_text(text)

    def spawn(self):
        argv = [self.top / "bin" / "cupolad", "--dev", self.dir, "--config", self.top / "conf"]
        for key, value in self.settings.items():
            argv += ["--set", f"{key}={value}"]
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, CUPOLA_IMAGES=str(self.images), ASAN_OPTIONS="detect_leaks=0"))


def the_log_level_is_read_again():
    host = Configured({"pool.default.ready": "0", "pool.default.min": "0"})
    try:
        host.configure("[log]\nlevel = error\n")
        host.start_for_clients()
        assert host.call("GET", "/healthz")
        assert " info: " not in log_of(host).replace("cupola-vmd info: ", "")
        host.configure("[log]\nlevel = info\n[session]\nidle = 60\n")
        host.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "Read the log level" in log_of(host), PATIENCE, "a line in the log")
        assert host.call("GET", "/healthz")
        wait_until(lambda: "GET /healthz" in log_of(host), PATIENCE, "the request's line")
        # What cannot be read changes nothing, and ends nothing.
        host.configure("[log]\nlevel = loud\n")
        host.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the log level stays" in log_of(host), PATIENCE, "a line in the log")
        assert host.call("GET", "/healthz")
        assert host.stop() == 0
    finally:
        host.remove(keep=False)


# -------------------------------------------------------------------- overload


def raise_descriptors(count):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        raise tap.Skip(f"no more than {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def ten_thousand_idle_clients_keep_nobody_out():
    raise_descriptors(CROWD + 1000)
    with daemon() as host:
        _, where = address(host)
        assert host.call("GET", "/healthz")
        before = memory_mib(host.process.pid)
        crowd, slowest = [], 0.0
        for i in range(CROWD):
            crowd.append(socket.create_connection(where, PATIENCE))
            if i % 500 == 0:
                begin = time.monotonic()
                assert host.call("GET", "/healthz")
                slowest = max(slowest, time.monotonic() - begin)
        grown = memory_mib(host.process.pid) - before
        print(f"# {CROWD} clients: {grown} MiB more, slowest answer {slowest * 1000:.0f} ms")
        # 1,024 connections of 36 KiB, and what the sanitizers add.
        assert grown < 100, grown
        assert slowest < 5, slowest
        for sock in crowd:
            sock.close()


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cramp():
    resource.setrlimit(resource.RLIMIT_NOFILE, (CRAMPED, CRAMPED))


def a_daemon_without_descriptors_waits_for_some():
    cramped = functools.partial(subprocess.Popen, preexec_fn=cramp)
    with mock.patch("subprocess.Popen", cramped), daemon() as host:
        _, where = address(host)
        assert host.call("GET", "/healthz")
        pid = host.process.pid
        # The kernel takes them all, the daemon only some.
        crowd = [socket.create_connection(where, PATIENCE) for _ in range(100)]
        wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) >= CRAMPED - 4,
                   PATIENCE, "no descriptor is left")
        time.sleep(0.5)
        begin = cpu_seconds(pid)
        time.sleep(2)
        spent = cpu_seconds(pid) - begin
        print(f"# {spent:.2f} s of CPU in 2 s without descriptors")
        assert spent < 1, spent
        for sock in crowd:
            sock.close()
        assert host.call("GET", "/healthz")
        assert host.process.poll() is None


def one_address_leaves_room_for_others():
    raise_descriptors(4096)
    with daemon() as host:
        _, where = address(host)
        with socket.create_connection(where, PATIENCE, ("127.0.0.2", 0)) as other:
            assert exchange(other, HEALTH)[0] == 200
            crowd = [socket.create_connection(where, PATIENCE) for _ in range(1500)]
            for sock in crowd:
                with contextlib.suppress(OSError):
                    sock.sendall(b"GET /v1/files HTTP/1.1\r\n")
            assert exchange(other, HEALTH)[0] == 200
            for sock in crowd:
                sock.close()


def slow_heads_end_at_their_deadline():
    with daemon() as host:
        _, where = address(host)
        crowd = [socket.create_connection(where, PATIENCE) for _ in range(300)]
        begin = time.monotonic()
        waiting = {sock.fileno(): sock for sock in crowd}
        for sock in crowd:
            sock.sendall(b"GET /v1/containers HTTP/1.1\r\n")
        slowest = 0.0
        while waiting and time.monotonic() - begin < 30:
            for sock in waiting.values():
                with contextlib.suppress(OSError):
                    sock.sendall(b"X-a: b\r\n")
            asked = time.monotonic()
            assert host.call("GET", "/healthz")
            slowest = max(slowest, time.monotonic() - asked)
            for sock in select.select(list(waiting.values()), [], [], 1)[0]:
                with contextlib.suppress(OSError):
                    text = sock.recv(4096)
                    assert not text or text.startswith(b"HTTP/1.1 408 "), text
                del waiting[sock.fileno()]
        took = time.monotonic() - begin
        print(f"# all were closed after {took:.1f} s, slowest answer {slowest * 1000:.0f} ms")
        assert not waiting and 9 < took < 25, took
        for sock in crowd:
            sock.close()


def a_list_of_ten_thousand_files_keeps_nobody_waiting():
    with daemon() as host:
        file = host.upload("/v1/files", "a", b"a", [("purpose", "assistants")])["id"]
        assert host.stop() == 0
        with contextlib.closing(sqlite3.connect(host.dir / "db.sqlite")) as db, db:
            row = db.execute("SELECT * FROM files WHERE id = ?", (file,))
            columns = [c[0] for c in row.description if c[0] != "seq"]
            values = dict(zip([c[0] for c in row.description], row.fetchone()))
            db.executemany(
                f"INSERT INTO files ({', '.join(columns)}) VALUES ({', '.join(':' + c for c in columns)})",
                [{**values, "id": f"file-{i:024}"} for i in range(CROWD)])
        host.start_for_clients()
        waits, ended = [], threading.Event()

        def canary():
            connection = host.connection(True, PATIENCE)
            while not ended.is_set():
                begin = time.monotonic()
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                waits.append(time.monotonic() - begin)
            connection.close()

        thread = threading.Thread(target=canary)
        thread.start()
        begin = time.monotonic()
        lists = [host.json("GET", "/v1/files") for _ in range(3)]
        took = (time.monotonic() - begin) / len(lists)
        ended.set()
        thread.join()
        ids = {file["id"] for file in lists[0]["data"]}
        assert len(lists[0]["data"]) == len(ids) == CROWD and lists[0]["has_more"]
        waits.sort()
        print(f"# a list took {took * 1000:.0f} ms; {len(waits)} others waited {waits[len(waits) // 2] * 1000:.1f} ms, "
              f"at most {waits[-1] * 1000:.1f} ms")
        # As many as they are, others come in between; the machine may be busy.
        assert len(waits) >= 30 and waits[len(waits) // 2] < took / 10, (len(waits), took)


# ------------------------------------------------------------------ slow clients


def head_of(key, path, length):
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\napi-key: {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n").encode()


def slow_bodies_and_readers_end_at_their_deadlines():
    with daemon() as host:
        _, where = address(host)
        key = (host.dir / "api-key").read_text().strip()
        file = host.upload("/v1/files", "a", os.urandom(64 << 20), [("purpose", "assistants")])["id"]
        before = memory_mib(host.process.pid)
        begin = time.monotonic()
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.connect(where)
        reader.sendall(f"GET /v1/files/{file}/content HTTP/1.1\r\nHost: x\r\napi-key: {key}\r\n\r\n".encode())
        assert reader.recv(1024)
        slow = {}
        for _ in range(200):
            sock = socket.create_connection(where, PATIENCE)
            sock.sendall(head_of(key, "/v1/containers", 1000))
            slow[sock.fileno()] = sock
        reader_ended = slowest = 0.0
        while (slow or not reader_ended) and time.monotonic() - begin < 60:
            for sock in slow.values():
                with contextlib.suppress(OSError):
                    sock.sendall(b" ")
            asked = time.monotonic()
            assert host.call("GET", "/v1/models")
            slowest = max(slowest, time.monotonic() - asked)
            for sock in select.select(list(slow.values()), [], [], 1)[0]:
                with contextlib.suppress(OSError):
                    text = sock.recv(4096)
                    assert not text or text.startswith(b"HTTP/1.1 408 "), text
                del slow[sock.fileno()]
            # It reads nothing: that the server has closed shows in the state of its socket.
            if not reader_ended and not connections_of(host, reader.getsockname()[1]):
                reader_ended = time.monotonic() - begin
        took = time.monotonic() - begin
        grown = memory_mib(host.process.pid) - before
        print(f"# bodies ended after {took:.1f} s, the reader after {reader_ended:.1f} s, "
              f"slowest answer {slowest * 1000:.0f} ms, {grown} MiB more")
        assert not slow and 29 < took < 50, took
        assert 25 < reader_ended < 50, reader_ended
        assert grown < 64, grown
        # Another reader has all of it meanwhile, and after.
        assert len(host.call("GET", f"/v1/files/{file}/content")) == 64 << 20
        reader.close()


def connections_of(host, port):
    """Sockets of the daemon that are connected to a port of ours."""
    mine = set()
    for entry in os.scandir(f"/proc/{host.process.pid}/fd"):
        with contextlib.suppress(OSError):
            mine.add(os.readlink(entry.path))
    rows = (line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])
    return [row for row in rows if int(row[2].split(":")[1], 16) == port and f"socket:[{row[9]}]" in mine]


# ------------------------------------------------------------------- what is logged


def nothing_that_is_sent_becomes_a_line_of_the_log():
    paths = [b"/v1/%0a%0dforged", b"/v1/\x1b[2Jforged", b"/v1/\x01forged", b"/v1/\xc3\xa9forged",
             b"/v1/" + b"a" * 5000 + b"forged", b"/v1/containers?x=%0aforged"]
    with daemon() as host:
        _, where = address(host)
        before = len(log_of(host))
        for path in paths:
            with socket.create_connection(where, PATIENCE) as sock:
                sock.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                             b"User-Agent: x {\"level\":\"error\",\"msg\":\"forged\"}\r\n\r\n")
                assert sock.recv(4096).startswith(b"HTTP/1.1 4")

        def new_lines():
            # The end of our own waiting may come late.
            new = (host.top / "log").read_bytes()[before:].split(b"\n")[:-1]
            return [line for line in new if b" GET /readyz " not in line]

        lines = wait_until(lambda: len(new_lines()) >= len(paths) and new_lines(), PATIENCE, "the log")
        assert len(lines) == len(paths), lines
        for line in lines:
            assert b" cupolad info: GET /v1/" in line and b" status=4" in line, line
            assert not any(byte < 0x20 or byte == 0x7f for byte in line), line
            assert len(line) < 600, line
            assert b"level" not in line, line


def a_key_that_was_used_belongs_to_its_container():
    """The same code is often run in many; each is asked by itself."""
    with daemon() as host:
        made = [host.json("POST", "/v1/containers", {"name": "x"})["id"] for _ in range(2)]
        field = {"Idempotency-Key": "k"}

        def run(container):
            return host.json("POST", f"/v1/containers/{container}/exec", {"code": "count"}, field)["id"]

        assert run(made[0]) == run(made[0])
        try:
            run(made[1])
        except Refused as e:
            assert e.status == 422 and "another request" in e.error["message"], e
        else:
            raise AssertionError("one container's answer is another's")


def pools_are_looked_up_and_are_no_paths():
    with daemon() as host:
        for pool in ("..", "%2e%2e", "..%2f..%2fetc", "default%00", "DEFAULT", "default%2f", "%20default", "none"):
            try:
                host.json("POST", f"/pools/{pool}/executions?identifier=a&api-version=2025-02-02-preview",
                          {"code": "count"})
                raise AssertionError(f"{pool} is a pool")
            except Refused as e:
                assert e.status in (400, 404), e


# ------------------------------------------------------------------ leftovers


def what_a_crash_leaves_goes_and_what_is_not_ours_stays():
    with daemon() as host:
        host.process.kill()
        host.process.wait()
        vms = host.dir / "vm"
        ours = vms / "vm_0123456789abcdefghijkl"
        ours.mkdir()
        (ours / "scratch.img").write_bytes(b"x" * 4096)
        for path in (ours, ours / "scratch.img"):
            os.chown(path, vms.stat().st_uid, vms.stat().st_gid)
        theirs = [vms / "notes.txt", vms / "vm_backup.img", vms / "old" / "scratch.img"]
        theirs[2].parent.mkdir()
        for path in theirs:
            path.write_text("not yours")
        host.start_for_clients()
        assert not ours.exists()
        for path in theirs:
            assert path.read_text() == "not yours", path
        assert "'notes.txt' lies among the VMs and is none" in log_of(host)
        assert host.differences() == []


def vms_of(host):
    """Their ids, as the operator sees them, by container."""
    return {row["id"]: row["vm"] for row in host.json("GET", "/admin/v1/sessions", admin=True)["data"]
            if row.get("vm")}


def processes_sockets_and_disks_of_a_crash_go():
    """Killed at once: both daemons, and of each VM something else."""
    with daemon() as host:
        made = [host.json("POST", "/v1/containers", {"name": f"c{n}"})["id"] for n in range(4)]
        for ident in made:
            assert host.json("POST", f"/v1/containers/{ident}/exec", {"code": "count"})["status"] == "ok"
        vms = vms_of(host)
        whole, no_qemu, no_backend, no_record = (vms[ident] for ident in made)
        guests = host.guests()
        backends = {argv[2]: pid for pid, argv in host.processes().items() if argv[1] == "vsock"}
        assert set(guests) == set(backends) == set(vms.values())
        os.kill(host.vmd(), signal.SIGSTOP)  # it must not see what comes
        vmd = host.vmd()
        for pid in (host.process.pid, vmd, guests[no_qemu], backends[no_backend]):
            os.kill(pid, signal.SIGKILL)
        host.process.wait()
        wait_until(lambda: host.reap() or host.vmd() is None, PATIENCE, "the end of vmd")
        (host.dir / "vm" / no_record / "record").unlink()
        # As every VM it has sockets and a disk, and here they are.
        left = {path.name for path in (host.dir / "vm" / no_qemu).iterdir()}
        assert {"disk", "record", "console", "vsock"} <= left, left

        host.start_for_clients()
        wait_until(lambda: host.reap() or host.differences() == [], PATIENCE, "an audit without differences")
        wait_until(lambda: host.reap() or set(host.guests()) == {whole}, PATIENCE, "the VMs' end")
        assert [path.name for path in (host.dir / "vm").iterdir()] == [whole]
        assert [argv[2] for argv in host.processes().values() if argv[1] == "vsock"] == [whole]
        # Who is whole goes on where it was, and the others are told.
        done = host.json("POST", f"/v1/containers/{made[0]}/exec", {"code": "count"})
        assert done["status"] == "ok" and done["execution_count"] == 2, done
        for ident in made[1:]:
            ended = host.json("GET", f"/v1/containers/{ident}")["session"]["ended"]
            assert ended["reason"] in ("vm_crashed", "destroyed_externally", "host_restart"), ended


class SharedLibvirt(Host):
    """With a libvirt of its own kind, which has domains of others as well."""
    PROGRAMS = ("cupolad", "tests/unit/foreign/cupola-vmd")


def domains_of_others_survive_all_that_is_done():
    host = SharedLibvirt({"pool.default.ready": "0", "pool.default.min": "0", "hypervisor.boot_timeout": "1",
                          "hypervisor.uri": "test:///default", "test.clock": "yes"})
    try:
        host.start_for_clients()
        # One of ours that nobody knows any more is ended at the start.
        assert "vm_0000000000000000000000" in log_of(host)
        wait_until(lambda: host.differences() == [], PATIENCE, "an audit without differences")
        # VMs that never answer, and one that its client deletes.
        for n in range(3):
            host.json("POST", "/v1/containers", {"name": f"c{n}"})
        listed = host.json("GET", "/v1/containers?limit=10")["data"]
        assert len(listed) == 3
        host.call("DELETE", f"/v1/containers/{listed[0]['id']}")
        # The comparison that comes by itself.
        host.json("POST", "/admin/v1/clock", {"advance_s": 60}, admin=True)
        wait_until(lambda: host.differences() == [] and not host.traces(), PATIENCE, "all VMs to end")
        host.json("POST", "/v1/containers", {"name": "open at the end"})
        assert host.stop() == 0
        assert "At the end 7 of 7 foreign domains run, ours does not, 0 others" in log_of(host)
    except BaseException:
        sys.stderr.write(log_of(host))
        raise
    finally:
        host.remove(keep=False)


# ---------------------------------------------------------- backup and restore


def take_backup(host, directory):
    """As the manual says: the database by itself, then what it names."""
    directory.mkdir(mode=0o700)
    (directory / "db.sqlite").write_bytes(host.call("GET", "/admin/v1/backup", admin=True))
    shutil.copytree(host.dir / "blobs", directory / "blobs")
    for path in [directory / "blobs", *(directory / "blobs").rglob("*")]:
        shutil.chown(path, host.dir.stat().st_uid, host.dir.stat().st_gid)


def restore(host, directory, *more, status=0):
    """What it says: in a line or a sentence."""
    ended = subprocess.run([host.top / "bin" / "cupolad", "--dev", host.dir, "--restore", directory, *more],
                           capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == status, ended
    assert (ended.stdout + ended.stderr).count("\n") == 1, ended
    return ended.stdout + ended.stderr


def serves(host, files, artifact):
    """All that was stored is there, byte for byte, and new sessions work."""
    for file_id, data in files.items():
        assert host.call("GET", f"/v1/files/{file_id}/content") == data
    assert host.call("GET", artifact["path"]) == artifact["data"]
    fresh = host.json("POST", "/v1/containers", {"name": "after"})
    done = host.json("POST", f"/v1/containers/{fresh['id']}/exec", {"code": "count"})
    assert done["status"] == "ok", done
    host.call("DELETE", f"/v1/containers/{fresh['id']}")
    wait_until(lambda: host.differences() == [], PATIENCE, "an audit without differences")


def a_backup_is_restored_and_served():
    with daemon() as host:
        backup = host.top / "backup"
        files = {host.upload("/v1/files", f"{n}.bin", data, [("purpose", "assistants")])["id"]: data
                 for n, data in enumerate((b"", b"one", os.urandom(700000)))}
        container = host.json("POST", "/v1/containers", {"name": "before"})["id"]
        kept = host.upload(f"/v1/containers/{container}/files", "kept.txt", b"kept")
        artifact = {"path": f"/v1/containers/{container}/files/{kept['id']}/content", "data": b"kept"}
        take_backup(host, backup)
        later = host.upload("/v1/files", "later.txt", b"later", [("purpose", "assistants")])["id"]

        said = restore(host, backup, status=1)
        assert f"process {host.process.pid}" in said, said
        # Killed, so that VMs and the last commits are as they were.
        host.process.kill()
        host.process.wait()
        assert "--replace" in restore(host, backup, status=1)
        assert "Restored" in restore(host, backup, "--replace")
        host.start_for_clients()
        serves(host, files, artifact)
        try:
            host.call("GET", f"/v1/files/{later}/content")
            raise AssertionError("what came after the backup is there")
        except Refused as e:
            assert e.status == 404, e

        # On a new host, where there is nothing yet, not even the directory.
        assert host.stop() == 0
        shutil.rmtree(host.dir)
        assert "Restored" in restore(host, backup)
        host.start_for_clients()
        serves(host, files, artifact)


def what_is_no_backup_is_refused_and_changes_nothing():
    with daemon() as host:
        backup = host.top / "backup"
        file_id = host.upload("/v1/files", "a.txt", b"a", [("purpose", "assistants")])["id"]
        take_backup(host, backup)
        assert host.stop() == 0
        assert "none" in restore(host, host.top / "none", status=1)
        (backup / "db.sqlite-wal").write_bytes(b"x")
        assert "cupolactl backup" in restore(host, backup, "--replace", status=1)
        (backup / "db.sqlite-wal").unlink()
        (backup / "blobs").rename(backup / "elsewhere")
        assert "Restored" in restore(host, backup, "--replace"), "its contents are there"
        shutil.rmtree(host.dir / "blobs")
        assert "'blobs'" in restore(host, backup, "--replace", status=1)
        (backup / "elsewhere").rename(backup / "blobs")
        assert "Restored" in restore(host, backup, "--replace")
        host.start_for_clients()
        assert host.call("GET", f"/v1/files/{file_id}/content") == b"a"


TESTS = [tcp_is_served_with_tls_of_1_2_or_newer,
         files_come_and_go_over_tls,
         links_say_https,
         clients_that_leave_tls_are_noticed,
         what_is_told_in_the_middle_of_a_body_is_encrypted_too,
         a_new_pair_is_taken_over_and_a_bad_one_is_not,
         a_key_that_others_may_read_is_refused,
         the_log_level_is_read_again,
         ten_thousand_idle_clients_keep_nobody_out,
         a_daemon_without_descriptors_waits_for_some,
         one_address_leaves_room_for_others,
         a_list_of_ten_thousand_files_keeps_nobody_waiting,
         slow_heads_end_at_their_deadline,
         slow_bodies_and_readers_end_at_their_deadlines,
         nothing_that_is_sent_becomes_a_line_of_the_log,
         a_key_that_was_used_belongs_to_its_container,
         pools_are_looked_up_and_are_no_paths,
         what_a_crash_leaves_goes_and_what_is_not_ours_stays,
         processes_sockets_and_disks_of_a_crash_go,
         domains_of_others_survive_all_that_is_done,
         a_backup_is_restored_and_served,
         what_is_no_backup_is_refused_and_changes_nothing]


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run(TESTS, with_user))
