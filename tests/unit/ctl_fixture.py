"""cupolactl's counterpart in its tests: a server that is no daemon.

Each test says what it answers, so that answers which a good daemon never gives
can be tried, too.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading

import tap

BUILD = pathlib.Path(os.environ.get("abs_top_builddir", "."))
CTL = BUILD / "cupolactl"
WAIT = 60


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        """A client that leaves is what some tests are about."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        fx = self.server.fixture
        fx.asked.append((self.command, self.path, body, dict(self.headers)))
        fx.answer(self, self.command, self.path, body)

    do_GET = do_POST = do_DELETE = answer

    def send(self, body, status=200, kind="application/json"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, ident, kind, data):
        self.wfile.write(f"event: {kind}\r\nid: {ident}\r\ndata: "
                         f"{json.dumps(data)}\r\n\r\n".encode())
        self.wfile.flush()

    def refuse(self, status, message):
        self.send({"error": {"message": message, "type": "x", "param": None,
                             "code": None}}, status)


CONTAINER = {"id": "cntr_1", "object": "container", "name": "s.py",
             "created_at": 1700000000, "status": "running",
             "memory_limit": "1g",
             "session": {"state": "running", "pool": "default",
                         "idle_expires_at": 32503680000,
                         "hard_expires_at": 32503680000, "ended": None,
                         "usage": {"executions": 3}}}


def cfile(ident, path, size=5):
    return {"id": ident, "object": "container.file", "container_id": "cntr_1",
            "created_at": 1700000000, "bytes": size, "path": path,
            "source": "assistant"}


def done(status="ok", **more):
    return {"id": "exec_1", "object": "container.execution",
            "container_id": "cntr_1", "status": status, "results": [],
            "truncated": {"stdout": False, "stderr": False, "total_bytes": 3,
                          "omitted_bytes": 0},
            "error": None, "artifacts": [], "skipped": [],
            "state_lost": False, **more}


class Fixture:
    """A server, a directory, and what was asked."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ctl-"))
        self.socket = self.dir / "s"
        self.asked = []
        self.uploads = 0
        self.events = [("execution.started", {"id": "exec_1"}),
                       ("execution.done", done())]
        self.contents = {}
        self.special = {}
        self.server = Server(str(self.socket), Handler)
        self.server.fixture = self
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.dir)

    def answer(self, h, method, path, body):
        """A daemon with one container, but for what a test replaces."""
        for pattern, function in self.special.items():
            if re.fullmatch(pattern, f"{method} {path}"):
                return function(h)
        if (method, path) == ("POST", "/v1/files"):
            self.uploads += 1
            return h.send({"id": f"file-{self.uploads}", "bytes": 1,
                           "filename": "f"})
        if (method, path) == ("POST", "/v1/containers"):
            return h.send(CONTAINER)
        if (method, path) == ("GET", "/admin/v1/drain"):
            return h.send({"state": "off", "sessions": 1})
        if path.endswith("/exec"):
            return self.stream(h)
        if method == "DELETE":
            return h.send({"deleted": True})
        match = re.fullmatch(r"/v1/.*files/([^/]*)/content", path)
        if match and match[1] in self.contents:
            return h.send(self.contents[match[1]],
                          kind="application/octet-stream")
        return h.refuse(404, f"No such path: {path}")

    def stream(self, h):
        h.begin_stream()
        for number, (kind, data) in enumerate(self.events):
            h.event(number, kind, data)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def env(self, **more):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("CUPOLA_") and not k.endswith("_proxy")}
        return dict(env, CUPOLA_SOCKET=str(self.socket), **more)

    def ctl(self, *argv, status=0, input="", program=CTL, **env):
        ended = subprocess.run([program, *argv], capture_output=True,
                               env=self.env(**env), timeout=WAIT,
                               input=input, text=True, cwd=self.dir)
        assert status in (ended.returncode, None), \
            f"{argv}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended

    def calls(self):
        return [f"{method} {path}" for method, path, _, _ in self.asked]


def run(module):
    """The tests of a program: all of its functions that take "fx" alone."""
    tests = [v for v in vars(module).values()
             if callable(v) and getattr(v, "__module__", "") == module.__name__
             and getattr(v, "__code__", None)
             and v.__code__.co_varnames[:v.__code__.co_argcount] == ("fx",)]
    sys.exit(tap.run(tests, with_fixture))


def with_fixture(test):
    fx = Fixture()
    try:
        test(fx)
    finally:
        fx.close()
