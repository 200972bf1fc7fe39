#!/usr/bin/python3
"""How cupolad refuses to start: one sentence, a status that is not 0, no VM.

Everything here ends before a hypervisor process is started. As root the daemon
changes its user, so the directories lie where that user can go.
"""

import contextlib
import fcntl
import os
import pathlib
import pwd
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

import tap

BUILD = pathlib.Path(os.environ.get("abs_top_builddir", "."))
CUPOLAD = BUILD / "cupolad"
ROOT = os.geteuid() == 0
TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))


def daemon(*argv, status=1, **env):
    environ = {k: v for k, v in os.environ.items()
               if not k.startswith("CUPOLA_")}
    ended = subprocess.run([CUPOLAD, *argv], capture_output=True, text=True,
                           timeout=60, env=dict(environ, **env))
    assert ended.returncode == status, \
        f"{argv}: {ended.returncode}\n{ended.stdout}{ended.stderr}"
    return ended


def refused(*argv, **env):
    """The only line of what it said, without the program's name."""
    said = daemon(*argv, **env).stderr
    assert said.count("\n") == 1 and said.endswith("\n"), said
    return said


def lock(path, text):
    """Hold the lock as another daemon would."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, text)
    f_ofd_setlk = 37
    fcntl.fcntl(fd, f_ofd_setlk,
                struct.pack("hhlli4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    return fd


def help_and_version_are_short(dir):
    text = daemon("--help", status=0).stdout
    assert "--dev DIR" in text and "--set SECTION.KEY=VALUE" in text
    assert daemon("--version", status=0).stdout.startswith("cupolad ")


def bad_options_are_named(dir):
    assert "--bogus" in refused("--bogus")
    assert "--dev" in refused("--dev")
    assert "surplus" in refused("surplus")


def what_belongs_to_a_restore_needs_one(dir):
    assert "--restore" in refused("--dev", dir, "--replace")
    assert "--restore" in refused("--dev", dir, "--restore")


def the_packaged_settings_are_good_and_show_the_defaults(dir):
    packaged = TOP / "contrib/cupolad.conf"
    daemon("--config", str(packaged), "--check-config", status=0)
    table = (TOP / "src/base/settings_table.c").read_text()
    fallbacks = re.findall(r'^\t[A-Z]+\("([\w.*]+)", "(\w+)", "([^"]*)"', table, re.M)
    fallbacks = {(s, k): v for s, k, v in fallbacks}
    section = None
    for line in packaged.read_text().split("\n"):
        if line.startswith("["):
            section = line.strip("[]").replace("pool.default", "pool.*")
        elif shown := re.fullmatch(r"#(\w+) =(?: (.*))?", line):
            assert fallbacks[section, shown[1]] == (shown[2] or ""), line


def settings_are_checked(dir):
    config = pathlib.Path(dir) / "c.conf"
    config.write_text("[session]\nidle = 30m\n")
    daemon("--config", str(config), "--check-config", status=0)
    config.write_text("[session]\nidle = 30m\nnonsense = 1\n")
    said = refused("--config", str(config), "--check-config")
    assert f"{config}:3" in said and "nonsense" in said
    assert "session.idle" in refused("--dev", dir, "--set",
                                     "session.idle=-1")
    assert "none.conf" in refused("--config", "/nonexistent/none.conf")


def settings_that_need_each_other_are_checked(dir):
    for bad, named in (("listen.tls_cert=/c.pem", "listen.tls_key"),
                       ("listen.tls_key=/k.pem", "listen.tls_cert"),
                       ("listen.cors_origins=app.example", "app.example"),
                       ("model.name=m", "model.default.url"),
                       ("model.url=http://h.example/v1", "model.name"),
                       ("model.small.url=h.example", "'h.example'")):
        assert named in refused("--check-config", "--set", bad)
    daemon("--check-config", "--set", "listen.cors_origins=https://a.example",
           status=0)


def share(path):
    """Give a file to whom the daemon is, who reads it when root asks."""
    with contextlib.suppress(KeyError):
        if ROOT:
            os.chown(path, pwd.getpwnam("cupola").pw_uid, -1)


def files_that_settings_name_are_looked_at(dir):
    key = pathlib.Path(dir) / "key"
    at = "--check-config", "--set", "model.m.url=http://127.0.0.1:9/v1", "--set"
    said = refused(*at, f"model.m.key_file={key}")
    assert "model.m.key_file" in said and str(key) in said
    key.write_text("secret\n")
    key.chmod(0o644)
    share(key)
    assert "everybody may read" in refused(*at, f"model.m.key_file={key}")
    key.chmod(0o600)
    daemon(*at, f"model.m.key_file={key}", status=0)
    key.write_text("two\nlines\n")
    said = refused(*at, f"model.m.key_file={key}")
    assert "one line" in said and "two" not in said
    # Nobody but its unit has a credential.
    daemon(*at, "model.m.key_file=name", status=0)
    assert "'name'" in refused(*at, "model.m.key_file=name", CREDENTIALS_DIRECTORY=dir)


def certificates_of_models_are_looked_at(dir):
    ca = pathlib.Path(dir) / "ca"
    at = ("--check-config", "--set", "model.m.url=https://127.0.0.1:9/v1",
          "--set", f"model.m.ca_file={ca}")
    said = refused(*at)
    assert "model.m.ca_file" in said and str(ca) in said
    ca.write_text("no certificate\n")
    share(ca)
    assert "holds no certificate" in refused(*at)
    ca.write_text("-----BEGIN CERTIFICATE-----\n")
    daemon(*at, status=0)


def certificate_and_key_are_looked_at(dir):
    if not shutil.which("openssl"):
        raise tap.Skip("openssl is missing")
    cert, key = pathlib.Path(dir) / "cert", pathlib.Path(dir) / "tls-key"
    at = "--check-config", "--set", f"listen.tls_cert={cert}", "--set", f"listen.tls_key={key}"
    assert str(cert) in refused(*at)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    share(key)
    share(cert)
    daemon(*at, status=0)
    key.chmod(0o644)
    assert "mode 0644" in refused(*at)
    key.chmod(0o600)
    key.write_text("no key\n")
    assert "Cannot use the certificate" in refused(*at)


def test_settings_need_development_mode(dir):
    assert "test.clock" in refused("--set", "test.clock=yes")


def root_needs_a_unit_or_development_mode(dir):
    if not ROOT:
        raise tap.Skip("needs root")
    assert "root" in refused(STATE_DIRECTORY=dir)


def a_directory_of_something_else_is_left_alone(dir):
    if not ROOT:
        raise tap.Skip("needs root")
    tap.need_user()
    os.mkdir(f"{dir}/home")
    assert "'home'" in refused("--dev", dir)
    assert os.stat(dir).st_uid == 0


def a_directory_that_the_user_cannot_reach_is_named(dir):
    if not ROOT:
        raise tap.Skip("needs root")
    tap.need_user()
    os.chmod(dir, 0o700)
    assert f"{dir}/inner" in refused("--dev", f"{dir}/inner")


def a_long_directory_is_refused(dir):
    tap.need_user()
    assert "too long" in refused("--dev", dir + "/" + "x" * 100)


def a_second_daemon_names_the_first(dir):
    tap.need_user()
    fd = lock(f"{dir}/cupolad.lock", b"4711\n")
    os.chmod(f"{dir}/cupolad.lock", 0o666)
    pathlib.Path(dir, "url").write_text("http://127.0.0.1:1\n")
    said = refused("--dev", dir)
    os.close(fd)
    assert "4711" in said and dir in said
    assert os.path.exists(f"{dir}/url")


def a_used_port_is_named(dir):
    tap.need_user()
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        said = refused("--dev", dir, "--set",
                       f"listen.http=127.0.0.1:{port}")
    assert str(port) in said and "in use" in said, said
    assert not os.path.exists(f"{dir}/url")


TESTS = [v for k, v in list(globals().items())
         if callable(v) and getattr(v, "__module__", "") == "__main__"
         and getattr(v, "__code__", None)
         and v.__code__.co_varnames[:1] == ("dir",)
         and v.__code__.co_argcount == 1]


def in_directory(test):
    dir = tempfile.mkdtemp(prefix="cupd-")
    os.chmod(dir, 0o755)
    try:
        test(dir)
    finally:
        shutil.rmtree(dir)


if __name__ == "__main__":
    sys.exit(tap.run(TESTS, in_directory))
