#!/usr/bin/python3
"""What systemd is given, read by systemd's own programs, as TAP.

Nothing is started, and no systemd has to run: they look at files. What the services
do once they run is in test_service.py and tests/kvmhost.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tap

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("abs_top_builddir", os.environ.get("CUPOLA_BUILD", TOP / "build"))).resolve()
SYSTEMD = TOP / "contrib" / "systemd"
PROGRAMS = ("cupolad", "cupola-vmd")

# By "systemd-analyze security", 10 is no protection at all. cupola-vmd starts QEMUs by
# libvirt, as users of their own: it has two capabilities, /dev/kvm, /dev/vhost-vsock
# and AF_VSOCK, sees processes, and shares mounts with what makes them. Newer systemds
# know some more to complain of, so that there is a little room.
EXPOSED = {"cupolad.service": 2.0, "cupola-vmd.service": 2.6, "cupola-sweep.service": 2.1}


def run(*command, **environment):
    if not shutil.which(command[0]):
        raise tap.Skip(f"{command[0]} is missing")
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60,
                          check=False)


def units(directory):
    """As they are installed, but for where the programs are: here these are not installed."""
    for folder in (SYSTEMD, BUILD / "contrib" / "systemd"):
        for path in folder.glob("*.*"):
            if path.suffix in (".service", ".socket", ".timer"):
                text = path.read_text()
                for name in PROGRAMS:
                    text = re.sub(rf"^ExecStart=\S+/{name}(?= )", f"ExecStart={BUILD / name}", text, flags=re.M)
                (directory / path.name).write_text(text)
    found = sorted(path.name for path in directory.iterdir())
    assert set(EXPOSED) <= set(found), found
    return found


def systemd_understands_every_line_of_the_units():
    with tempfile.TemporaryDirectory() as name:
        for unit in units(pathlib.Path(name)):
            # The colon: what systemd has itself, such as basic.target, after ours.
            done = run("systemd-analyze", "verify", "--man=no", f"{name}/{unit}", SYSTEMD_UNIT_PATH=f"{name}:")
            assert done.returncode == 0 and not done.stdout and not done.stderr, f"{unit}: {done.stdout}{done.stderr}"


def each_service_is_exposed_no_more_than_it_has_to():
    with tempfile.TemporaryDirectory() as name:
        services = [unit for unit in units(pathlib.Path(name)) if unit.endswith(".service")]
        assert set(services) == set(EXPOSED)
        for unit in services:
            done = run("systemd-analyze", "security", "--offline=true", "--no-pager", f"{name}/{unit}")
            score = re.search(r"exposure level for \S+ (\d+\.\d+)", done.stdout)
            assert score, done
            assert float(score[1]) <= EXPOSED[unit], done.stdout


def users_and_directories_can_be_made():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "etc").mkdir()
        # Of Debian and of libvirt.
        (root / "etc/group").write_text("root:x:0:\nkvm:x:104:\nlibvirt:x:110:\n")
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        done = run("systemd-sysusers", f"--root={root}", str(SYSTEMD / "sysusers.d/cupola.conf"))
        assert done.returncode == 0, done
        passwd = (root / "etc/passwd").read_text()
        for user in ("cupola", "cupola-vmd"):
            assert re.search(rf"^{user}:x:\d+:\d+:.*:/usr/sbin/nologin$", passwd, re.M), passwd
        if os.geteuid() != 0:
            raise tap.Skip("only root can give directories to others")
        done = run("systemd-tmpfiles", f"--root={root}", "--create", str(SYSTEMD / "tmpfiles.d/cupola.conf"))
        assert done.returncode == 0 and not done.stderr, done
        made = set(re.findall(r"^[dD]\s+(\S+)", (SYSTEMD / "tmpfiles.d/cupola.conf").read_text(), re.M))
        assert made and all((root / path.lstrip("/")).is_dir() for path in made), made


if __name__ == "__main__":
    sys.exit(tap.run([systemd_understands_every_line_of_the_units,
                      each_service_is_exposed_no_more_than_it_has_to,
                      users_and_directories_can_be_made]))
