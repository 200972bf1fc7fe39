"""What others do to VMs, to the hypervisor process and to the daemon."""

import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest

from cupola import ApiError, wait_until

# What a QEMU may hold open, besides pipes, sockets and what the kernel makes.
QEMU_FILES = re.compile(
    r"(/dev/null|/dev/kvm|/dev/vhost-vsock|/dev/urandom|/memfd:.*"
    r"|/(?:[^/]+/)*images?/.*|{dir}/vm/.*|{dir}/libvirt/.*|anon_inode:.*"
    r"|socket:.*|pipe:.*|/proc/.*)( \(deleted\))?$".replace("{dir}", r"\S+"))


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":", 1) for line in lines)


def open_files(pid):
    found = []
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(entry))
        except FileNotFoundError:
            continue
    return found


def in_thread(call):
    """Run a call; its result comes in a list when the thread has ended."""
    result = []
    thread = threading.Thread(target=lambda: result.append(call()))
    thread.start()
    return thread, result


def check_confinement(d, qemu):
    """What a QEMU is, has open and may ask the kernel for."""
    status = status_of(qemu)
    assert all(int(uid) for uid in status["Uid"].split()), status["Uid"]
    assert int(status["CapEff"], 16) == 0
    assert status["Seccomp"].strip() == "2"
    argv = pathlib.Path(f"/proc/{qemu}/cmdline").read_bytes().decode().split("\0")
    sandbox = argv[argv.index("-sandbox") + 1]
    assert sandbox == ("on,obsolete=deny,elevateprivileges=deny,"
                       "spawn=deny,resourcecontrol=deny")
    assert "-nic" not in argv and "-netdev" not in argv
    strange = [f for f in open_files(qemu) if not QEMU_FILES.match(f)]
    assert strange == []
    # Nothing of the daemon's: neither its ledger nor its clients' sockets.
    assert not [f for f in open_files(qemu)
                if "db.sqlite" in f or "blobs" in f or "api-key" in f]
    own = set(open_files(d.pid)) & set(open_files(qemu))
    assert not [f for f in own if f.startswith("socket:")], own


def test_frozen_and_ended_from_outside(fresh_daemon):
    d = fresh_daemon()
    box, other = d.container(name="box"), d.container(name="other")
    box.run("x = 1")
    other.run("x = 2")
    qemus = {box.id: None, other.id: None}
    for ident in qemus:
        vm = d.admin("GET", f"/sessions/{ident}")["vm"]["id"]
        qemus[ident], = [pid for pid in d.qemus() if vm in
                         pathlib.Path(f"/proc/{pid}/cmdline").read_text()]
        check_confinement(d, qemus[ident])

    # A hypervisor process that hangs holds up nobody who has a VM.
    vmd = d.vmd_pid()
    os.kill(vmd, signal.SIGSTOP)
    try:
        late = d.container(name="late")
        begun = time.monotonic()
        assert box.get()["status"] == "running"
        assert time.monotonic() - begun < 2
        assert box.run("print(x)")["stdout"] == "1\n"
        late.delete()
    finally:
        os.kill(vmd, signal.SIGCONT)
    assert other.run("print(x)")["stdout"] == "2\n"
    wait_until(lambda: len(d.qemus()) == 2, 120, "the late VM to be gone")

    # A VM that hangs is given up, and its end needs nothing of it.
    thread, ended = in_thread(lambda: box.run("import time; time.sleep(100)",
                                              timeout_s=200))
    wait_until(lambda: box.get()["session"]["state"] == "executing", 60,
               "the execution")
    os.kill(qemus[box.id], signal.SIGSTOP)
    thread.join(120)
    assert ended and ended[0]["status"] == "session_lost", ended
    assert ended[0]["error"]["name"] == "guest_unresponsive"
    assert box.wait_ended()["ended"]["reason"] == "guest_unresponsive"
    wait_until(lambda: d.qemus() == [qemus[other.id]], 30, "the VM's end")

    # Deleted while it hangs: the answer does not wait for it.
    os.kill(qemus[other.id], signal.SIGSTOP)
    begun = time.monotonic()
    other.delete()
    assert time.monotonic() - begun < 10
    wait_until(lambda: not d.qemus() and not d.backends(), 60, "an empty host")
    wait_until(lambda: d.audit() == [], 30, "a clean audit")


def test_the_end_lets_code_finish_and_no_longer(fresh_daemon):
    d = fresh_daemon(settings={"session.drain": "60"})
    short, endless = d.container(name="short"), d.container(name="endless")
    for box in (short, endless):
        box.run("import time")
    one, got = in_thread(lambda: short.run(
        "time.sleep(5); open('/mnt/data/kept', 'w').write('x'); print('done')",
        timeout_s=100))
    two, lost = in_thread(lambda: endless.run("while True: time.sleep(1)",
                                              timeout_s=200))
    for box in (short, endless):
        wait_until(lambda b=box: b.get()["session"]["state"] == "executing",
                   60, "the executions")
    d.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "shutting down" in d.http.get(
        d.url + "/readyz", timeout=5).text, 10, "/readyz to say so")
    assert d.http.get(d.url + "/readyz", timeout=5).status_code == 503
    with pytest.raises(ApiError) as e:
        d.container(name="new")
    assert e.value.status == 503 and int(e.value.headers["Retry-After"]) > 0
    one.join(60)
    assert got and got[0]["status"] == "ok" and got[0]["stdout"] == "done\n"
    assert [a["path"] for a in got[0]["artifacts"]] == ["/mnt/data/kept"]
    assert not lost and d.process.poll() is None

    # Asked again, it waits no longer.
    d.process.send_signal(signal.SIGTERM)
    two.join(60)
    assert lost and lost[0]["status"] == "session_lost", lost
    assert lost[0]["error"]["name"] == "drained"
    assert d.process.wait(90) == 0, d.log_text()[-4000:]
    assert not d.qemus() and not d.backends()


def test_what_a_crash_leaves_of_a_vm_goes(fresh_daemon):
    d = fresh_daemon()
    box, other = d.container(name="box"), d.container(name="other")
    box.run("x = 1")
    other.run("x = 2")
    vm = d.admin("GET", f"/sessions/{box.id}")["vm"]["id"]
    qemu, = [pid for pid in d.qemus() if vm in
             pathlib.Path(f"/proc/{pid}/cmdline").read_text()]
    backend, = [pid for pid in d.backends() if vm in
                pathlib.Path(f"/proc/{pid}/cmdline").read_text()]
    # Nobody is there to see the VM die; its vsock daemon would serve the next.
    for pid in (d.process.pid, d.vmd_pid(), qemu):
        os.kill(pid, signal.SIGKILL)
    d.process.wait()
    assert backend in d.backends()
    assert {"disk", "record", "vhost", "vsock"} < {
        path.name for path in (d.dir / "vm" / vm).iterdir()}
    d.start()
    wait_until(lambda: backend not in d.backends(), 60, "its vsock daemon's end")
    wait_until(lambda: not (d.dir / "vm" / vm).exists(), 60, "its directory")
    assert box.wait_ended()["ended"]["reason"] == "vm_crashed"
    wait_until(lambda: d.audit() == [], 30, "a clean audit")
    assert other.run("print(x)")["stdout"] == "2\n"


@pytest.fixture
def small_disk(fresh_daemon):
    """A daemon whose directory has room for so many megabytes."""
    mounted = []

    def make(megabytes, **settings):
        d = fresh_daemon(start=False, settings=settings)
        subprocess.run(["mount", "-t", "tmpfs", "-o",
                        f"size={megabytes}m,mode=755", "tmpfs", str(d.dir)],
                       check=True)
        mounted.append(d)
        return d.start()

    yield make
    for d in mounted:
        d.stop()
        subprocess.run(["umount", "-l", str(d.dir)], check=True)


def test_a_full_host_ends_the_session_that_filled_it(small_disk):
    d = small_disk(400, **{"host.disk_reserve": "64M"})
    box = d.container(name="greedy")
    done = box.run("with open('/tmp/fill', 'wb', 0) as f:\n"
                   "    for i in range(600):\n"
                   "        f.write(b'x' * (1 << 20))\n", timeout_s=200)
    assert done["status"] in ("session_lost", "error"), done
    if done["status"] == "session_lost":
        assert done["error"]["name"] == "host_storage_full", done
    else:
        # What the host could not keep was an error in the guest.
        assert done["error"]["name"] == "OSError", done
    # Whoever comes is told the numbers, not given a VM that cannot live.
    wait_until(lambda: d.http.get(d.url + "/healthz", timeout=5).ok, 5, "life")
    if box.get()["status"] == "running":
        with pytest.raises(ApiError) as e:
            d.container(name="next")
        assert e.value.status == 507 and e.value.code == "host_storage_full"
        assert "64 MiB" in e.value.message
        box.delete()
    wait_until(lambda: not d.qemus(), 60, "the VM to end")
    d.container(name="again").run("print(1)")
    wait_until(lambda: d.audit() == [], 30, "a clean audit")
