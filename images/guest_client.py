# SPDX-License-Identifier: Apache-2.0
"""Speaks the guest protocol, as far as one execution needs it.

The protocol is defined in src/wire/wire.h and told in doc/guest-protocol.md;
this is a second implementation, with which a new image is tried before any
daemon boots it. It trusts the guest, as it may: nobody's code has run there.
"""

import hashlib
import hmac
import os
import socket
import struct
import time

PORT = 1023
VERSION = 1

OPEN, CONFIGURE, EXEC, INPUT, SHUTDOWN = 0x0101, 0x0102, 0x0104, 0x0105, 0x010C
HELLO, CONFIGURED, READY = 0x0201, 0x0202, 0x0203
OUTPUT, DISPLAY, ERROR, CHANGED, DONE = 0x0205, 0x0206, 0x0207, 0x0208, 0x0209

CONTROL = 1
EMULATED = 1
STAGES = ("agent", "modules", "nonce", "root", "listen", "imported",
          "configured", "kernel")
HEADER = struct.Struct("<IHHI")
CHUNK = 128 * 1024


class GuestError(Exception):
    """The guest did not answer as the protocol says."""


class Result:
    """What one execution said."""

    def __init__(self):
        self.stdout = b""
        self.stderr = b""
        self.traceback = ""
        self.changed = []
        self.status = None


def short_bytes(data):
    return struct.pack("<B", len(data)) + data


class Guest:
    """One control connection to a booted guest."""

    def __init__(self, path, nonce, deadline):
        """Dial through a vhost-device-vsock socket until a proof succeeds.

        What is asked before the guest's driver is there may be lost, so a try
        that hears nothing is given up soon.
        """
        self.calls = 0
        while True:
            try:
                self.sock = self._dial(path)
                self._prove(nonce)
                self.sock.settimeout(max(1, deadline - time.monotonic()))
                return
            except (OSError, EOFError):
                if time.monotonic() > deadline:
                    raise GuestError("the agent does not listen") from None
                time.sleep(0.02)

    @staticmethod
    def _dial(path):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(2)
        sock.connect(path)
        sock.sendall(b"CONNECT %d\n" % PORT)
        answer = b""
        while not answer.endswith(b"\n"):
            byte = sock.recv(1)
            if not byte:
                raise EOFError
            answer += byte
        if not answer.startswith(b"OK "):
            raise EOFError
        return sock

    def _read(self, size):
        data = b""
        while len(data) < size:
            piece = self.sock.recv(size - len(data))
            if not piece:
                raise EOFError("the guest closed the connection")
            data += piece
        return data

    def _prove(self, nonce):
        def proof(side):
            return hmac.new(nonce, side + guest + host, hashlib.sha256).digest()

        guest = self._read(32)
        host = os.urandom(32)
        self.sock.sendall(host + proof(b"host"))
        if not hmac.compare_digest(self._read(32), proof(b"guest")):
            raise GuestError("the guest does not know its nonce")

    def send(self, kind, call, payload=b""):
        self.sock.sendall(HEADER.pack(len(payload), kind, 0, call) + payload)

    def receive(self):
        length, kind, _, call = HEADER.unpack(self._read(HEADER.size))
        return kind, call, self._read(length)

    def expect(self, wanted):
        kind, _, payload = self.receive()
        if kind != wanted:
            raise GuestError(f"frame {kind:#06x} came for {wanted:#06x}")
        return payload

    def begin(self, memory_bytes, pids):
        """Make it a session; return its boot trace, stage to seconds."""
        self.send(OPEN, 0, struct.pack("<HB", VERSION, CONTROL))
        version, = struct.unpack_from("<H", self.expect(HELLO))
        if version != VERSION:
            raise GuestError(f"the agent speaks version {version}")
        self.send(CONFIGURE, 0,
                  struct.pack("<BQQI", EMULATED, time.time_ns() // 1000,
                              memory_bytes, pids)
                  + short_bytes(b"smoke") + os.urandom(64))
        self.expect(CONFIGURED)
        ready = self.expect(READY)
        stages = struct.unpack(f"<{len(STAGES)}Q", ready[4:])
        return {name: usec / 1e6 for name, usec in zip(STAGES, stages)}

    def execute(self, source, seconds):
        """Run source and return its Result."""
        self.calls += 1
        source = source.encode()
        self.send(EXEC, self.calls,
                  struct.pack("<BQIIQQII", 0, seconds * 1000000,
                              256 * 1024, 256 * 1024, 0, 64 << 20,
                              len(source), 0)
                  + short_bytes(b"exec_smoke%d" % self.calls))
        for at in range(0, len(source), CHUNK):
            self.send(INPUT, self.calls, source[at:at + CHUNK])
        result = Result()
        while result.status is None:
            self._collect(result, *self.receive())
        return result

    def _collect(self, result, kind, call, payload):
        if call != self.calls:
            raise GuestError(f"frame {kind:#06x} is about call {call}")
        if kind == OUTPUT:
            if payload[0] == 0:
                result.stdout += payload[9:]
            else:
                result.stderr += payload[9:]
        elif kind == ERROR:
            result.traceback = traceback_text(payload)
        elif kind == CHANGED:
            result.changed += changed_names(payload)
        elif kind == DONE:
            result.status = payload[0]
        elif kind != DISPLAY:
            raise GuestError(f"frame {kind:#06x} within an execution")

    def shut_down(self):
        self.send(SHUTDOWN, 0)


def traceback_text(payload):
    """The last part of an ERROR frame, after the exception's name and value."""
    at = 2 + struct.unpack_from("<H", payload)[0]
    at += 4 + struct.unpack_from("<I", payload, at)[0]
    return payload[at + 4:].decode("utf-8", "replace")


def changed_names(payload):
    """The names in a CHANGED frame."""
    names = []
    count, = struct.unpack_from("<H", payload)
    at = 2
    for _ in range(count):
        _, _, length = struct.unpack_from("<BQH", payload, at)
        at += 11
        names.append(payload[at:at + length].decode())
        at += length
    return names
