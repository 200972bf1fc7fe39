"""The same with real VMs: QEMUs under libvirt, booted from an image.

They take what they take, which without hardware virtualisation is ten times
what a process does; so there are fewer of them, and all has more time.
"""

import os
import pathlib

from host import Host

IMAGES = "/var/lib/cupola/images"

# The words of scripted_guest_main.c, in the language of the real kernel. That
# it counts its executions is the session's own variable.
PROGRAM = '''\
begun = globals().get("begun", 0) + 1

def write_pattern(name, size, seed):
    data = bytearray(size)
    for at in range(size):
        seed = (seed * 1664525 + 1013904223) & 0xffffffff
        data[at] = seed >> 24
    with open("/mnt/data/" + name, "wb") as file:
        file.write(data)

def do(words):
    import threading, time
    for word in words:
        if word == "count":
            print(begun)
        elif word == "say":
            print(next(words))
        elif word == "sleep":
            time.sleep(int(next(words)) / 1000)
        else:
            file = next(words), int(next(words)), int(next(words))
            if word == "file":
                write_pattern(*file)
            else:
                threading.Timer(0.5, write_pattern, file).start()

do(iter({words!r}.split()))
'''


class Real(Host):
    PROGRAMS = ("cupolad", "cupola-vmd")
    SETTINGS = {
        "pool.default.image": "python-minimal",
        "pool.default.memory": "256M",
        "pool.default.ready": "2",
        "pool.default.max": "8",
        "host.refill_pressure": "100",
        "test.minute_seconds": "20",
    }
    SLOWNESS = 6
    WORKERS = 3
    CANARIES = 2
    FILE_BYTES = 30000
    TRACES = ("vm/*", "libvirt/run/qemu/vm_*", "libvirt/log/qemu/*")

    def find_images(self):
        return os.environ.get("CUPOLA_IMAGES", IMAGES)

    def adopt_orphans(self):
        """As on any host, they are left to process 1."""

    def source(self, words):
        return PROGRAM.format(words=words)

    def guests(self):
        """A QEMU's name begins with "guest=", the VM's id and a comma."""
        found = {}
        for pid, argv in self.processes().items():
            if "qemu" in pathlib.Path(argv[0]).name and "-name" in argv:
                name = argv[argv.index("-name") + 1]
                found[name.removeprefix("guest=").split(",")[0]] = pid
        return found
