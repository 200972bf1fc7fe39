"""What removing the package ends, and what it keeps."""

import pathlib

import host
from host import run

NO_QUESTIONS = {"DEBIAN_FRONTEND": "noninteractive",
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def vms_so_far():
    """libvirt keeps a log of each."""
    return len(list(pathlib.Path("/var/log/libvirt/qemu").glob("vm_*.log")))


def test_ten_vms_leave_the_image_as_it_was():
    while vms_so_far() < 10:
        one = host.Session(f"image-{vms_so_far()}")
        assert one.output("print(1)") == "1\n"
        one.delete()
    assert host.image_state() == host.state["images"]


def test_removal_ends_vms_and_keeps_what_is_stored():
    one = host.Session("last")
    one.output("print(1)")
    run("dpkg", "-r", "cupola", env=NO_QUESTIONS)
    host.until(lambda: not host.qemus(), "all VMs to end")
    assert not pathlib.Path(host.SOCKET).exists()
    assert pathlib.Path("/var/lib/cupola/daemon/db.sqlite").exists()
    assert host.image_state() == host.state["images"]


def test_purge_erases_nothing_when_nobody_can_be_asked():
    run("dpkg", "-P", "cupola", env=NO_QUESTIONS)
    assert not pathlib.Path("/etc/cupola/cupolad.conf").exists()
    assert pathlib.Path("/var/lib/cupola/daemon/db.sqlite").exists()
    assert host.image_state() == host.state["images"]
