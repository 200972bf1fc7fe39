# SPDX-License-Identifier: Apache-2.0
"""Requests per second beside nginx, which serves the same bytes.

A look at a file (GET /v1/files/ID) and a download of 1 MiB, each with its API
key checked and its line in the log, against nginx with one worker, whose
access log is on, serving that very answer from its disk cache. Both are asked
in turns by wrk, over connections that are kept open.
"""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

from measure import Row, in_turns
from sides import BenchError, serving

CONNECTIONS = 32
UNITS = {"us": 0.001, "ms": 1, "s": 1000}

CONFIG = """
daemon off;
worker_processes 1;
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log {dir}/access.log;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    default_type application/json;
    server {{ listen 127.0.0.1:{port}; root {dir}/www; }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Nginx:
    def __init__(self, directory, files):
        www = directory / "www"
        www.mkdir()
        for name, data in files.items():
            (www / name).write_bytes(data)
        # Its worker is another user.
        for path in (directory, www):
            path.chmod(0o755)
        self.port = free_port()
        config = directory / "nginx.conf"
        config.write_text(CONFIG.format(dir=directory, port=self.port))
        self.process = subprocess.Popen(
            ["nginx", "-p", directory, "-c", config], stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        self.close()
        raise BenchError("nginx does not start")

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def wrk(url, seconds, key=None):
    """Requests per second, and the 99th percentile in ms."""
    head = ["-H", f"Authorization: Bearer {key}"] if key else []
    text = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", *head,
         url], check=True, capture_output=True, text=True).stdout
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    if bad or "Socket errors" in text:
        raise BenchError(f"{url}: not all answers were good:\n{text}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    p99, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return rate, float(p99) * UNITS[unit]


def rows_of(daemon, nginx, name, path, file, options):
    length = options.of(3, 1)
    sides = in_turns(
        options.of(5, 3),
        lambda: wrk(daemon.url + path, length, daemon.key),
        lambda: wrk(f"http://127.0.0.1:{nginx.port}/{file}", length))
    rates, p99s = ([[sample[i] for sample in side] for side in sides]
                   for i in (0, 1))
    floor = "nginx with the same bytes"
    return [Row(name, "/s", rates[0], floor, rates[1], more_is_better=True,
                target=0.5),
            # Of three seconds' tail, what else the machine did is the most.
            Row(f"{name}, p99", "ms", p99s[0], floor, p99s[1],
                judged=False)]


def run(options):
    with tempfile.TemporaryDirectory(prefix="cup-bench-") as directory, \
            serving(settings={"tenant.requests_per_minute": "0"}) as daemon:
        file = daemon.upload("big.bin", os.urandom(1 << 20))
        path = f"/v1/files/{file['id']}"
        look = daemon.ok("GET", path).content
        big = daemon.ok("GET", f"{path}/content").content
        with contextlib.closing(Nginx(pathlib.Path(directory),
                                      {"look": look, "big": big})) as nginx:
            return [*rows_of(daemon, nginx, "GET /v1/files/ID", path, "look",
                             options),
                    *rows_of(daemon, nginx, "1 MiB of content",
                             f"{path}/content", "big", options)], []
