"""Images that do not boot: each session ends in time, says so, and leaves nothing."""

import json
import os
import shutil
import subprocess
import time

import pytest

from cupola import Daemon, wait_until

BOOT_SECONDS = 40
MARGIN_SECONDS = 5      # of a busy machine, on top of what is promised
FIRST_PROGRAMS = {
    "that ends": "int main(void) { return 1; }",
    "that waits for ever": "#include <unistd.h>\nint main(void) { for (;;) pause(); }",
    "that is busy for ever": "int main(void) { for (;;) __asm__(\"\"); }",
}


def source_image():
    roots = [os.environ.get("CUPOLA_IMAGES"), "/var/lib/cupola/images"]
    return next(f"{root}/python-minimal" for root in roots
                if root and os.path.exists(f"{root}/python-minimal"))


def write_initrd(image, files):
    """An initrd with nothing but these programs."""
    root = image.parent / "initrd.d"
    shutil.rmtree(root, ignore_errors=True)
    for name, text in files.items():
        root.mkdir(exist_ok=True)
        subprocess.run(["gcc", "-static", "-o", root / name, "-x", "c", "-"],
                       input=text, text=True, check=True)
    root.mkdir(exist_ok=True)
    found = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    archive = subprocess.run(["cpio", "--quiet", "-H", "newc", "-o"], cwd=root, input=found,
                             capture_output=True, check=True).stdout
    (image / "initrd").write_bytes(archive)


def zero(path):
    size = path.stat().st_size
    path.unlink()
    with open(path, "wb") as f:
        f.truncate(size)


@pytest.fixture
def image(tmp_path):
    """A copy of the image, to be broken; daemons find no other."""
    os.chmod(tmp_path, 0o755)
    for parent in list(tmp_path.parents)[:2]:
        os.chmod(parent, 0o755)
    copy = tmp_path / "images" / "python-minimal"
    shutil.copytree(source_image(), copy)
    for path in copy.iterdir():
        path.chmod(0o644)
    return copy


@pytest.fixture
def broken(image):
    """Starts a daemon whose image has something wrong; it ends with the test."""
    made = []

    def make(**settings):
        d = Daemon(env={"CUPOLA_IMAGES": str(image.parent)}, settings={
            "hypervisor.boot_timeout": str(BOOT_SECONDS), "pool.default.memory": "256M",
            **settings})
        made.append(d)
        return d.start()

    yield make
    for d in made:
        d.remove()


def ends_in_time(d, reasons, said=None):
    """The session of a new container, which ended; and nothing of it is left."""
    began = time.monotonic()
    container = d.container("doomed")
    session = container.wait_ended(BOOT_SECONDS + 2 + MARGIN_SECONDS)
    assert session["ended"]["reason"] in reasons, session
    assert time.monotonic() - began < BOOT_SECONDS + 2 + MARGIN_SECONDS
    wait_until(lambda: not d.qemus() and not d.backends(), 10, "the VM to be gone")
    assert d.audit() == []
    answer = container.call("POST", "/exec", json={"code": "1"})
    assert answer.status_code == 404
    # What the guest said on its console is for the administrator, not its tenant.
    assert "panic" not in answer.text and "Kernel" not in answer.text
    if said:
        assert said in d.admin("GET", f"/sessions/{container.id}/console")["text"]


def no_program(image):
    write_initrd(image, {})


def no_root(image):
    zero(image / "root.erofs")


def no_kernel_in_it(image):
    zero(image / "vmlinux")


@pytest.mark.parametrize("damage, said", [
    (no_program, "Kernel panic"), (no_root, None), (no_kernel_in_it, None)])
def test_an_image_that_is_broken_does_not_boot(image, broken, damage, said):
    damage(image)
    ends_in_time(broken(), {"boot_failed", "guest_panic"}, said)


@pytest.mark.parametrize("first", FIRST_PROGRAMS)
def test_a_first_program_that_is_no_agent_does_not_boot(image, broken, first):
    write_initrd(image, {"init": FIRST_PROGRAMS[first]})
    ends_in_time(broken(), {"boot_failed", "guest_panic"})


@pytest.mark.parametrize("name", ["vmlinux", "initrd", "root.erofs"])
def test_a_file_that_vanishes_behind_a_start_fails_the_boot(image, broken, name):
    d = broken()
    (image / name).unlink()
    ends_in_time(d, {"boot_failed"})


def test_an_image_that_fails_is_tried_less_and_less(image, broken):
    no_kernel_in_it(image)
    d = broken(**{"pool.default.ready": "1", "pool.default.max": "1"})
    time.sleep(20)
    log = d.log_text()
    tries = log.count("VM is gone (boot_failed)") + log.count("Cannot create VM")
    print(json.dumps({"tries in 20 s": tries}))
    assert 1 <= tries <= 8, log[-3000:]
