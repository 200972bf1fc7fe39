"""The host in the box as its administrator has it: commands, units, the API."""

import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import time

# What a test returns to have the host start anew before the next: in order, or as
# if the power had failed.
REBOOT = "reboot"
CRASH = "crash"
SOCKET = "/run/cupola/cupola.sock"
IMAGES = pathlib.Path("/var/lib/cupola/images")
VMS = pathlib.Path("/var/lib/cupola/vmd/vm")

# Nested emulation, on a machine that may have more to do: what hardware does in
# a second takes ten, and has taken a hundred. Long enough to tell hanging from
# waiting, no more.
PATIENCE = 900

state = {}


class Broken(AssertionError):
    pass


def run(*argv, check=True, timeout=PATIENCE, **kwargs):
    done = subprocess.run(argv, capture_output=True, text=True,
                          timeout=timeout, **kwargs)
    if check and done.returncode != 0:
        raise Broken(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def until(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Broken(f"waited {seconds} s for {what}")
        time.sleep(0.3)


def say(text):
    """For whoever reads the results."""
    print(f"tap: # {text}", flush=True)


def figure(name, value):
    say(f"{name}: {value:.1f}")


def circumstances():
    """What someone who reads of a failure would ask for first."""
    journal = run("journalctl", "--no-pager", "-q", "-n", "25", "-o",
                  "short-monotonic", "-u", "cupola*", "-u", "libvirtd",
                  check=False)
    kernel = run("journalctl", "--no-pager", "-q", "-n", "50", "-k", "-g",
                 "DENIED|oom|segfault", check=False)
    # libvirt's helper may not look into images, and need not.
    lines = [line for line in kernel.stdout.splitlines(keepends=True)
             if "virt-aa-helper" not in line]
    return journal.stdout + "".join(lines[-10:])


# ---------------------------------------------------------------- systemd

def systemctl(*argv, **kwargs):
    return run("systemctl", *argv, **kwargs)


def property_of(unit, name):
    return systemctl("show", "--value", "-p", name, unit).stdout.strip()


def main_pid(unit):
    return int(property_of(unit, "MainPID"))


def is_active(unit):
    return property_of(unit, "ActiveState") == "active"


# -------------------------------------------------------------------- API

class Connection(http.client.HTTPConnection):
    def __init__(self, timeout):
        super().__init__("localhost", timeout=timeout)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def call(method, path, body=None, timeout=PATIENCE):
    """(status, what the answer's JSON says)"""
    connection = Connection(timeout)
    headers = {}
    if body is not None:
        body = json.dumps(body)
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    try:
        return answer.status, json.loads(text) if text else None
    except ValueError:
        return answer.status, text.decode()


def api(method, path, body=None, **kwargs):
    status, answer = call(method, path, body, **kwargs)
    if status // 100 != 2:
        raise Broken(f"{method} {path}: {status} {answer}")
    return answer


def is_ready():
    try:
        return call("GET", "/readyz", timeout=5)[0] == 200
    except OSError:
        return False


def await_ready():
    until(is_ready, "the daemon to be ready")


def ctl(*argv, **kwargs):
    return run("cupolactl", *argv, **kwargs)


def differences():
    return api("GET", "/admin/v1/audit")["differences"]


class Session:
    def __init__(self, name="test", ident=None):
        self.id = ident or api("POST", "/v1/containers", {"name": name})["id"]

    def execute(self, code, **fields):
        return api("POST", f"/v1/containers/{self.id}/exec",
                   {"code": code, **fields})

    def output(self, code):
        result = self.execute(code)
        if result["status"] != "ok":
            raise Broken(f"{code!r}: {result}")
        return result["stdout"]

    def info(self):
        return api("GET", f"/v1/containers/{self.id}")

    def delete(self):
        api("DELETE", f"/v1/containers/{self.id}")


# ---------------------------------------------------------------- the VMs

def qemus():
    """{name of the domain: pid}"""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        name = re.search(r"guest=(vm_\w+),", " ".join(words))
        if "qemu-system" in words[0] and name:
            found[name[1]] = int(entry.name)
    return found


def user_of(pid):
    return os.stat(f"/proc/{pid}").st_uid


def image_state():
    """Owner, mode and digest of every file of the images."""
    found = {}
    for path in sorted(IMAGES.rglob("*")):
        if path.is_file() and not path.is_symlink():
            st = path.stat()
            digest = run("sha256sum", str(path)).stdout.split()[0]
            found[str(path)] = [st.st_uid, st.st_gid, oct(st.st_mode), digest]
    return found
