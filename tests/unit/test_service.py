#!/usr/bin/python3
"""cupolad and cupola-vmd as systemd starts them, without systemd.

Each is started by itself, with the sockets that its unit would hand over, and
tells a socket of ours what it would tell systemd. VMs are processes.
"""

import os
import pathlib
import pwd
import signal
import socket
import subprocess
import sys
import time

import tap

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("CUPOLA_BUILD", os.environ.get("abs_top_builddir", "build"))
sys.path.insert(0, str(TOP / "tests" / "chaos"))

from host import Away, Host, UnixConnection, is_alive, wait_until  # noqa: E402

PATIENCE = 30
ROOT = os.geteuid() == 0

# What systemd does between fork() and exec(): descriptors from 3 on, who is
# meant, and the user.
START = """
import os, sys
user, fds, argv = int(sys.argv[1]), [int(n) for n in sys.argv[2].split(",") if n], sys.argv[3:]
high = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
for i, fd in enumerate(high):
    os.dup2(fd, 3 + i)
os.closerange(3 + len(fds), 256)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)))
if user >= 0:
    os.setgroups([]), os.setresgid(user, user, user), os.setresuid(user, user, user)
os.execv(argv[0], argv)
"""


class Notices:
    """What one service says to systemd."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(PATIENCE)
        path.chmod(0o666)
        self.said = []

    def read_all(self):
        self.socket.setblocking(False)
        try:
            while True:
                self.said += self.socket.recv(4096).decode().split("\n")
        except BlockingIOError:
            return self.said
        finally:
            self.socket.settimeout(PATIENCE)

    def wait_for(self, word):
        wait_until(lambda: [s for s in self.read_all() if s.startswith(word)], PATIENCE, word)


class Service(Host):
    """Two services and their sockets, which stay when the services go."""

    def __init__(self, settings=None):
        self.user = pwd.getpwnam("cupola").pw_uid if ROOT else -1
        self.vmd_process = None
        super().__init__({"pool.default.ready": "0", "pool.default.min": "0", "host.allow_emulation": "yes",
                          **(settings or {})})
        self.settings.pop("test.minute_seconds")
        self.vmd_dir = self.top / "v"
        for path in (self.dir, self.vmd_dir):
            path.mkdir(mode=0o700)
            if ROOT:
                os.chown(path, self.user, self.user)
        self.notices = Notices(self.top / "n")
        self.vmd_notices = Notices(self.top / "vn")
        self.listen()

    def listen(self):
        self.unix = self.bind(self.dir / "cupola.sock", socket.SOCK_STREAM, 0o666)
        self.seqpacket = self.bind(self.top / "vmd.sock", socket.SOCK_SEQPACKET, 0o666)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.dir.chmod(0o711)

    def bind(self, path, kind, mode):
        made = socket.socket(socket.AF_UNIX, kind)
        made.bind(str(path))
        path.chmod(mode)
        made.listen(16)
        return made

    def spawn_as(self, program, options, sockets, notices, **env):
        argv = [str(self.top / "bin" / program), *options]
        for key, value in self.settings.items():
            argv += ["--set", f"{key}={value}"]
        fds = [s.fileno() for s in sockets]
        return subprocess.Popen(
            [sys.executable, "-c", START, str(self.user), ",".join(map(str, fds)), *argv],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, pass_fds=fds,
            env={**os.environ, "CUPOLA_IMAGES": str(self.images), "NOTIFY_SOCKET": str(notices.path),
                 "ASAN_OPTIONS": "detect_leaks=0", **env})

    def spawn_vmd(self, **env):
        client = pwd.getpwuid(os.geteuid()).pw_name if not ROOT else "cupola"
        self.vmd_process = self.spawn_as(
            "cupola-vmd", ["--state", str(self.vmd_dir), "--client", client], [self.seqpacket], self.vmd_notices, **env)

    def spawn(self, **env):
        self.settings["hypervisor.socket"] = str(self.top / "vmd.sock")
        self.process = self.spawn_as("cupolad", [], [self.unix, self.tcp], self.notices,
                                     STATE_DIRECTORY=str(self.dir), **env)

    def start_both(self):
        self.spawn_vmd()
        self.spawn()
        self.notices.wait_for("READY=1")

    def session(self):
        return self.json("POST", "/v1/containers", {"name": "service"}, admin=True)["id"]

    def status_of(self, ident):
        return self.json("GET", f"/v1/containers/{ident}", admin=True)["session"]

    def qemus(self):
        """Processes that stand for VMs, found below vmd's directory."""
        return {pid for pid, argv in self.processes().items() if f"{self.vmd_dir}/vm/" in " ".join(argv)}

    def end_both(self):
        self.process = self.process or self.vmd_process
        for process in (self.process, self.vmd_process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def service(test):
    def run():
        host = Service()
        try:
            test(host)
        except BaseException:
            sys.stderr.write((host.top / "log").read_text()[-6000:])
            raise
        finally:
            host.end_both()
            host.remove(keep=False)
    run.__name__ = test.__name__
    return run


@service
def readiness_is_told_once_vms_can_be_made(host):
    host.spawn()
    wait_until(lambda: "socket" in host.log_since(0).decode() or host.process.poll() is None, 1, "its start")
    time.sleep(0.3)     # for something not to happen
    assert not [s for s in host.notices.read_all() if s == "READY=1"], host.notices.said
    host.spawn_vmd()
    host.notices.wait_for("READY=1")
    assert "READY=1" in host.vmd_notices.read_all()


@service
def sockets_that_were_handed_over_are_served(host):
    host.start_both()
    assert host.is_ready()
    with socket.create_connection(host.tcp.getsockname(), PATIENCE) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 200")


@service
def both_feed_the_watchdog(host):
    host.spawn_vmd(WATCHDOG_USEC="400000")
    host.spawn(WATCHDOG_USEC="400000")
    host.notices.wait_for("READY=1")
    for notices in (host.notices, host.vmd_notices):
        notices.said.clear()
        notices.wait_for("WATCHDOG=1")


@service
def a_restart_hands_the_sessions_over(host):
    host.start_both()
    ident = host.session()
    vms = wait_until(host.qemus, PATIENCE, "a VM")
    began = time.monotonic()
    host.process.send_signal(signal.SIGUSR2)
    assert host.process.wait(PATIENCE) == 0
    assert time.monotonic() - began < 10
    host.notices.wait_for("STOPPING=1")
    host.notices.said.clear()
    host.spawn()
    host.notices.wait_for("READY=1")
    assert host.qemus() == vms
    assert host.status_of(ident)["ended"] is None
    assert host.differences() == []


@service
def connections_wait_while_it_restarts(host):
    host.start_both()
    host.process.send_signal(signal.SIGUSR2)
    assert host.process.wait(PATIENCE) == 0
    connection = UnixConnection(host.dir / "cupola.sock", PATIENCE)
    connection.request("GET", "/healthz")
    host.spawn()
    assert connection.getresponse().status == 200
    connection.close()


@service
def the_end_drains_and_says_how_long_it_may_take(host):
    host.start_both()
    ident = host.session()
    wait_until(host.qemus, PATIENCE, "a VM")
    assert host.stop() == 0
    assert [s for s in host.notices.read_all() if s.startswith("EXTEND_TIMEOUT_USEC=")]
    assert "STOPPING=1" in host.notices.said
    wait_until(lambda: not host.qemus(), PATIENCE, "the VM's end")
    assert is_alive(host.vmd_process.pid)
    host.spawn()
    wait_until(host.is_ready, PATIENCE, "readiness")
    assert host.status_of(ident)["ended"]["reason"] == "drained"


@service
def a_reload_is_told_and_keeps_connections(host):
    host.start_both()
    connection = UnixConnection(host.dir / "cupola.sock", PATIENCE)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    host.notices.said.clear()
    host.process.send_signal(signal.SIGHUP)
    host.notices.wait_for("RELOADING=1")
    host.notices.wait_for("READY=1")
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()


@service
def a_hypervisor_process_that_dies_is_found_again(host):
    host.start_both()
    ident = host.session()
    vms = wait_until(host.qemus, PATIENCE, "a VM")
    host.vmd_process.kill()
    host.vmd_process.wait()
    host.spawn_vmd()

    def audited():
        try:
            return host.differences() == []
        except Away:
            return False
        except Exception:
            return False
    wait_until(audited, PATIENCE, "the books to agree")
    assert host.process.poll() is None
    assert host.qemus() == vms
    assert host.status_of(ident)["ended"] is None


@service
def only_the_daemons_user_is_served_by_vmd(host):
    if not ROOT:
        raise tap.Skip("it takes a second user")
    host.spawn_vmd()
    host.vmd_notices.wait_for("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(PATIENCE)
        sock.connect(str(host.top / "vmd.sock"))
        assert sock.recv(4096) == b""
    host.spawn()
    host.notices.wait_for("READY=1")


@service
def without_its_socket_vmd_says_what_it_needs(host):
    host.vmd_process = host.spawn_as("cupola-vmd", ["--state", str(host.vmd_dir)], [], host.vmd_notices)
    assert host.vmd_process.wait(PATIENCE) == 1
    assert b"needs --socket-fd, or one listening SOCK_SEQPACKET" in host.log_since(0)


TESTS = [readiness_is_told_once_vms_can_be_made,
         sockets_that_were_handed_over_are_served,
         both_feed_the_watchdog,
         a_restart_hands_the_sessions_over,
         connections_wait_while_it_restarts,
         the_end_drains_and_says_how_long_it_may_take,
         a_reload_is_told_and_keeps_connections,
         a_hypervisor_process_that_dies_is_found_again,
         only_the_daemons_user_is_served_by_vmd,
         without_its_socket_vmd_says_what_it_needs]



def call(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run(TESTS, call))
