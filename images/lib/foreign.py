#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one clean tar of a root file system that somebody else packed.

usage: foreign.py tar:FILE|oci:DIRECTORY[:TAG]|oci-archive:FILE|docker-archive:FILE
                  OUTPUT.tar

Nothing is unpacked here. The layers are read into a tree of names in memory, in
which links lead nowhere but into the tree; what is left at the end is written as
a tar of plain members, parents first, without a link above any of them.

Refused is what no honest image has: names with "..", a link that never ends,
more than the limits below. Left out is what a guest has no use for: devices,
fifos, setuid and setgid bits, extended attributes, and what lies in directories
that a guest brings itself.
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ENTRIES_MAX = 1_000_000
BYTES_MAX = 16 << 30
LAYERS_MAX = 256
JSON_MAX = 4 << 20
# A member's headers, which tarfile reads at once: long names, attributes
HEADERS_MAX = 4 << 20
NAME_MAX = 255
PATH_MAX = 4096
LINKS_MAX = 40
MEMBER = 1 << 20        # bytes copied at a time
# The guest mounts these itself.
DROPPED = {"dev", "proc", "sys", "run", "tmp"}
EPOCH = 1754697600


class ForeignError(Exception):
    """Why this root is not taken, in a sentence."""


class Node:
    """A name's file: a directory has children, a file where its bytes are."""

    def __init__(self, kind, info=None):
        self.kind = kind
        self.children = {}
        self.mode = (info.mode & 0o1777) if info else 0o755
        self.uid = info.uid if info and 0 <= info.uid < 1 << 16 else 0
        self.gid = info.gid if info and 0 <= info.gid < 1 << 16 else 0
        self.target = info.linkname if info and kind == "link" else None
        self.data = None        # (offset in the spool, size)


def parts_of(name):
    """A member's name as a list; absolute ones count from the tree's root."""
    parts = [p for p in name.split("/") if p not in ("", ".")]
    if ".." in parts:
        raise ForeignError(f"a member is called {name[:80]!r}")
    if any(len(p.encode(errors="surrogateescape")) > NAME_MAX for p in parts) \
            or len(name) > PATH_MAX or "\0" in name:
        raise ForeignError(f"a member's name is too long: {name[:40]!r}…")
    return parts


class Tree:
    """All names of an image, layer above layer."""

    def __init__(self, spool):
        self.root = Node("dir")
        self.spool = spool
        self.entries = 0
        self.bytes = 0
        self.left_out = {}

    def walk(self, parts, create):
        """The directory of these names, through links, never out of the tree."""
        todo, path, links = list(reversed(parts)), [self.root], 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                path = path[:-1] or [self.root]
                continue
            child = path[-1].children.get(part)
            if child is not None and child.kind == "link":
                links += 1
                if links > LINKS_MAX:
                    raise ForeignError("a symbolic link never ends")
                if child.target.startswith("/"):
                    path = [self.root]
                todo += reversed(child.target.split("/"))
                continue
            if child is None or child.kind != "dir":
                if not create:
                    return None
                child = path[-1].children[part] = Node("dir")
                self.count(0)
            path.append(child)
        return path[-1]

    def count(self, size):
        self.entries += 1
        self.bytes += size
        if self.entries > ENTRIES_MAX:
            raise ForeignError(f"it has more than {ENTRIES_MAX} files")
        if self.bytes > BYTES_MAX:
            raise ForeignError(f"its files have more than {BYTES_MAX >> 30} GiB")

    def leave_out(self, what):
        self.left_out[what] = self.left_out.get(what, 0) + 1

    def add_layer(self, layer, source):
        fresh = set()
        for info in members(layer, source):
            self.add(info, layer, fresh)

    def add(self, info, layer, fresh):
        parts = parts_of(info.name)
        if not parts:
            return
        if parts[0] in DROPPED and not (len(parts) == 1 and info.isdir()):
            self.leave_out(f"in /{parts[0]}")
            return
        parent, name = self.walk(parts[:-1], True), parts[-1]
        if name.startswith(".wh."):
            self.white_out(parent, name, fresh)
            return
        node = self.make(info, layer)
        if node is None:
            return
        old = parent.children.get(name)
        if node.kind == "dir" and old is not None and old.kind == "dir":
            node.children = old.children
        if old is node:
            return
        parent.children[name] = node
        fresh.add(id(node))

    def white_out(self, parent, name, fresh):
        """What layers below had goes; what this layer brought stays."""
        if name == ".wh..wh..opq":
            parent.children = {n: c for n, c in parent.children.items()
                               if id(c) in fresh}
        else:
            parent.children.pop(name[len(".wh."):], None)

    def make(self, info, layer):
        self.count(0)
        if info.mode & 0o6000:
            self.leave_out("setuid and setgid bits")
        if info.isdir():
            return Node("dir", info)
        if info.issym():
            if not info.linkname or len(info.linkname) > PATH_MAX \
                    or "\0" in info.linkname:
                raise ForeignError("a symbolic link has no sound target")
            return Node("link", info)
        if info.islnk():
            target = parts_of(info.linkname)
            parent = self.walk(target[:-1], False) if target else None
            node = parent and parent.children.get(target[-1])
            if node is None or node.kind == "dir":
                raise ForeignError(f"{info.name[:80]!r} is a link to a file"
                                   " that is not there")
            return node
        if not info.isreg():
            self.leave_out("devices and fifos")
            return None
        return self.make_file(info, layer)

    def make_file(self, info, layer):
        self.count(info.size)
        node = Node("file", info)
        node.data = (self.spool.tell(), info.size)
        source, left = layer.extractfile(info), info.size
        while left:
            block = source.read(min(left, MEMBER))
            if not block:
                raise ForeignError("a layer ends within a file")
            self.spool.write(block)
            left -= len(block)
        return node

    def write(self, output):
        with tarfile.open(output, "w", format=tarfile.PAX_FORMAT,
                          errors="surrogateescape") as tar:
            self.write_directory(tar, "", self.root, {})

    def write_directory(self, tar, path, node, written):
        for name, child in sorted(node.children.items()):
            self.write_node(tar, path + name, child, written)

    def write_node(self, tar, path, node, written):
        info = tarfile.TarInfo(path)
        info.mode, info.uid, info.gid = node.mode, node.uid, node.gid
        info.mtime = EPOCH
        if id(node) in written:
            info.type, info.linkname = tarfile.LNKTYPE, written[id(node)]
            tar.addfile(info)
        elif node.kind == "dir":
            info.type = tarfile.DIRTYPE
            tar.addfile(info)
            self.write_directory(tar, path + "/", node, written)
        elif node.kind == "link":
            info.type, info.linkname = tarfile.SYMTYPE, node.target
            tar.addfile(info)
        else:
            written[id(node)] = path
            offset, info.size = node.data
            self.spool.seek(offset)
            tar.addfile(info, self.spool)


class Limited:
    """An unpacker's output, which ends at a limit however small its input is."""

    def __init__(self, file):
        self.file = file
        self.bytes = 0
        self.limit = HEADERS_MAX    # where the next member has begun

    def read(self, size):
        data = self.file.read(size)
        self.bytes += len(data)
        if self.bytes > BYTES_MAX + (ENTRIES_MAX << 10):
            raise ForeignError(f"a layer has more than {BYTES_MAX >> 30} GiB")
        if self.bytes > self.limit + tarfile.RECORDSIZE:
            raise ForeignError("a member's headers have more than"
                               f" {HEADERS_MAX >> 20} MiB")
        return data


def members(layer, source):
    """All of a layer. umoci leaves out the zeros after the last file's data, and
    as others read that, so do we; data that is cut off is another matter."""
    end = 0
    while True:
        try:
            info = layer.next()
        except tarfile.ReadError:
            if end <= source.bytes < end + -end % tarfile.BLOCKSIZE:
                return
            raise
        if info is None:
            return
        end = info.offset_data + (info.size if info.isreg() else 0)
        source.limit = layer.offset + HEADERS_MAX
        yield info
        # All that came stays there otherwise, with whatever its headers had.
        layer.members.clear()
        layer.pax_headers.clear()


UNPACKERS = ((b"\x1f\x8b", ["gzip", "-dc"]), (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]),
             (b"\xfd7zXZ", ["xz", "-dc", "--memlimit-decompress=512MiB"]))


def add_packed(tree, path):
    """A tar, packed or not, as a further layer."""
    with open(path, "rb") as file:
        start = file.read(8)
    command = next((c for magic, c in UNPACKERS if start.startswith(magic)),
                   ["cat"])
    with subprocess.Popen([*command, "--", str(path)],
                          stdout=subprocess.PIPE) as unpacker:
        source = Limited(unpacker.stdout)
        try:
            with tarfile.open(fileobj=source, mode="r|",
                              errors="surrogateescape") as layer:
                tree.add_layer(layer, source)
        except BaseException:
            unpacker.kill()
            raise
        # Zeros may follow the archive's end.
        while unpacker.stdout.read(MEMBER):
            pass
        if unpacker.wait() != 0:
            raise ForeignError("a layer cannot be unpacked")


def blob(directory, description):
    """A part of an OCI layout, by its digest, which is checked."""
    match = re.fullmatch(r"sha256:([0-9a-f]{64})",
                         str(description.get("digest")))
    if not match:
        raise ForeignError("the layout names a part by no SHA-256 digest")
    path = directory / "blobs" / "sha256" / match[1]
    if path.is_symlink() or not path.is_file():
        raise ForeignError(f"the layout lacks its part {match[1][:12]}")
    with open(path, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != match[1]:
            raise ForeignError(f"the part {match[1][:12]} is not what its"
                               " digest says")
    return path


def read_json(path):
    if not path.is_file():
        raise ForeignError("the layout lacks a description")
    with open(path, "rb") as file:
        text = file.read(JSON_MAX + 1)
    if len(text) > JSON_MAX:
        raise ForeignError("a description in the layout is too large")
    return json.loads(text)


def layers_of(directory, tag):
    """Paths of an OCI layout's layers, lowest first, for this processor."""
    manifests = read_json(directory / "index.json")["manifests"]
    if tag:
        manifests = [m for m in manifests if m.get("annotations", {}).get(
            "org.opencontainers.image.ref.name") == tag]
    for _ in range(3):
        fitting = [m for m in manifests
                   if m.get("platform", {}).get("architecture", "amd64")
                   == "amd64"]
        if len(fitting) != 1:
            raise ForeignError(f"{len(fitting)} images of the layout fit:"
                               " name one by its tag")
        manifest = read_json(blob(directory, fitting[0]))
        if "layers" in manifest:
            break
        manifests = manifest["manifests"]
    else:
        raise ForeignError("the layout names no layers")
    config = read_json(blob(directory, manifest["config"]))
    if (config.get("os"), config.get("architecture")) != ("linux", "amd64"):
        raise ForeignError(f"it is for {config.get('os')} on"
                           f" {config.get('architecture')}, not for linux on"
                           " amd64")
    if len(manifest["layers"]) > LAYERS_MAX:
        raise ForeignError(f"it has more than {LAYERS_MAX} layers")
    return [blob(directory, layer) for layer in manifest["layers"]]


def add_image(tree, source, temporary):
    kind, _, rest = source.partition(":")
    if kind == "tar":
        add_packed(tree, pathlib.Path(rest))
        return
    name, _, tag = rest.partition(":")
    directory = pathlib.Path(name)
    if kind != "oci":
        if not shutil.which("skopeo"):
            raise ForeignError("skopeo is missing: install it for"
                               " oci-archive and docker-archive")
        directory, tag = temporary / "layout", "image"
        done = subprocess.run(
            ["skopeo", "copy", "--quiet", "--insecure-policy", source,
             f"oci:{directory}:image"], capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise ForeignError(f"skopeo cannot read it: {done.stderr[-200:]}")
    for layer in layers_of(directory, tag):
        add_packed(tree, layer)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, output = sys.argv[1], pathlib.Path(sys.argv[2])
    # Paths recurse, once for each directory on the way: 4,096 bytes at most.
    sys.setrecursionlimit(10_000)
    try:
        with tempfile.TemporaryDirectory(dir=output.parent) as name, \
                tempfile.TemporaryFile(dir=output.parent) as spool:
            tree = Tree(spool)
            add_image(tree, source, pathlib.Path(name))
            tree.write(output)
    except ForeignError as e:
        output.unlink(missing_ok=True)
        sys.exit(f"this root is refused: {e}")
    except (OSError, tarfile.TarError, KeyError, TypeError, AttributeError,
            ValueError, EOFError, RecursionError) as e:
        output.unlink(missing_ok=True)
        sys.exit(f"this root is refused: it cannot be read ({e!r:.200})")
    for what, count in sorted(tree.left_out.items()):
        print(f"left out: {count} {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
