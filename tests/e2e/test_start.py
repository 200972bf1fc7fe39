"""A start that cannot work says why in one sentence and what to do."""

import os
import socket
import subprocess

import pytest

from cupola import BUILD, SANITIZER_ENV, Daemon


def refused(d, seconds=60, prefix=()):
    """Start, expect the end; the last line of what it said."""
    done = subprocess.run([*prefix, *d.command()], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=seconds,
                          env=dict(os.environ, **SANITIZER_ENV))
    assert done.returncode != 0, done.stderr
    assert "Sanitizer" not in done.stderr, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert lines, "it said nothing"
    return lines[-1], done


@pytest.fixture
def attempt():
    made = []

    def make(**settings):
        d = Daemon(settings={k.replace("__", "."): v
                             for k, v in settings.items()})
        d.log = open(os.devnull, "ab")
        made.append(d)
        return d

    yield make
    import shutil
    for d in made:
        shutil.rmtree(d.dir, ignore_errors=True)


def test_a_missing_image(attempt):
    said, _ = refused(attempt(pool__default__image="no-such-image"))
    assert "no-such-image" in said and "images/build" in said


def test_a_used_port(attempt):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        said, _ = refused(attempt(listen__http=f"127.0.0.1:{port}"))
    assert str(port) in said and "in use" in said


def test_a_second_daemon_on_the_same_directory(daemon, attempt):
    d = attempt()
    own = d.dir
    d.dir = daemon.dir
    try:
        said, _ = refused(d, seconds=20)
    finally:
        d.dir = own
    assert str(daemon.pid) in said
    # The first one is unharmed.
    assert daemon.http.get(daemon.url + "/healthz").status_code == 200
    assert (daemon.dir / "url").exists()


def test_two_daemons_run_side_by_side(daemon, fresh_daemon):
    other = fresh_daemon()
    assert other.url != daemon.url
    assert daemon.json("GET", "/v1/containers")["object"] == "list"
    assert other.json("GET", "/v1/containers")["data"] == []
    assert other.call("GET", "/v1/files", key=daemon.key).status_code == 401


def without(*programs):
    """A command in front of another, which then does not find programs.

    cupola-vmd takes programs from fixed places, not from its caller's PATH. In
    a mount namespace of its own a device lies over them, which is no program.
    """
    there = [p for p in programs if os.path.exists(p)]
    hide = "".join(f"mount --bind /dev/null {p} && " for p in there)
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            hide + 'exec "$@"', "sh"]


def test_no_qemu(attempt):
    said, _ = refused(attempt(),
                      prefix=without("/usr/bin/qemu-system-x86_64"))
    assert "QEMU" in said or "qemu" in said
    assert "install" in said


@pytest.mark.skipif(os.path.exists("/dev/vhost-vsock"),
                    reason="the kernel's backend is there")
def test_no_vsock_backend(attempt):
    said, _ = refused(attempt(), prefix=without(
        "/usr/bin/vhost-device-vsock", "/usr/libexec/vhost-device-vsock",
        "/usr/local/bin/vhost-device-vsock"))
    assert "vhost-device-vsock" in said and "install" in said


def test_a_full_disk(attempt, tmp_path):
    d = attempt()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs",
                    str(d.dir)], check=True)
    try:
        subprocess.run(["dd", "if=/dev/zero", f"of={d.dir}/fill", "bs=4k"],
                       capture_output=True)
        said, _ = refused(d)
        assert "space" in said or "full" in said, said
    finally:
        subprocess.run(["umount", str(d.dir)], check=True)


@pytest.mark.parametrize("setting, word", [
    ("pool.default.memory=lots", "pool.default.memory"),
    ("session.idle=-1", "session.idle"),
    ("no.such=1", "no.such"),
    ("session.idle", "session.idle"),
])
def test_a_bad_setting_is_named(attempt, setting, word):
    d = attempt()
    done = subprocess.run([str(BUILD / "cupolad"), "--dev", str(d.dir),
                           "--set", setting], capture_output=True, text=True,
                          timeout=30)
    assert done.returncode != 0
    assert word in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_a_directory_too_long_for_sockets(attempt):
    d = attempt()
    own = d.dir
    long = own / ("x" * 60) / ("y" * 40)
    long.mkdir(parents=True)
    d.dir = long
    try:
        said, _ = refused(d)
    finally:
        d.dir = own
    assert "long" in said or "shorter" in said
