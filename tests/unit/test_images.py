#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Recipes, roots that others packed, and the directory of images, as TAP.

No image is made here: what a recipe says, what a hostile layer may do, and what
happens to images that are there, all with files of a few bytes.
"""

import fcntl
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import socketserver
import subprocess
import sys
import tarfile
import tempfile
import threading

import tap

HERE = pathlib.Path(__file__).resolve().parents[2]
IMAGES = pathlib.Path(os.environ.get("abs_top_srcdir", HERE)) / "images"
GOOD = "suite trixie\npackages python3\ncompression none\n"


def run(program, *arguments):
    return subprocess.run([sys.executable, "-B", IMAGES / program, *arguments],
                          capture_output=True, text=True, check=False, timeout=60)


def recipe(directory, text):
    directory.mkdir(exist_ok=True)
    (directory / "recipe").write_text(text)
    return run("lib/recipe.py", directory)


# Recipes


def the_recipes_of_the_tree_can_be_read(temp):
    for path in IMAGES.glob("*/recipe"):
        done = run("lib/recipe.py", path.parent)
        assert done.returncode == 0, done.stderr


def what_is_wrong_is_told_with_its_line(temp):
    cases = {
        "bogus x": "'bogus' is no keyword",
        "packages": "the value of 'packages' is empty",
        "packages Python": "'Python' is no name of a Debian package",
        "packages a,b": "no name of a Debian package",
        "suite trixie": "'suite' is said a second time",
        "base other": "'base' has to come first",
        "kernel mine": "'mine' is none of debian, own, cached",
        "wheels none.whl": "there is no file 'none.whl'",
        "files none /x": "there is no file 'none'",
        "files recipe x": "'x' is no absolute path",
        "files recipe /x/../y": "is no absolute path",
        "files ../../../etc/passwd /x": "outside of the recipe's directory",
        "files link /x": "outside of the recipe's directory",
        "environment HOME=/": "the guest agent's to set",
        "environment A": "not of the form NAME=value",
        "preimport os;x": "no module's name",
        "exclude relative": "no absolute path",
        "pool memory=lots": "no such number as memory needs",
        "pool max=1": "'max' is none of",
        "root http:x": "none of tar:FILE",
        "run a\x01b": "has control characters",
    }
    place = temp / "bad"
    place.mkdir()
    (place / "link").symlink_to("/etc/passwd")
    for line, sentence in cases.items():
        done = recipe(place, GOOD + line + "\n")
        assert done.returncode == 1 and not done.stdout, line
        assert f"{place}/recipe:4: " in done.stderr, (line, done.stderr)
        assert sentence in done.stderr, (line, done.stderr)
        assert len(done.stderr.splitlines()) == 1, done.stderr


def a_recipe_that_lacks_something_is_refused(temp):
    assert "keyword 'suite' is missing" in recipe(temp / "a", "packages jq\n").stderr
    assert "brings another" in recipe(
        temp / "b", GOOD + "root tar:recipe\n").stderr
    assert "cannot be read" in run("lib/recipe.py", temp / "none").stderr


def a_base_comes_first_and_never_forever(temp):
    recipe(temp / "one", GOOD)
    done = recipe(temp / "two", "base one\npackages jq\ncompression lz4\n")
    assert "recipe_packages=(python3 jq)" in done.stdout
    assert "recipe_compression=(lz4)" in done.stdout
    assert "on themselves" in recipe(temp / "loop", "base loop\n").stderr


def values_are_no_commands_of_the_builders_shell(temp):
    hostile = "run touch $(id) `id` '; exit 3; '\n"
    done = recipe(temp / "q", GOOD + hostile)
    told = subprocess.run(["bash", "-c", done.stdout + 'printf %s "${recipe_run[0]}"'],
                          capture_output=True, text=True, check=True)
    assert told.stdout == hostile.removeprefix("run ").strip()


def the_key_follows_what_a_root_is_made_from(temp):
    (temp / "k").mkdir()
    (temp / "k" / "file").write_text("1")
    key = recipe(temp / "k", GOOD + "files file /x\n").stdout.split()[-1]
    same = recipe(temp / "k", GOOD + "files file /x\npreimport os\n").stdout.split()[-1]
    (temp / "k" / "file").write_text("2")
    other = recipe(temp / "k", GOOD + "files file /x\n").stdout.split()[-1]
    assert key == same != other


# Roots of others


def member(name, data=None, **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data or b"")
    if data is None:
        info.type = tarfile.DIRTYPE
        info.mode = 0o755
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def link(name, target, kind=tarfile.SYMTYPE):
    return member(name, b"", type=kind, linkname=target)


def layer(*members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data) if data else None)
    return out.getvalue()


def layout(directory, *layers):
    blobs = directory / "blobs/sha256"
    blobs.mkdir(parents=True)

    def put(data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"digest": f"sha256:{digest}", "size": len(data)}

    described = [put(data) for data in layers]
    config = put(json.dumps({"os": "linux", "architecture": "amd64"}).encode())
    manifest = put(json.dumps({"config": config, "layers": described}).encode())
    (directory / "index.json").write_text(json.dumps({"manifests": [manifest]}))
    return f"oci:{directory}"


def flatten(source, temp):
    output = temp / "out.tar"
    done = run("lib/foreign.py", source, output)
    if done.returncode != 0:
        assert not output.exists() and "refused" in done.stderr, done.stderr
        return None, done.stderr
    with tarfile.open(output) as tar:
        return {m.name: (m, tar.extractfile(m).read() if m.isreg() else None)
                for m in tar}, done.stderr


def tar_of(temp, *members):
    (temp / "in.tar").write_bytes(layer(*members))
    return flatten(f"tar:{temp}/in.tar", temp)


def names_that_lead_out_are_refused(temp):
    for name in ("../x", "a/../../x", "/../x", "a/.."):
        found, said = tar_of(temp, member(name, b"x"))
        assert found is None and "is called" in said, name


def absolute_names_count_from_the_tree(temp):
    found, _ = tar_of(temp, member("/etc/x", b"x"))
    assert set(found) == {"etc", "etc/x"}


def a_link_leads_nowhere_but_into_the_tree(temp):
    found, _ = tar_of(temp, link("a", "/etc"), link("b", "../../../usr"),
                      member("a/passwd", b"theirs"), member("b/x", b"x"))
    assert found["etc/passwd"][1] == b"theirs" and found["usr/x"][1] == b"x"
    assert found["a"][0].issym() and not any(n.startswith("a/") for n in found)
    found, said = tar_of(temp, link("a", "b"), link("b", "a"), member("a/x", b""))
    assert found is None and "never ends" in said


def devices_and_privileged_bits_are_left_out(temp):
    found, said = tar_of(temp, member("null", b"", type=tarfile.CHRTYPE),
                         member("disk", b"", type=tarfile.BLKTYPE),
                         member("pipe", b"", type=tarfile.FIFOTYPE),
                         member("su", b"x", mode=0o6755),
                         member("proc/x", b"x"), member("dev/y", b"x"))
    assert set(found) == {"su"} and found["su"][0].mode == 0o755
    assert "3 devices and fifos" in said and "1 setuid" in said


def hard_links_lead_to_files_of_the_tree_only(temp):
    found, _ = tar_of(temp, member("x", b"x"), link("y", "/x", tarfile.LNKTYPE))
    assert found["y"][0].islnk() and found["y"][0].linkname == "x"
    for target in ("/etc/passwd", "../x", "d"):
        found, said = tar_of(temp, member("d"), link("y", target, tarfile.LNKTYPE))
        assert found is None, target


def whiteouts_take_away_what_layers_below_had(temp):
    source = layout(temp / "oci", layer(
        member("keep", b"1"), member("gone", b"1"), member("d/old", b"1")), layer(
        member(".wh.gone", b""), member("d/new", b"2"), member("d/.wh..wh..opq", b"")))
    found, _ = flatten(source, temp)
    assert set(found) == {"keep", "d", "d/new"}


def a_layer_that_is_not_what_its_digest_says_is_refused(temp):
    source = layout(temp / "oci", layer(member("x", b"x")))
    for path in (temp / "oci/blobs/sha256").iterdir():
        if b"ustar" in path.read_bytes():
            path.write_bytes(layer(member("y", b"y")))
    found, said = flatten(source, temp)
    assert found is None and "not what its digest says" in said


def a_giant_is_refused_before_it_is_read(temp):
    info, _ = member("giant", b"")
    info.size = 1 << 40
    (temp / "in.tar").write_bytes(info.tobuf() + bytes(10240))
    found, said = flatten(f"tar:{temp}/in.tar", temp)
    assert found is None and "GiB" in said


def swollen(kind, size):
    """A header that says it has so much, which a reader would have to keep."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def headers_are_not_read_whatever_they_have(temp):
    packed = gzip.compress(bytes(1 << 20))
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME,
                 tarfile.GNUTYPE_LONGLINK):
        (temp / "in.tar").write_bytes(gzip.compress(swollen(kind, 8 << 30)) + packed * 9)
        found, said = flatten(f"tar:{temp}/in.tar", temp)
        assert found is None and "headers have more than 4 MiB" in said, (kind, said)
        # Each may be small, but there is no end of them.
        many = gzip.compress((swollen(kind, 512) + b"9 a=xxxx\n".ljust(512, b"\0")) * 5000)
        (temp / "in.tar").write_bytes(many * 2)
        found, said = flatten(f"tar:{temp}/in.tar", temp)
        assert found is None, kind


def large_files_and_long_names_are_no_swollen_headers(temp):
    info, data = member("d/" + "n" * 200, bytes(9 << 20))
    info.pax_headers = {"comment": "c" * (1 << 20)}
    found, said = tar_of(temp, info and (info, data), member("e", b"x"), link("l" * 150, "t" * 300))
    assert found["d/" + "n" * 200][0].size == 9 << 20 and "e" in found, said


def what_is_no_file_is_no_description_of_a_layout(temp):
    directory = temp / "layout"
    directory.mkdir()
    os.mkfifo(directory / "index.json")
    found, said = flatten(f"oci:{directory}", temp)
    assert found is None and "lacks a description" in said
    (directory / "index.json").unlink()
    (directory / "index.json").symlink_to("/dev/zero")
    found, said = flatten(f"oci:{directory}", temp)
    assert found is None and "lacks a description" in said


def status_of(package):
    return f"Package: {package}\nStatus: install ok installed\nVersion: 1\n\n"


def the_licences_of_a_tree_are_never_the_hosts(temp):
    host, tree = temp / "host", temp / "tree"
    secret = "Format: copyright\n\nFiles: *\nLicense: secret\n"
    for name in ("good", "evil", "evil-file", "evil-fifo"):
        (host / name).mkdir(parents=True)
        (host / name / "copyright").write_text(secret)
    (tree / "var/lib/dpkg").mkdir(parents=True)
    (tree / "var/lib/dpkg/status").write_text("".join(map(status_of, (
        "good", "evil", "evil-file", "evil-fifo", "../host/good", str(host / "good")))))
    doc = tree / "usr/share/doc"
    (doc / "good").mkdir(parents=True)
    (doc / "good/copyright").write_text(secret.replace("secret", "MIT"))
    (doc / "evil").symlink_to(host / "evil")
    (doc / "evil-file").mkdir()
    (doc / "evil-file/copyright").symlink_to(host / "evil-file/copyright")
    (doc / "evil-fifo").mkdir()
    os.mkfifo(doc / "evil-fifo/copyright")
    done = run("lib/contents.py", tree)
    found = {p["name"]: p["licence"] for p in map(json.loads, done.stdout.splitlines())}
    assert found == {"good": "MIT", "evil": "NOASSERTION", "evil-file": "NOASSERTION",
                     "evil-fifo": "NOASSERTION"}, found
    for part in ("usr/share/doc", "var/lib/dpkg"):
        path = tree / part
        moved = path.rename(temp / path.name)
        path.symlink_to(moved)
        done = run("lib/contents.py", tree)
        assert done.returncode == 0 and "MIT" not in done.stdout, part


def the_wheels_of_a_tree_are_never_the_hosts(temp):
    place = "lib/python3.13/dist-packages/x-1.dist-info"
    for top in (temp / "host", temp / "tree/usr/local"):
        (top / place).mkdir(parents=True)
        (top / place / "METADATA").write_text(f"Name: {top.name}\nVersion: 1\n\n")
    tree = temp / "tree"
    assert '"python:local"' in run("lib/contents.py", "--wheels", tree).stdout
    (tree / "usr/local").rename(tree / "usr/moved")
    (tree / "usr/local").symlink_to(temp / "host")
    done = run("lib/contents.py", "--wheels", tree)
    assert done.returncode == 0 and done.stdout == "", done


def no_time_of_the_hosts_files_is_set(temp):
    """Where fonts are cached, a tree's own directories are looked through."""
    tree, host = temp / "tree", temp / "host"
    (host / "share").mkdir(parents=True)
    (host / "share/theirs").write_text("x")
    (tree / "usr/share/fonts").mkdir(parents=True)
    (tree / "usr/share/fonts/ours").write_text("x")
    (tree / "usr/local").symlink_to(host)
    (tree / "usr/bin").mkdir()
    (tree / "usr/bin/fc-cache").write_text("")
    (tree / "usr/bin/fc-cache").chmod(0o755)
    text = (IMAGES / "lib/settle").read_text()
    function = text[text.index("cache_fonts()"):text.index("# matplotlib keeps")]
    subprocess.run(["bash", "-euc", f"root={tree}\nin_root() {{ :; }}\n{function}\ncache_fonts"],
                   check=True, timeout=60, env={**os.environ, "SOURCE_DATE_EPOCH": "1754697600"})
    assert (tree / "usr/share/fonts/ours").stat().st_mtime == 1754697600
    assert (host / "share/theirs").stat().st_mtime != 1754697600


def zeros_after_the_last_file_may_lack_but_nothing_of_it(temp):
    whole = layer(member("d"), member("d/x", b"x" * 700))
    end = 2 * 512 + 700
    for size in (512, 600, 1023, 1024, end - 1, end, end + 1, 2047, 2048, 2560,
                 len(whole)):
        (temp / "in.tar").write_bytes(whole[:size])
        found, _ = flatten(f"tar:{temp}/in.tar", temp)
        if size >= end:
            assert found["d/x"][1] == b"x" * 700, size
        else:
            assert not found or "d/x" not in found, size


def what_is_no_archive_is_refused(temp):
    for data in (b"", b"x" * 5000, b"\x1f\x8b" + b"x" * 100,
                 layer(member("x", b"x" * 2000))[:1500]):
        (temp / "in.tar").write_bytes(data)
        flatten(f"tar:{temp}/in.tar", temp)
        assert not list(temp.glob("tmp*"))


# Images


def image(store, name="tiny", root=b"root", packages=None):
    """As images/build publishes one."""
    files = {"vmlinux": b"kernel", "initrd": b"initrd", "root.erofs": root}
    digests = {n: hashlib.sha256(d).hexdigest() for n, d in files.items()}
    text = "".join(d + "\n" for d in digests.values()) + "quiet\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    directory = store / f"{name}@{digest[:12]}"
    directory.mkdir(parents=True)
    for file, data in files.items():
        (directory / file).write_bytes(data)
    (directory / "manifest.json").write_text(json.dumps({
        "name": name, "digest": f"sha256:{digest}", "cmdline": "quiet",
        "packages": packages or {"python3": "3.13"},
        "files": {n: {"digest": f"sha256:{digests[n]}", "size": len(d)}
                  for n, d in files.items()}}))
    (store / name).unlink(missing_ok=True)
    (store / name).symlink_to(directory.name)
    return directory


def manage(store, *arguments):
    return run("manage.py", "--dir", store, *arguments)


def a_changed_file_is_found(temp):
    directory = image(temp / "s")
    assert manage(temp / "s", "verify").returncode == 0
    (directory / "root.erofs").write_bytes(b"ROOT")
    done = manage(temp / "s", "verify", "tiny")
    assert done.returncode == 1 and "root.erofs has the digest" in done.stdout
    assert "damaged" in manage(temp / "s", "export", "tiny", temp / "x.tar").stderr


def an_image_goes_to_another_host_as_one_file(temp):
    directory = image(temp / "s")
    assert manage(temp / "s", "export", "tiny", temp / "x.tar").returncode == 0
    done = manage(temp / "other", "import", temp / "x.tar")
    assert done.returncode == 0, done.stderr
    assert os.readlink(temp / "other/tiny") == directory.name
    assert manage(temp / "other", "verify").returncode == 0
    modes = {p.stat().st_mode & 0o777 for p in (temp / "other/tiny/").iterdir()}
    assert modes == {0o444}


def an_image_whose_digits_another_has_is_no_other_image(temp):
    directory = image(temp / "s")
    assert manage(temp / "s", "export", "tiny", temp / "x.tar").returncode == 0
    assert manage(temp / "s", "import", temp / "x.tar").returncode == 0
    manifest = json.loads((directory / "manifest.json").read_bytes())
    last = "1" if manifest["digest"].endswith("0") else "0"
    (directory / "manifest.json").write_text(json.dumps(
        {**manifest, "digest": manifest["digest"][:-1] + last}))
    done = manage(temp / "s", "import", temp / "x.tar")
    assert done.returncode == 1 and "is another image already" in done.stderr, done
    assert {p.name for p in (temp / "s").iterdir()} == {directory.name, "tiny"}


def changed(manifest, **members):
    return json.dumps({**json.loads(manifest), **members}).encode()


def an_archive_is_read_in_pieces(temp):
    directory = image(temp / "s")
    negative = tarfile.TarInfo("manifest.json")
    negative.size = -512
    for start in (swollen(tarfile.XHDTYPE, 64 << 30), swollen(tarfile.GNUTYPE_LONGNAME, 64 << 30),
                  negative.tobuf(tarfile.GNU_FORMAT), swollen(tarfile.XHDTYPE, 1) * 5000):
        with open(temp / "x.tar", "wb") as file:
            file.write(start)
            file.truncate(65 << 30)
        done = manage(temp / "other", "import", temp / "x.tar")
        assert done.returncode == 1 and "is refused" in done.stderr, done
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert directory.exists() and not list((temp / "other").iterdir())


def hostile_archives_are_refused_and_leave_nothing(temp):
    directory = image(temp / "s")
    text = (directory / "manifest.json").read_bytes()
    parts = [member(n, (directory / n).read_bytes())
             for n in ("vmlinux", "initrd", "root.erofs")]
    first = member("manifest.json", text)
    cases = [
        [], [first], [first, *parts[:2]], [first, *parts, member("more", b"x")],
        [first, link("vmlinux", "/etc/passwd"), *parts[1:]],
        [first, link("vmlinux", "manifest.json", tarfile.LNKTYPE), *parts[1:]],
        [member("../manifest.json", text), *parts],
        [first, parts[0], parts[1], member("root.erofs", b"rOOt")],
        [first, parts[0], parts[1], member("root.erofs", b"root and more")],
        [member("manifest.json", text.replace(b'"tiny"', b'"../x"')), *parts],
        [member("manifest.json", b"[]"), *parts],
        [member("manifest.json", b"[" * 100_000), *parts],
        [member("manifest.json", b"x" * (2 << 20)), *parts],
        [member("manifest.json", changed(text, files=["vmlinux", "initrd", "root.erofs"])),
         *parts],
        [member("manifest.json", changed(text, packages={"a": 1})), *parts],
        [member("manifest.json", changed(text, packages=[])), *parts],
        [member("manifest.json", text.replace(b"quiet", b"evil")), *parts],
    ]
    for number, members in enumerate(cases):
        (temp / "x.tar").write_bytes(layer(*members))
        done = manage(temp / "other", "import", temp / "x.tar")
        assert done.returncode == 1 and "is refused" in done.stderr, (number, done)
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert not list((temp / "other").iterdir()), number


def an_image_that_is_used_stays(temp):
    old = image(temp / "s", root=b"old")
    new = image(temp / "s", root=b"new")
    fd = os.open(old, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    done = manage(temp / "s", "rm", old.name)
    assert done.returncode == 1 and f"process {os.getpid()}" in done.stderr, done
    assert "kept" in manage(temp / "s", "prune").stdout and old.exists()
    os.close(fd)
    with open(old / "root.erofs", "rb"):
        assert manage(temp / "s", "rm", old.name).returncode == 1
    assert "would remove" in manage(temp / "s", "prune", "--dry-run").stdout
    assert "removed" in manage(temp / "s", "prune").stdout
    assert not old.exists() and new.exists()
    assert manage(temp / "s", "rm", "tiny").returncode == 0
    assert not list((temp / "s").iterdir())


def no_process_steers_a_terminal_by_its_name(temp):
    directory = image(temp / "s")
    with subprocess.Popen(["\x1b[2Jx\x9b8m", "-c", "import time; time.sleep(60)",
                           str(directory / "root.erofs")], executable=sys.executable) as process:
        done = manage(temp / "s", "rm", "tiny")
        process.kill()
    assert done.returncode == 1 and f"process {process.pid} ('\\x1b[2Jx" in done.stderr, done
    assert done.stderr.strip().isprintable()


class Daemon(socketserver.ThreadingUnixStreamServer):
    """Tells of pools and sessions what it was given."""

    daemon_threads = True

    def __init__(self, path, told):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = told[self.path.removeprefix("/admin/v1/")]
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        super().__init__(str(path), Handler)

    def handle_error(self, *_):
        """Who asked has heard enough."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self


def told_by(temp, told, name):
    """What rm says of an image that this process holds."""
    with Daemon(temp / "cupola.sock", told) as daemon:
        done = subprocess.run(
            [sys.executable, "-B", IMAGES / "manage.py", "--dir", temp / "s", "rm",
             name], capture_output=True, text=True, check=False, timeout=60,
            env=dict(os.environ, CUPOLA_SOCKET=str(temp / "cupola.sock")))
        daemon.shutdown()
    (temp / "cupola.sock").unlink()
    assert done.returncode == 1, done
    return done.stderr


def who_uses_an_image_is_called_as_the_daemon_does(temp):
    directory = image(temp / "s")
    full = "tiny@" + json.loads((directory / "manifest.json").read_text())["digest"]
    sessions = [{"id": f"cntr_{n:02}", "vm": f"vm_{n}", "session": {"image": full}}
                for n in range(12)]
    sessions.append({"id": "cntr_other", "vm": "vm_o", "session": {"image": "x@y"}})
    told = {"images": json.dumps({"images": [
                {"image": full, "pools": ["default", "big"]},
                {"image": "x@y", "pools": ["other"]}]}).encode(),
            "sessions": json.dumps({"data": sessions}).encode()}
    fd = os.open(directory, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    said = told_by(temp, told, directory.name)
    assert f"'{directory.name}' is used by pool 'big', pool 'default'," in said, said
    assert "session 'cntr_00'" in said and "2 more sessions" in said, said
    assert "other" not in said and "process" not in said, said
    # What makes no sense is as good as nothing, and nothing of it is printed.
    for bad in (b"", b"[]", b"{}", b'{"images": 7, "data": 7}', b"[" * 100_000,
                b'{"images": [{"image": "%s", "pools": ["\\u001b[2J"]}], "data": [7]}'
                % full.encode()):
        said = told_by(temp, {"images": bad, "sessions": bad}, directory.name)
        assert f"the pools of process {os.getpid()} " in said, (bad[:40], said)
        assert "\x1b" not in said and len(said.splitlines()) == 1, said
    os.close(fd)


def names_of_images_lead_nowhere_else(temp):
    image(temp / "s")
    (temp / "s" / "out").symlink_to("/etc")
    for name in ("..", "../s", "/etc", "out", "tiny@", "tiny@0", "none"):
        done = manage(temp / "s", "rm", name)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, name


def two_images_differ_by_packages_and_sizes(temp):
    one = image(temp / "s", packages={"a": "1", "b": "1"})
    two = image(temp / "s", root=b"other", packages={"b": "2", "c": "1"})
    done = manage(temp / "s", "diff", one.name, two.name)
    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == ["- a 1", "  b 1 -> 2", "+ c 1"]
    assert manage(temp / "s", "diff", one.name, one.name).returncode == 0


def no_image_steers_a_terminal_by_its_packages(temp):
    one = image(temp / "s", packages={"a\x1b[2J": "1", "b": "1\x9b8m"})
    two = image(temp / "s", root=b"other", packages={"b": "2", "c\u202e": "\n1"})
    done = manage(temp / "s", "diff", one.name, two.name)
    assert done.returncode == 1
    assert all(line.isprintable() for line in done.stdout.splitlines()), done.stdout
    assert done.stdout.splitlines()[:3] == [
        "- 'a\\x1b[2J' 1", "  b '1\\x9b8m' -> 2", "+ 'c\\u202e' '\\n1'"], done.stdout


def pip_names_no_stubs_of_types(temp):
    """Debian has hundreds of them, which nobody imports."""
    place = temp / "dist-packages"
    for name in ("numpy-2.2.4", "types_six-1.17"):
        (place / f"{name}.dist-info").mkdir(parents=True)
    text = (IMAGES / "lib/pip.py").read_text(encoding="utf-8")
    got = subprocess.run(
        [sys.executable, "-", "install", "requests"], text=True, check=False,
        input=f"{text.split('if __name__', 1)[0]}\nPLACES = ({str(place)!r},)\n"
              "sys.exit(main(sys.argv[1:]))", capture_output=True)
    assert got.returncode == 1, got
    assert got.stderr.endswith("These are there: numpy 2.2.4\n"), got.stderr


# Kernels


def shell(script, **names):
    """Run with what images/build has at that point; apt is a list of one line."""
    before = """set -euo pipefail
        die() { echo "$*" >&2; exit 1; }
        apt_prepare() { echo lists; }
        apt_version() { echo 9-1; }
        refresh='' offline='' recipe_suite=(trixie)
        . "$images_dir/lib/kernel.sh"; . "$images_dir/lib/kernel_own.sh"
        . "$images_dir/lib/manifest.sh"; recipe_cmdline=(word)
    """
    return subprocess.run(["bash", "-c", before + script], text=True, check=False,
                          capture_output=True, timeout=60,
                          env={**os.environ, "images_dir": str(IMAGES),
                               **{key: str(value) for key, value in names.items()}})


def found(cache, which, given=":"):
    done = shell(f'{given}; kernel_find {which}; basename "$kernel_entry"', cache=cache)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def a_kernel_is_taken_from_the_cache_or_made(temp):
    own = found(temp, "own")[-1]
    assert own.startswith("kernel-own@") and own.endswith("-9-1"), own
    assert found(temp, "debian") == ["lists", "kernel-debian@9-1"]
    # Debian's is what a first build waits for, not minutes of compiling.
    assert found(temp, "cached") == ["lists", "kernel-debian@9-1"]
    (temp / own).mkdir()
    assert found(temp, "cached") == ["lists", own]
    assert found(temp, "debian") == ["lists", "kernel-debian@9-1"]


def a_refresh_takes_the_newest_kernel_there_is_without_lists(temp):
    for version in ("8-1", "10-1"):
        (temp / f"kernel-debian@{version}").mkdir()
    assert found(temp, "cached", "refresh=yes") == ["kernel-debian@10-1"]
    own = found(temp, "own")[-1].removesuffix("9-1")
    (temp / "kernel-own@00000000-11-1").mkdir()     # of another kernel.config
    assert found(temp, "cached", "refresh=yes") == ["kernel-debian@10-1"]
    (temp / f"{own}8-1").mkdir()
    assert found(temp, "cached", "offline=yes") == [f"{own}8-1"]


def a_kernels_words_come_before_the_recipes(temp):
    of_own = shell("kernel_entry=/c/kernel-own@1-1; manifest_cmdline").stdout
    of_debian = shell("kernel_entry=/c/kernel-debian@1; manifest_cmdline").stdout
    assert of_own == "word\n"
    assert of_debian.split()[0] == "cryptomgr.notests" and of_debian.endswith(" word\n")
    limit = int((IMAGES / "lib/recipe.py").read_text().split("\nCMDLINE_MAX = ")[1].split()[0])
    assert len(of_debian) - len("word\n") + limit <= 511, "more than the daemon takes"


def an_image_is_tried_with_the_daemons_words(temp):
    """images/smoke and bench/words say what a guest of the daemon does."""
    source = (IMAGES.parent / "src/vmd/machine_create.c").read_text()
    says = "".join(re.findall('"(.*?)"', re.search(
        r"#define BASE_CMDLINE(.*?)\n\n.*?#define TSC_CMDLINE(.*?)\n", source, re.S)[0]))
    tried = re.search(r"\nWORDS = \((.*?)\)\n", (IMAGES / "plain_machine.py").read_text(), re.S)
    assert set("".join(re.findall('"(.*?)"', tried[1])).split()) == set(
        says.removesuffix(" tsc_early_khz=").split()), says


def each_group_of_the_kernels_options_has_a_reason(temp):
    seen = set()
    for group in (IMAGES / "kernel.config").read_text().strip().split("\n\n"):
        lines = group.splitlines()
        assert lines[0].startswith("# "), group
        names = [line.split("=")[0] for line in lines if not line.startswith("#")]
        assert all(re.fullmatch(r'CONFIG_\w+=(y|n|\d+|"[^"]*")', line)
                   for line in lines if not line.startswith("#")), group
        assert not seen & set(names), seen & set(names)
        seen |= set(names)


def an_option_that_linux_does_not_take_ends_the_build(temp):
    """As it is when what the option needs was not asked for."""
    make = 'make() { sed "$change" "$source/.fragment" >"$source/.config"; }; source=$cache; '
    done = shell(make + "kernel_own_config $cache", cache=temp, change="")
    assert done.returncode == 0, done.stderr
    for change, told in (("/CONFIG_EROFS_FS=/d", "CONFIG_EROFS_FS=y"),
                         ("s/# CONFIG_MODULES is not set/CONFIG_MODULES=y/", "CONFIG_MODULES=n")):
        done = shell(make + "kernel_own_config $cache", cache=temp, change=change)
        assert done.returncode == 1 and done.stderr.split()[-1] == told, done.stderr


def call(test):
    with tempfile.TemporaryDirectory(prefix="cup-images-") as name:
        test(pathlib.Path(name))


TESTS = [
    the_recipes_of_the_tree_can_be_read, what_is_wrong_is_told_with_its_line,
    a_recipe_that_lacks_something_is_refused, a_base_comes_first_and_never_forever,
    values_are_no_commands_of_the_builders_shell,
    the_key_follows_what_a_root_is_made_from, names_that_lead_out_are_refused,
    absolute_names_count_from_the_tree, a_link_leads_nowhere_but_into_the_tree,
    devices_and_privileged_bits_are_left_out,
    hard_links_lead_to_files_of_the_tree_only,
    whiteouts_take_away_what_layers_below_had,
    a_layer_that_is_not_what_its_digest_says_is_refused,
    a_giant_is_refused_before_it_is_read,
    headers_are_not_read_whatever_they_have,
    large_files_and_long_names_are_no_swollen_headers,
    what_is_no_file_is_no_description_of_a_layout,
    the_licences_of_a_tree_are_never_the_hosts, the_wheels_of_a_tree_are_never_the_hosts,
    no_time_of_the_hosts_files_is_set,
    zeros_after_the_last_file_may_lack_but_nothing_of_it, what_is_no_archive_is_refused,
    an_archive_is_read_in_pieces, an_image_whose_digits_another_has_is_no_other_image,
    a_changed_file_is_found, an_image_goes_to_another_host_as_one_file,
    hostile_archives_are_refused_and_leave_nothing, an_image_that_is_used_stays,
    no_process_steers_a_terminal_by_its_name,
    who_uses_an_image_is_called_as_the_daemon_does,
    names_of_images_lead_nowhere_else, two_images_differ_by_packages_and_sizes,
    no_image_steers_a_terminal_by_its_packages, pip_names_no_stubs_of_types,
    a_kernel_is_taken_from_the_cache_or_made,
    a_refresh_takes_the_newest_kernel_there_is_without_lists,
    a_kernels_words_come_before_the_recipes,
    an_image_is_tried_with_the_daemons_words,
    each_group_of_the_kernels_options_has_a_reason,
    an_option_that_linux_does_not_take_ends_the_build,
]

if __name__ == "__main__":
    sys.exit(tap.run(TESTS, call))
