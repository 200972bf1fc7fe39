"""A session in a real VM of KVM's, reached by the kernel's vsock."""

import os
import pathlib
import pwd
import re

import host
from host import run


def test_code_runs_in_a_domain_of_kvm_over_the_kernels_vsock():
    script = pathlib.Path("/run/script.py")
    script.write_text("print(sum(range(10)))\n"
                      "open('/mnt/data/out.txt', 'w').write('made')\n")
    out = pathlib.Path("/run/script.out")
    done = host.ctl("run", "--out", str(out), str(script))
    assert "45" in done.stdout, done
    assert (out / "out.txt").read_text() == "made"


def test_each_vm_has_a_user_of_its_own():
    sessions = [host.Session(f"user-{i}") for i in range(2)]
    for one in sessions:
        assert one.output("print(6 * 7)") == "42\n"
    qemus = host.qemus()
    assert len(qemus) == 2, qemus
    users = {host.user_of(pid) for pid in qemus.values()}
    assert len(users) == 2 and min(users) >= 0x70000000, users
    for name, pid in qemus.items():
        xml = run("virsh", "-c", "qemu:///system", "dumpxml", name).stdout
        assert "<domain type='kvm'" in xml and "<vsock " in xml, xml
        disk = (host.VMS / name / "disk").stat()
        assert disk.st_uid == host.user_of(pid)
        assert disk.st_mode & 0o777 == 0o600
        check_confined(name, pid, xml)
    host.state["sessions"] = [one.id for one in sessions]


def check_confined(name, pid, xml):
    """What root's libvirt adds around each QEMU."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    assert re.search(r"^CapEff:\t0+$", status, re.M), status
    assert re.search(r"^NoNewPrivs:\t1$", status, re.M), status
    assert re.search(r"^Seccomp:\t2$", status, re.M), status
    label = pathlib.Path(f"/proc/{pid}/attr/current").read_text()
    assert label.startswith("libvirt-") and "enforce" in label, label
    assert os.readlink(f"/proc/{pid}/ns/mnt") != \
        os.readlink("/proc/1/ns/mnt")
    group = pathlib.Path(f"/proc/{pid}/cgroup").read_text().strip()
    scope = pathlib.Path("/sys/fs/cgroup") / \
        group.split("::", 1)[1].split("/libvirt")[0].lstrip("/")
    limits = [p.read_text().strip() for p in scope.rglob("memory.max")] + \
        [(scope / "memory.max").read_text().strip()]
    assert str((384 + 256) << 20) in limits, (str(scope), limits)


def test_a_console_is_read():
    name = next(iter(host.qemus()))
    socket = host.VMS / name / "console"
    assert socket.stat().st_uid == pwd.getpwnam("cupola-vmd").pw_uid
    journal = run("journalctl", "-q", "--no-pager", "-u", "cupola-vmd").stdout
    assert "console cannot be read" not in journal


def anonymous_kib(unit):
    text = pathlib.Path(f"/proc/{host.main_pid(unit)}/smaps_rollup").read_text()
    return int(re.search(r"^Pss_Anon: +(\d+)", text, re.M)[1])


def test_the_daemons_grow_by_little():
    """Here libvirt has a process of its own, which is not counted."""
    units = ("cupolad", "cupola-vmd")
    before = {unit: anonymous_kib(unit) for unit in units}
    one = host.Session("third")
    assert one.output("print(6 * 7)") == "42\n"
    for unit in units:
        host.figure(f"KiB that {unit} grew by a third session",
                    anonymous_kib(unit) - before[unit])
    host.state["sessions"].append(one.id)


def test_nothing_is_left_of_a_session():
    for ident in host.state.pop("sessions"):
        host.Session(ident=ident).delete()
    host.until(lambda: not host.qemus(), "QEMU to be gone")
    host.until(lambda: not list(host.VMS.iterdir()), "directories to be gone")
    assert host.differences() == []


def test_the_doctor_proves_kvm_and_finds_nothing_bad():
    done = host.ctl("doctor", check=False)
    for line in done.stdout.splitlines():
        host.say(line)
    assert done.returncode == 0, done
    for what in ("user", "kvm", "qemu's user", "vsock", "accelerator"):
        assert re.search(rf"^good +{what} ", done.stdout, re.M), (what, done)
    # How fast it is here tells nothing.
    proof = re.search(r"^(good|degraded) +probe +KVM boots 'default'.*vsock "
                      "answers in", done.stdout, re.M)
    assert proof, done
