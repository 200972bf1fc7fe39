# SPDX-License-Identifier: Apache-2.0
"""Files into a guest and out again, beside the same frames sent by hand.

The floor is the guest protocol's own PUT and GET over the same kind of vsock
device, driven from memory by guest_client.py: no HTTP, no store, no record.
"""

import hashlib
import os
import time

from cupola import Daemon
from measure import Row, in_turns, seconds
from plain_machine import BOOT_SECONDS, Machine
from sides import BenchError, Session, image_directory

IMAGE = "python-minimal"
MIB = 1 << 20
FILES = 200
BOUNDARY = "cupolabench"
# A new name changes nothing of a file but its ctime: it is fetched whole.
RENAME = "import os; os.rename('/mnt/data/in.bin', '/mnt/data/out.bin')"
MANY = ("import os\n"
        f"for i in range({FILES}):\n"
        "    open(f'/mnt/data/f{i}', 'w').write('x' * 1000)")


def upload(session, data):
    head = (f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\";"
            f" filename=\"in.bin\"\r\n\r\n").encode()
    body = head + data + f"\r\n--{BOUNDARY}--\r\n".encode()
    headers = dict(session.head)
    headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
    return seconds(session.fetch, "POST", f"{session.path}/files", body,
                   headers)[0]


def download(session, data):
    """The guest gives it away, and the client takes it."""
    took, done = session.run(RENAME)
    file, = [f for f in done["artifacts"] if f["path"].endswith("/out.bin")]
    more, got = seconds(session.fetch, "GET",
                        f"{session.path}/files/{file['id']}/content")
    if hashlib.sha256(got).digest() != hashlib.sha256(data).digest():
        raise BenchError("what came out is not what went in")
    return took + more


def put(guest, data):
    took, status = seconds(guest.put, "in.bin", data)
    if status != "ok":
        raise BenchError(f"PUT by hand: {status}")
    return took


def get(guest, size):
    took, (status, data) = seconds(guest.get, "in.bin")
    if status != "ok" or len(data) != size:
        raise BenchError(f"GET by hand: {status}")
    return took


def large(session, guest, options):
    data = os.urandom(options.of(100, 10) * MIB)

    def ours():
        return upload(session, data), download(session, data)

    def theirs():
        return put(guest, data), get(guest, len(data))

    sides = in_turns(options.of(3, 1), ours, theirs)
    return [rate(what, len(data), by_hand,
                 [t[i] for t in sides[0]], [t[i] for t in sides[1]])
            for i, (what, by_hand) in enumerate((("upload", "PUT"),
                                                 ("download", "GET")))]


def rate(what, size, by_hand, ours, theirs):
    return Row(f"{what} of {size // MIB} MiB", "MiB/s",
               [size / MIB / t for t in ours],
               f"{by_hand} by hand over the same vsock",
               [size / MIB / t for t in theirs], target=0.9,
               more_is_better=True)


def small(session, guest, options):
    """Files that one execution makes, all with the host when it is answered."""
    def ours():
        took, done = session.run(MANY)
        if len(done["artifacts"]) != FILES:
            raise BenchError(f"{len(done['artifacts'])} of {FILES} files came")
        return took

    def theirs():
        start = time.perf_counter()
        guest.run(MANY)
        names = [f"f{i}" for i in range(FILES)]
        if any(status != "ok" for status, _ in guest.get_each(names)):
            raise BenchError("a file does not come by hand")
        return time.perf_counter() - start

    sides = in_turns(options.of(5, 1), ours, theirs)
    return Row(f"execution that makes {FILES} files", "s", sides[0],
               "the same, all by GET by hand", sides[1])


def run(options):
    daemon = Daemon(image=IMAGE, settings={
        "pool.default.max_artifact": "256M",
        "tenant.requests_per_minute": "0"})
    try:
        daemon.start()
        session = Session(daemon)
        session.run("1")
        with Machine(image_directory(IMAGE), memory_mib=512) as machine:
            machine.start()
            machine.await_guest(time.monotonic() + BOOT_SECONDS)
            guest = machine.guest()
            guest.connect(emulated=True, wall_usec=time.time_ns() // 1000)
            rows = large(session, guest, options)
            rows.append(small(session, guest, options))
        session.delete()
        return rows, []
    finally:
        daemon.remove()
