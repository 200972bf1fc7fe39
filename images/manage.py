#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Looks after the images that images/build publishes: see cupolactl(1), images.

usage: cupolactl images verify [IMAGE...]
       cupolactl images export IMAGE FILE
       cupolactl images import FILE
       cupolactl images rm IMAGE...
       cupolactl images prune [--dry-run]
       cupolactl images diff IMAGE IMAGE

--dir DIRECTORY, in front of these words, is where images are. An IMAGE is NAME,
the newest of that name, or NAME@DIGITS. Exit status 1 is a "no": it differs, it
is in use, it is refused; 2 a wrong command line.
"publish NEW" is for images/build: it moves a directory with an image's files,
which it has tried, to where they are found.
"""

import argparse
import fcntl
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile

from users import shown, users_of

PARTS = ("vmlinux", "initrd", "root.erofs")
MANIFEST = "manifest.json"
MANIFEST_MAX = 1 << 20
IMAGE_MAX = 32 << 30
BLOCK = 1 << 20
PIN_DIGITS = 12
USAGE = __doc__.split("\n\n")[1].removeprefix("usage: ")
NAME = r"[a-z0-9][a-z0-9.-]{0,30}"


class ImageError(Exception):
    """Why it is not done, in a sentence."""


def read_manifest(path):
    """A manifest, with what we rely on checked."""
    try:
        with open(path, "rb") as file:
            text = file.read(MANIFEST_MAX + 1)
        manifest = json.loads(text)
        sound = (len(text) <= MANIFEST_MAX
                 and re.fullmatch(NAME, manifest["name"])
                 and re.fullmatch(r"sha256:[0-9a-f]{64}", manifest["digest"])
                 and isinstance(manifest["files"], dict)
                 and set(manifest["files"]) == set(PARTS)
                 and isinstance(manifest["cmdline"], str)
                 and isinstance(manifest["packages"], dict)
                 and all(isinstance(version, str)
                         for version in manifest["packages"].values())
                 and all(re.fullmatch(r"sha256:[0-9a-f]{64}", f["digest"])
                         and isinstance(f["size"], int)
                         and 0 <= f["size"] <= IMAGE_MAX
                         for f in manifest["files"].values()))
    except OSError as e:
        raise ImageError(f"its manifest cannot be read: {e.strerror}") from e
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise ImageError("its manifest is no image's")
    return manifest


def image_digest(manifest):
    """As images/lib/manifest.sh makes it."""
    lines = [manifest["files"][part]["digest"].removeprefix("sha256:")
             for part in PARTS] + [manifest["cmdline"]]
    text = "".join(line + "\n" for line in lines)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def directory_name(manifest):
    digits = manifest["digest"].removeprefix("sha256:")[:PIN_DIGITS]
    return f"{manifest['name']}@{digits}"


def full_name(directory):
    """As daemons have it; what is damaged is nobody's."""
    try:
        manifest = read_manifest(directory / MANIFEST)
    except ImageError:
        return directory.name
    return f"{manifest['name']}@{manifest['digest']}"


def flush(path):
    """To the disk, a directory's names as well."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def check(directory):
    """What is wrong with an image's files, as sentences."""
    manifest = read_manifest(directory / MANIFEST)
    if image_digest(manifest) != manifest["digest"]:
        yield "its digest is not that of its files"
    for name, expected in manifest["files"].items():
        path = directory / name
        if path.is_symlink() or not path.is_file():
            yield f"{name} is missing"
            continue
        if path.stat().st_size != expected["size"]:
            yield (f"{name} has {path.stat().st_size} bytes, not"
                   f" {expected['size']}")
            continue
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if f"sha256:{digest}" != expected["digest"]:
            yield f"{name} has the digest sha256:{digest}"


class Store:
    """A directory of images: NAME@DIGITS, and NAME, which leads to one."""

    def __init__(self, path):
        self.path = path

    def find(self, name):
        if not re.fullmatch(rf"{NAME}(@[0-9a-f]{{{PIN_DIGITS}}})?", name):
            raise ImageError(f"'{name}' is no image: say NAME or NAME@DIGITS")
        directory = (self.path / name).resolve()
        if directory.parent != self.path.resolve() or not directory.is_dir():
            raise ImageError(f"there is no image '{name}' in {self.path}")
        return directory

    def all(self):
        if not self.path.is_dir():
            raise ImageError(f"there is no directory {self.path}")
        return sorted(p for p in self.path.iterdir()
                      if re.fullmatch(rf"{NAME}@[0-9a-f]{{{PIN_DIGITS}}}",
                                      p.name) and not p.is_symlink())

    def newest(self):
        """Directories that a plain name leads to."""
        return {p.resolve() for p in self.path.iterdir() if p.is_symlink()}

    def publish(self, staging, manifest):
        """Put a checked image in place and make its name lead to it.

        A directory NAME@DIGITS never changes. Whoever opens NAME gets all files
        of one image, and VMs that run on an older one keep it, until prune.
        """
        target = self.path / directory_name(manifest)
        # The digits are few enough to be looked for.
        if target.exists() and full_name(target) \
                != f"{manifest['name']}@{manifest['digest']}":
            raise ImageError(f"'{target.name}' is another image already")
        for path in staging.iterdir():
            path.chmod(0o444)
            flush(path)
        staging.chmod(0o755)
        flush(staging)
        if not target.exists():
            os.rename(staging, target)
        link = self.path / f".{manifest['name']}.{os.getpid()}"
        link.symlink_to(target.name)
        os.replace(link, self.path / manifest["name"])
        return target

    def remove(self, directory):
        """Nobody can find it once it has another name; then it goes."""
        gone = self.path / f".removed.{directory.name}.{os.getpid()}"
        os.rename(directory, gone)
        shutil.rmtree(gone)


def remove_unused(store, directory):
    """Under the lock that cupola-vmd takes to use it; False if it is used."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        store.remove(directory)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(fd)


def do_verify(store, options):
    directories = [store.find(n) for n in options.image] or store.all()
    bad = 0
    for directory in directories:
        try:
            wrong = list(check(directory))
        except ImageError as e:
            wrong = [str(e)]
        print(f"{directory.name}: {'; '.join(wrong) or 'ok'}")
        bad += bool(wrong)
    return 1 if bad else 0


def do_export(store, options):
    directory = store.find(options.image)
    if wrong := list(check(directory)):
        raise ImageError(f"'{options.image}' is damaged: {wrong[0]}")
    temporary = options.file.with_name(f".{options.file.name}.{os.getpid()}")
    try:
        with tarfile.open(temporary, "x", format=tarfile.USTAR_FORMAT) as tar:
            for name in (MANIFEST, *PARTS):
                info = tar.gettarinfo(directory / name, name)
                info.mode, info.uid, info.gid = 0o444, 0, 0
                info.uname = info.gname = ""
                info.type, info.linkname = tarfile.REGTYPE, ""
                info.size = (directory / name).stat().st_size
                with open(directory / name, "rb") as file:
                    tar.addfile(info, file)
        os.replace(temporary, options.file)
    finally:
        temporary.unlink(missing_ok=True)
    print(f"{directory.name} is in {options.file}")
    return 0


class InPieces(io.FileIO):
    """An archive, of which no more than a piece is read at once: tarfile takes
    what a header says it has for what there is memory for."""

    def read(self, size=-1):
        if not 0 <= size <= BLOCK:
            raise tarfile.ReadError("a header of it is too large")
        return super().read(size)


def take_member(tar, expected, limit, path):
    """The next member, which has to be this plain file, to a new file."""
    info = tar.next()
    if info is None or info.name != expected or not info.isreg():
        what = f"{info.name[:60]!r}" if info else "its end"
        raise ImageError(f"where '{expected}' is expected it has {what}")
    if not 0 <= info.size <= limit:
        raise ImageError(f"'{expected}' has more than {limit} bytes")
    source, left = tar.extractfile(info), info.size
    with open(path, "xb") as file:
        while left:
            block = source.read(min(left, BLOCK))
            if not block:
                raise ImageError(f"it ends within '{expected}'")
            file.write(block)
            left -= len(block)


def do_import(store, options):
    store.path.mkdir(mode=0o755, parents=True, exist_ok=True)
    staging = pathlib.Path(tempfile.mkdtemp(prefix=".import.", dir=store.path))
    try:
        with InPieces(options.file) as file, \
                tarfile.open(fileobj=file, mode="r:") as tar:
            take_member(tar, MANIFEST, MANIFEST_MAX, staging / MANIFEST)
            manifest = read_manifest(staging / MANIFEST)
            need = sum(f["size"] for f in manifest["files"].values())
            free = shutil.disk_usage(store.path).free
            if need > free:
                raise ImageError(f"{store.path} has {free >> 20} MiB free and"
                                 f" this needs {need >> 20}")
            for part in PARTS:
                take_member(tar, part, manifest["files"][part]["size"],
                            staging / part)
            if tar.next() is not None:
                raise ImageError("it has more than an image's files")
        if wrong := list(check(staging)):
            raise ImageError(wrong[0])
        target = store.publish(staging, manifest)
    except (tarfile.TarError, EOFError, ValueError, RecursionError,
            ImageError) as e:
        raise ImageError(f"'{options.file}' is refused: {e}") from e
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    print(f"{manifest['name']} is now {target.name}")
    return 0


def do_publish(store, options):
    store.publish(options.new, read_manifest(options.new / MANIFEST))
    return 0


def do_rm(store, options):
    directories = list(dict.fromkeys(store.find(n) for n in options.image))
    users = users_of({d: full_name(d) for d in directories})
    for directory in directories:
        if users[directory] or not remove_unused(store, directory):
            raise ImageError(f"'{directory.name}' is used by "
                             + ", ".join(users[directory] or ["a new pool"]))
        for link in store.path.iterdir():
            if link.is_symlink() and not link.exists():
                link.unlink()
        print(f"removed {directory.name}")
    return 0


def do_prune(store, options):
    newest = store.newest()
    old = [d for d in store.all() if d.resolve() not in newest]
    users = users_of({d: full_name(d) for d in old})
    for directory in old:
        if users[directory]:
            print(f"kept {directory.name}: {', '.join(users[directory])}")
        elif options.dry_run:
            print(f"would remove {directory.name}")
        elif remove_unused(store, directory):
            print(f"removed {directory.name}")
    return 0


def mib(size):
    return f"{size / (1 << 20):.1f} MiB"


def do_diff(store, options):
    one, two = (read_manifest(store.find(n) / MANIFEST) for n in options.images)
    before, after = one["packages"], two["packages"]
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            print(f"+ {shown(name)} {shown(after[name])}")
        elif name not in after:
            print(f"- {shown(name)} {shown(before[name])}")
        elif before[name] != after[name]:
            print(f"  {shown(name)} {shown(before[name])} ->"
                  f" {shown(after[name])}")
    for part in PARTS:
        a, b = one["files"][part], two["files"][part]
        if a["digest"] != b["digest"]:
            print(f"  {part}: {mib(a['size'])} -> {mib(b['size'])}")
    return 0 if one["digest"] == two["digest"] else 1


def default_directory():
    if named := os.environ.get("CUPOLA_IMAGES"):
        return pathlib.Path(named)
    if os.getuid() == 0:
        return pathlib.Path("/var/lib/cupola/images")
    return pathlib.Path(__file__).resolve().parent / "out"


def parse():
    parser = argparse.ArgumentParser(
        prog="cupolactl images", usage=USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=pathlib.Path, default=default_directory())
    commands = parser.add_subparsers(required=True, metavar="COMMAND",
                                     prog="cupolactl images")

    def command(name, do, *arguments):
        line = re.search(rf"\S+ \S+ {name}\b.*", USAGE)
        sub = commands.add_parser(name, usage=line and line[0])
        for flags, kind in arguments:
            sub.add_argument(flags, **kind)
        sub.set_defaults(do=do)

    path = {"type": pathlib.Path}
    command("verify", do_verify, ("image", {"nargs": "*"}))
    command("export", do_export, ("image", {}), ("file", path))
    command("import", do_import, ("file", path))
    command("publish", do_publish, ("new", path))
    command("rm", do_rm, ("image", {"nargs": "+"}))
    command("prune", do_prune, ("--dry-run", {"action": "store_true"}))
    command("diff", do_diff, ("images", {"nargs": 2}))
    return parser.parse_args()


def main():
    options = parse()
    try:
        return options.do(Store(options.dir), options)
    except ImageError as e:
        print(e, file=sys.stderr)
    except OSError as e:
        print(f"{e.filename or 'a file'}: {e.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
