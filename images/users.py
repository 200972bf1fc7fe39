# SPDX-License-Identifier: Apache-2.0
"""Who uses an image: pools, sessions, and VMs that nobody's session has.

That somebody does is seen on this host itself, by locks and open files, so it
holds whether a daemon answers or not. What they are called the daemon tells, on
its Unix socket; if it does not, they are processes.
"""

import http.client
import json
import os
import pathlib
import re
import socket

SOCKET = "/run/cupola/cupola.sock"
ANSWER_SECONDS = 5
ANSWER_MAX = 16 << 20
NAMED_MAX = 10          # of sessions: there may be hundreds
WORD = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Daemon:
    """What one says of its pools and sessions; nothing, if it is silent.

    Anybody may have a process that looks as if it had a daemon, so what is said
    is checked before it is printed.
    """

    def __init__(self, path):
        self.path = path
        self.pools = [(image["image"], pool)
                      for image in self.ask("images", "images")
                      for pool in image["pools"] if WORD.fullmatch(pool)]
        self.sessions = [(one["session"]["image"], one["id"], one["vm"])
                         for one in self.ask("sessions", "data")
                         if WORD.fullmatch(one["id"])]

    def ask(self, what, member):
        connection = http.client.HTTPConnection("localhost")
        try:
            connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.sock.settimeout(ANSWER_SECONDS)
            connection.sock.connect(str(self.path))
            connection.request("GET", f"/admin/v1/{what}")
            return json.loads(connection.getresponse().read(ANSWER_MAX))[member]
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            return []
        finally:
            connection.close()


def ask_daemon(path):
    try:
        return Daemon(path)
    except (TypeError, KeyError, AttributeError, RecursionError):
        return Daemon("/dev/null")      # it makes no sense, so it is silent


def command_line(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return text.decode("utf-8", "replace").split("\0")


def shown(text):
    """What others chose to say, for a terminal, which it may not steer."""
    return text if text.isprintable() else ascii(text)


def vm_of(words):
    match = re.search(r"guest=(vm_\w+)", " ".join(words))
    return match and match[1]


def process_name(pid):
    text = " ".join(command_line(pid))[:100].strip()
    return f"process {pid} ({shown(text) or 'it has ended'})"


def lockers(directory):
    """Processes that hold a directory: cupola-vmd does for its pools."""
    inode = os.stat(directory).st_ino
    with open("/proc/locks", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if "FLOCK" in words and words[-3].endswith(f":{inode}"):
                yield int(words[-4])


def openers(directories):
    """Processes with a file of these open, by directory: QEMU has the root."""
    wanted = {}
    for directory in directories:
        for path in directory.iterdir():
            # By path: images share what is the same by links to one file.
            wanted[str(path.resolve())] = directory
    users = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            links = [os.readlink(f) for f in (process / "fd").iterdir()]
        except OSError:
            continue
        words = " ".join(command_line(process.name))
        for path, directory in wanted.items():
            if path in links or path in words:
                users.setdefault(directory, set()).add(int(process.name))
    return users


def usual_socket():
    return pathlib.Path(os.environ.get("CUPOLA_SOCKET") or SOCKET)


def socket_of(pid):
    """In development mode the daemon's is in cupola-vmd's directory."""
    words = command_line(pid)
    if "--socket-fd" in words and "--state" in words[:-1]:
        return pathlib.Path(words[words.index("--state") + 1]) / "cupola.sock"
    return usual_socket()


def pools_of(image, pid, daemons):
    """Each cupola-vmd locks the images of its own daemon's pools."""
    names = [f"pool '{pool}'" for of, pool in daemons[socket_of(pid)].pools
             if of == image]
    return names or [f"the pools of {process_name(pid)}"]


def words_of(image, locked_by, open_by, daemons):
    sessions = {ident: vm for daemon in daemons.values()
                for of, ident, vm in daemon.sessions if of == image}
    words = {w for pid in locked_by for w in pools_of(image, pid, daemons)}
    others = {pid: vm_of(command_line(pid)) for pid in open_by}
    words |= {f"VM {vm}" if vm else process_name(pid)
              for pid, vm in others.items() if not vm or vm not in sessions.values()}
    named = sorted(f"session '{ident}'" for ident in sessions)
    if len(named) > NAMED_MAX:
        named[NAMED_MAX:] = [f"{len(named) - NAMED_MAX} more sessions"]
    return sorted(words) + named


def users_of(images):
    """Who uses each of these, in words; nobody is missing from it.

    images: directories, each with the "NAME@sha256:…" that daemons know
    """
    open_by = openers(images)
    locked_by = {directory: set(lockers(directory)) for directory in images}
    paths = {socket_of(pid) for pid in set().union(*locked_by.values())}
    daemons = {path: ask_daemon(path) for path in paths | {usual_socket()}}
    return {directory: words_of(image, locked_by[directory],
                                open_by.get(directory, ()), daemons)
            for directory, image in images.items()}
