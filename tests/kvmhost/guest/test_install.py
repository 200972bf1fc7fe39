"""The packages, their users, directories and units."""

import pathlib
import pwd
import re
import stat

import host
from host import run

# Where what reads them looks for them.
LOOKED_FOR = (
    "etc/cupola/cupolad.conf",
    "usr/lib/modules-load.d/cupola.conf",
    "usr/lib/sysusers.d/cupola.conf",
    "usr/lib/tmpfiles.d/cupola.conf",
    *(f"usr/lib/systemd/system/{unit}"
      for unit in ("cupola-sweep.service", "cupola-sweep.timer",
                   "cupola-vmd.service", "cupola-vmd.socket",
                   "cupolad.service", "cupolad.socket")),
    "usr/share/bash-completion/completions/cupolactl",
    "usr/share/fish/vendor_completions.d/cupolactl.fish",
    "usr/share/zsh/vendor-completions/_cupolactl",
    *(f"usr/share/cupola/monitoring/{name}"
      for name in ("grafana-dashboard.json", "prometheus-rules.yml",
                   "prometheus.yml")),
    *(f"usr/share/man/man{page[-1]}/{page}.gz"
      for page in ("cupolactl.1", "cupolad.conf.5", "cupola-api.7",
                   "cupola-protocol.7", "cupolad.8", "cupola-vmd.8")),
)

CONFIG = """
[hypervisor]
uri = qemu:///system
accel = kvm
boot_timeout = 600

[pool.default]
image = python-minimal
memory = 384M
disk = 256M
ready = 0
max = 4
"""


def test_the_package_has_everything_where_it_is_looked_for():
    deb = next(pathlib.Path("/job").glob("cupola_*.deb"))
    there = {line.split()[-1].removeprefix("./")
             for line in run("dpkg-deb", "-c", str(deb)).stdout.splitlines()}
    assert set(LOOKED_FOR) <= there, set(LOOKED_FOR) - there


def test_the_packages_install_without_an_image():
    debs = [str(p) for p in pathlib.Path("/job").glob("cupola_*.deb")]
    run("dpkg", "-i", *debs, env={"DEBIAN_FRONTEND": "noninteractive",
                                  "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    assert not host.is_active("cupolad.service")
    assert not [u for u in failed_units() if "cupola" in u]


def failed_units():
    return host.systemctl("--failed", "--plain", "--no-legend").stdout


def test_users_and_directories_have_the_power_they_need_and_no_more():
    assert pwd.getpwnam("cupola").pw_uid != 0
    groups = run("id", "-nG", "cupola-vmd").stdout.split()
    assert {"libvirt", "kvm"} <= set(groups), groups
    assert "kvm" not in run("id", "-nG", "cupola").stdout.split()
    for path in ("/var/lib/cupola", "/var/lib/cupola/images", "/run/cupola"):
        st = pathlib.Path(path).stat()
        assert (st.st_uid, st.st_mode & 0o777) == (0, 0o755), path
    assert stat.S_ISCHR(pathlib.Path("/dev/vhost-vsock").stat().st_mode)


def test_the_units_start_once_there_is_an_image():
    image = host.IMAGES / "python-minimal@test"
    run("cp", "-r", "/job/images/python-minimal", str(image))
    run("chmod", "0444", *map(str, image.iterdir()))
    run("ln", "-s", image.name, str(host.IMAGES / "python-minimal"))
    pathlib.Path("/etc/cupola/cupolad.conf").write_text(CONFIG)
    run("cupolad", "--check-config")
    host.systemctl("start", "cupolad.socket", "cupolad.service")
    host.await_ready()
    for unit in ("cupolad.service", "cupolad.socket", "cupola-vmd.service",
                 "cupola-vmd.socket"):
        assert host.is_active(unit), unit
    assert host.user_of(host.main_pid("cupolad")) == \
        pwd.getpwnam("cupola").pw_uid
    assert host.user_of(host.main_pid("cupola-vmd")) == \
        pwd.getpwnam("cupola-vmd").pw_uid
    host.state["images"] = host.image_state()


def test_the_daemon_has_no_capability_and_vmd_has_two():
    assert capabilities("cupolad") == 0
    assert capabilities("cupola-vmd") == 1 << 0 | 1 << 5	# CHOWN, KILL


def capabilities(unit):
    text = pathlib.Path(f"/proc/{host.main_pid(unit)}/status").read_text()
    return int(re.search(r"CapBnd:\s*(\w+)", text)[1], 16) | \
        int(re.search(r"CapEff:\s*(\w+)", text)[1], 16)


def test_the_daemon_is_exposed_at_2_or_less():
    text = run("systemd-analyze", "security", "--no-pager",
               "cupolad.service").stdout
    score = float(re.search(r"exposure level for \S+ (\d+\.\d+)", text)[1])
    host.figure("exposure", score)
    assert score <= 2.0, text
