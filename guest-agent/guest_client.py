# SPDX-License-Identifier: Apache-2.0
"""The host's side of doc/guest-protocol.md: for tests, and to try new images.

Written from the document and not from src/wire, so that the two can disagree.
"""

import hashlib
import hmac
import os
import socket
import struct

VERSION = 1
CONTROL, GET, PUT = 1, 2, 3
CHUNK = 128 * 1024

TYPES = {
    "OPEN": 0x0101, "CONFIGURE": 0x0102, "PING": 0x0103, "EXEC": 0x0104,
    "INPUT": 0x0105, "RELEASE": 0x0106, "ATTACH": 0x0107, "INTERRUPT": 0x0108,
    "STAT": 0x0109, "QUIESCE": 0x010A, "DELETE": 0x010B, "SHUTDOWN": 0x010C,
    "HELLO": 0x0201, "CONFIGURED": 0x0202, "READY": 0x0203, "PONG": 0x0204,
    "OUTPUT": 0x0205, "DISPLAY": 0x0206, "ERROR": 0x0207, "CHANGED": 0x0208,
    "DONE": 0x0209, "REFUSED": 0x020A, "STATUS": 0x020B, "QUIESCED": 0x020C,
    "RESULT": 0x020D, "GET": 0x0301, "FILE": 0x0302, "PUT": 0x0303,
    "DATA": 0x0304, "END": 0x0305,
}
NAMES = {number: name for name, number in TYPES.items()}
STATUSES = ("ok", "error", "timeout", "interrupted", "output_limit", "oom",
            "kernel_died")
FILE_STATUSES = ("ok", "not_found", "not_regular", "bad_path", "denied",
                 "no_space", "mismatch", "changed", "busy", "io", "grown")
SKIPS = ("none", "symlink", "special", "denied", "too_deep", "too_long",
         "too_many")
REFUSALS = ("unknown", "busy", "full", "twice", "memory")
STAGES = ("agent", "modules", "nonce", "root", "listen", "imported",
          "configured", "kernel")


class Closed(Exception):
    """The guest closed the connection."""


class Connection:
    """A connection after the mutual proof."""

    def __init__(self, dial, nonce, purpose, version=VERSION, patience=60):
        self.socket = dial()
        self.socket.settimeout(patience)
        guest = self.read(32)
        host = os.urandom(32)
        proof = hmac.digest(nonce, b"host" + guest + host, "sha256")
        self.socket.sendall(host + proof)
        expected = hmac.digest(nonce, b"guest" + guest + host, "sha256")
        if self.read(32) != expected:
            raise Closed("the guest does not know the nonce")
        self.say("OPEN", 0, struct.pack("<HB", version, purpose))

    def close(self):
        self.socket.close()

    def read(self, size):
        data = b""
        while len(data) < size:
            try:
                more = self.socket.recv(size - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                raise Closed
            data += more
        return data

    def say(self, name, call=0, payload=b""):
        head = struct.pack("<IHHI", len(payload), TYPES[name], 0, call)
        self.socket.sendall(head + payload)

    def hear(self):
        """Next frame: its name, call and payload."""
        size, number, zero, call = struct.unpack("<IHHI", self.read(12))
        assert size <= 256 * 1024 and zero == 0
        return NAMES[number], call, self.read(size)


class Execution:
    """What a guest told about one execution."""

    def __init__(self, call):
        self.call = call
        self.streams = [b"", b""]
        self.position = [0, 0, 0]
        self.displays = []
        self.error = None
        self.changed = []
        self.done = None

    @property
    def stdout(self):
        return self.streams[0].decode(errors="replace")

    @property
    def stderr(self):
        return self.streams[1].decode(errors="replace")

    @property
    def status(self):
        return self.done["status"]

    @property
    def names(self):
        return [name for name, skip, _ in self.changed if skip == "none"]

    def take(self, name, payload):
        getattr(self, "got_" + name.lower())(payload)

    def got_output(self, payload):
        stream, offset = struct.unpack_from("<BQ", payload)
        data = payload[9:]
        assert data and offset >= self.position[stream]
        self.streams[stream] += data
        self.position[stream] = offset + len(data)

    def got_display(self, payload):
        flags, item, bundle, size = struct.unpack_from("<BIIB", payload)
        mime = payload[10:10 + size].decode()
        assert item >= self.position[2]
        self.position[2] = item + 1
        self.displays.append((bundle, mime, payload[10 + size:], flags))

    def got_error(self, payload):
        fields = []
        for width in "HII":
            size, = struct.unpack_from("<" + width, payload)
            payload = payload[struct.calcsize("<" + width):]
            fields.append(payload[:size].decode())
            payload = payload[size:]
        self.error = tuple(fields)

    def got_changed(self, payload):
        self.changed += parse_changed(payload)

    def got_done(self, payload):
        keys = ("status flags signal exit_code execution_count kernel_epoch "
                "wall_usec cpu_usec memory_peak_bytes total0 total1 total2 "
                "omitted0 omitted1 omitted2 spilled0 spilled1 changed "
                "unlisted").split()
        done = dict(zip(keys, struct.unpack("<BBBBII3Q3Q3Q2QII", payload)))
        done["status"] = STATUSES[done["status"]]
        done["state_lost"] = bool(done["flags"] & 1)
        assert done["changed"] == len(self.changed)
        self.done = done


def parse_changed(payload):
    count, = struct.unpack_from("<H", payload)
    at, entries = 2, []
    for _ in range(count):
        skip, size, length = struct.unpack_from("<BQH", payload, at)
        at += 11
        entries.append((payload[at:at + length].decode(), SKIPS[skip], size))
        at += length
    assert at == len(payload)
    return entries


class Guest:
    """A guest, spoken to over connections that dial() makes."""

    def __init__(self, dial, nonce, patience=60):
        self.dial, self.nonce, self.patience = dial, nonce, patience
        self.control = None
        self.call = 0
        self.executions = {}
        self.hello = self.ready = None

    def connect(self, configure=True, wait=True, **limits):
        """Open the control connection, taking the place of one before."""
        if self.control:
            self.control.close()
        self.control = Connection(self.dial, self.nonce, CONTROL,
                                  patience=self.patience)
        self.hello = parse_hello(self.expect("HELLO")[1])
        self.ready = None
        if configure and not self.hello["configured"]:
            self.configure(**limits)
        if configure and wait:
            self.wait_ready()

    def configure(self, emulated=False, wall_usec=1_800_000_000_000_000,
                  memory=0, pids=512, hostname=b"test"):
        self.control.say("CONFIGURE", 0, struct.pack(
            "<BQQIB", emulated, wall_usec, memory, pids, len(hostname)) +
            hostname + os.urandom(64))
        self.expect("CONFIGURED")

    def wait_ready(self):
        while self.ready is None:
            self.pump()
        return self.ready

    def pump(self):
        """Take one frame that nobody asked for."""
        name, call, payload = self.control.hear()
        if name == "READY":
            epoch, *stages = struct.unpack("<I8Q", payload)
            self.ready = {"epoch": epoch, **dict(zip(STAGES, stages))}
        elif name == "REFUSED":
            raise Refused(REFUSALS[payload[0]])
        elif call in self.executions:
            self.executions[call].take(name, payload)
        else:
            return name, call, payload
        return None

    def expect(self, name):
        """Wait for a frame of this name. Return: call and payload"""
        while True:
            frame = self.pump()
            if frame:
                assert frame[0] == name, frame
                return frame[1:]

    def ask(self, name, answer, payload=b""):
        self.call += 1
        self.control.say(name, self.call, payload)
        call, payload = self.expect(answer)
        assert call == self.call
        return payload

    def start(self, source, stdin=b"", timeout=60.0, spill=True, head=None,
              tail=None, output_max=1 << 30, exec_id=None, trace=b""):
        if isinstance(source, str):
            source = source.encode()
        self.call += 1
        exec_id = exec_id or b"exec_%d" % self.call
        head = 768 * 1024 if head is None else head
        tail = 256 * 1024 if tail is None else tail
        flags = spill | (2 if trace else 0)
        payload = struct.pack("<BQIIQQIIB", flags, int(timeout * 1e6), head,
                              tail, 64 << 20, output_max, len(source),
                              len(stdin), len(exec_id)) + exec_id + trace
        execution = self.executions[self.call] = Execution(self.call)
        self.control.say("EXEC", self.call, payload)
        data = source + stdin
        for at in range(0, len(data), CHUNK):
            self.control.say("INPUT", self.call, data[at:at + CHUNK])
        return execution

    def wait(self, execution, release=True):
        while execution.done is None:
            self.pump()
        if release:
            self.control.say("RELEASE", execution.call)
        return execution

    def run(self, source, **options):
        return self.wait(self.start(source, **options))

    def attach(self, execution):
        execution.changed = []
        self.executions[execution.call] = execution
        self.control.say("ATTACH", execution.call,
                         struct.pack("<3Q", *execution.position))

    def interrupt(self, execution):
        self.control.say("INTERRUPT", execution.call)

    def ping(self, sequence):
        self.control.say("PING", 0, struct.pack("<I", sequence))
        return struct.unpack("<I", self.expect("PONG")[1])[0]

    def stat(self):
        keys = ("memory_total memory_used cpu_usec disk_total disk_free "
                "uptime processes epoch").split()
        return dict(zip(keys, struct.unpack("<6Q2I", self.ask("STAT",
                                                              "STATUS"))))

    def delete(self, path):
        return FILE_STATUSES[self.ask("DELETE", "RESULT", path.encode())[0]]

    def quiesce(self):
        self.call += 1
        self.control.say("QUIESCE", self.call)
        changed = []
        while True:
            name, call, payload = self.control.hear()
            assert call == self.call
            if name == "QUIESCED":
                return changed
            assert name == "CHANGED"
            changed += parse_changed(payload)

    def get(self, path):
        """A file's status and content."""
        return next(self.get_each([path]))

    def get_each(self, paths):
        """The same of several, over one connection."""
        link = Connection(self.dial, self.nonce, GET)
        try:
            for path in paths:
                yield self.get_over(link, path)
        finally:
            link.close()

    @staticmethod
    def get_over(link, path):
        link.say("GET", 0, path.encode())
        name, _, payload = link.hear()
        assert name == "FILE"
        status, size = struct.unpack("<BQ", payload)
        if status:
            return FILE_STATUSES[status], None
        data = []
        while True:
            name, _, payload = link.hear()
            if name == "END":
                break
            assert name == "DATA"
            data.append(payload)
        data = b"".join(data)
        if FILE_STATUSES[payload[0]] in ("ok", "grown"):
            assert len(data) == size
            assert payload[1:] == hashlib.sha256(data).digest()
        return FILE_STATUSES[payload[0]], data

    def put(self, path, data, mode=0o644, digest=None, size=None):
        """Write a file. Return: status"""
        link = Connection(self.dial, self.nonce, PUT)
        digest = digest or hashlib.sha256(data).digest()
        size = len(data) if size is None else size
        link.say("PUT", 0, struct.pack("<IQ", mode, size) + digest +
                 path.encode())
        for at in range(0, len(data), CHUNK):
            link.say("DATA", 0, data[at:at + CHUNK])
        name, _, payload = link.hear()
        assert name == "END"
        link.close()
        return FILE_STATUSES[payload[0]]


class Refused(Exception):
    """An EXEC or ATTACH was refused."""


def parse_hello(payload):
    version, flags, size = struct.unpack_from("<HBB", payload)
    at = 4 + size
    build = payload[4:at].decode()
    epoch, count = struct.unpack_from("<IB", payload, at)
    at += 5
    executions = []
    for _ in range(count):
        call, finished, size = struct.unpack_from("<IBB", payload, at)
        at += 6
        executions.append((call, bool(finished), payload[at:at + size]))
        at += size
    assert at == len(payload)
    return {"version": version, "configured": bool(flags & 1), "build": build,
            "epoch": epoch, "executions": executions}


def unix_dialler(path):
    def dial():
        link = socket.socket(socket.AF_UNIX)
        link.connect(path)
        return link
    return dial


def vsock_dialler(path, port=1023):
    """Through vhost-device-vsock's socket."""
    def dial():
        link = unix_dialler(path)()
        link.sendall(b"CONNECT %d\n" % port)
        answer = b""
        while not answer.endswith(b"\n"):
            more = link.recv(1)
            if not more:
                raise Closed
            answer += more
        if not answer.startswith(b"OK"):
            raise Closed(answer)
        return link
    return dial
