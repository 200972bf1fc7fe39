# SPDX-License-Identifier: Apache-2.0
"""The two sides of most figures: a session over HTTP, a Jupyter kernel here."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import queue
import select
import socket
import subprocess
import tempfile

from cupola import Daemon
from measure import BenchError, seconds

PRINT = "print(1)"
JUPYTER_SECONDS = 120
# Of a daemon's log, when it ends before its time.
LAST_WORDS = 2000
# From the end of its connections to the end of its process.
DEATH_SECONDS = 5
# Emulated and beside much else a VM takes longer than a service waits for one.
PATIENCE = {"hypervisor.boot_timeout": "180"}


def last_words(daemon):
    """None if it runs on."""
    try:
        status = daemon.process.wait(DEATH_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return (f"cupolad ended with {status} meanwhile:\n"
            + daemon.log_text()[-LAST_WORDS:])


@contextlib.contextmanager
def serving(image="python-minimal", settings=None):
    """A daemon of one's own; nothing of it stays, however this ends."""
    daemon = Daemon(image=image, settings={**PATIENCE, **(settings or {})})
    try:
        daemon.start()
        yield daemon
    except (OSError, http.client.HTTPException) as e:
        words = last_words(daemon)
        if not words:
            raise
        raise BenchError(words) from e
    finally:
        daemon.remove()


class Session:
    """One container, spoken to over one kept-alive connection."""

    def __init__(self, daemon):
        self.daemon = daemon
        host, port = daemon.url.removeprefix("http://").split(":")
        self.http = http.client.HTTPConnection(host, int(port), timeout=600)
        self.connect()
        self.head = {"Authorization": f"Bearer {daemon.key}",
                     "Content-Type": "application/json"}
        made = self.ask("POST", "/v1/containers", {"name": "bench"})
        self.path = f"/v1/containers/{made['id']}"
        self.id = made["id"]

    def connect(self):
        self.http.connect()
        self.http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def is_closed(self):
        """As after 30 s without a request, while the other side is measured."""
        return bool(select.select([self.http.sock], [], [], 0)[0])

    def fetch(self, method, path, body=None, head=None):
        if self.is_closed():
            self.http.close()
            self.connect()
        self.http.request(method, path, body, head or self.head)
        answer = self.http.getresponse()
        data = answer.read()
        if answer.status // 100 != 2:
            raise BenchError(f"{method} {path}: {answer.status}"
                             f" {data[:500]!r}")
        return data

    def ask(self, method, path, value=None):
        body = None if value is None else json.dumps(value)
        return json.loads(self.fetch(method, path, body))

    def run(self, code):
        """Return: seconds, and the execution."""
        took, data = seconds(self.fetch, "POST", f"{self.path}/exec",
                             json.dumps({"code": code}))
        done = json.loads(data)
        if done["status"] != "ok":
            raise BenchError(f"execution failed: {data[:500]!r}")
        return took, done

    def health(self):
        return seconds(self.fetch, "GET", "/healthz", head={})[0]

    def delete(self):
        self.ask("DELETE", self.path)
        self.http.close()


class Jupyter:
    """A kernel on the bare host, as the jupyter_client library drives it."""

    def __init__(self):
        # Else each start, and jupyter_client itself, warn about the debugger.
        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
        from jupyter_client.manager import KernelManager
        # It writes to its user's home, where a measurement leaves nothing.
        self.home = tempfile.TemporaryDirectory(prefix="cup-bench-")
        env = dict(os.environ, HOME=self.home.name,
                   IPYTHONDIR=f"{self.home.name}/ipython")
        self.manager = KernelManager(kernel_name="python3")
        self.manager.connection_file = f"{self.home.name}/kernel.json"
        self.manager.start_kernel(cwd=self.home.name, env=env)
        self.client = self.manager.client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=JUPYTER_SECONDS)
        except RuntimeError as e:
            self.close()
            raise BenchError(f"Jupyter does not start: {e}") from e

    def run(self, code):
        """Return: seconds, and what it printed and showed."""
        try:
            return seconds(self.execute, code)
        except queue.Empty as e:
            raise BenchError("Jupyter does not answer") from e

    def execute(self, code):
        ident = self.client.execute(code, store_history=False)
        heard, shown = [], []
        while True:
            message = self.client.get_iopub_msg(timeout=JUPYTER_SECONDS)
            if message["parent_header"].get("msg_id") != ident:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                heard.append(content["text"])
            elif kind == "display_data":
                shown.append(content["data"])
            elif kind == "error":
                raise BenchError(f"Jupyter: {content['evalue']}")
            elif kind == "status" and content["execution_state"] == "idle":
                break
        self.client.get_shell_msg(timeout=JUPYTER_SECONDS)
        return "".join(heard), shown

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.home.cleanup()


def png_of(shown):
    """The bytes of a figure that Jupyter showed."""
    for bundle in shown:
        if "image/png" in bundle:
            return base64.b64decode(bundle["image/png"])
    raise BenchError("Jupyter showed no figure")


def image_directory(name):
    """Where the daemon finds an image as well; see cupola-vmd(8)."""
    source = pathlib.Path(__file__).resolve().parents[1]
    places = [os.environ.get("CUPOLA_IMAGES"), "/var/lib/cupola/images",
              source / "images/out"]
    for place in places:
        if place and (pathlib.Path(place) / name / "manifest.json").exists():
            return (pathlib.Path(place) / name).resolve()
    raise BenchError(f"there is no image {name}: run images/build {name}")
