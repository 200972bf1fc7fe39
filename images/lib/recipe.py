#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads an image's recipe, strictly, and prints it as variables of a shell.

usage: recipe.py DIRECTORY [DIRECTORY-OF-BASES]

cupola-image(5) is the format's description. What is wrong is told with file and
line, in one sentence, and then nothing is printed.
"""

import glob
import hashlib
import os
import pathlib
import re
import shlex
import stat
import sys

BASES_MAX = 8
VALUE_MAX = 4096
# What the guest agent gives to Python itself; see guest-agent/zygote.c.
AGENT_NAMES = {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL",
               "TZ", "TERM", "MPLBACKEND"}
ENVIRONMENT_MAX = 4096
# 511 are for all images; see kernel_words in kernel.sh for the others.
CMDLINE_MAX = 400
POOL_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class RecipeError(Exception):
    """What is wrong with a recipe, in a sentence."""


def fail(where, sentence):
    raise RecipeError(f"{where}: {sentence}")


def checked(pattern, what):
    """A reader of values between spaces, each of which fits a pattern."""
    def read(where, text, _):
        values = text.split()
        for value in values:
            if not re.fullmatch(pattern, value):
                fail(where, f"'{value}' is no {what}")
        return values
    return read


def one(read):
    """A reader of exactly one value."""
    def read_one(where, text, directory):
        values = read(where, text, directory)
        if len(values) != 1:
            fail(where, f"one value is expected, not {len(values)}")
        return values
    return read_one


def inside(where, directory, name):
    """A path of the recipe's directory; links out of it are no part of it."""
    path = directory / name
    if not path.resolve().is_relative_to(directory.resolve()):
        fail(where, f"'{name}' is outside of the recipe's directory")
    return path


def read_wheels(where, text, directory):
    paths = []
    for pattern in text.split():
        found = sorted(glob.glob(str(directory / pattern)))
        if not found:
            fail(where, f"there is no file '{pattern}'")
        for path in found:
            inside(where, directory, os.path.relpath(path, directory))
            if not path.endswith(".whl"):
                fail(where, f"'{os.path.basename(path)}' is no wheel (.whl)")
        paths += found
    return paths


def read_files(where, text, directory):
    words = text.split()
    if len(words) != 2:
        fail(where, "a file or directory and where it goes are expected,"
                    f" not {len(words)} words")
    source = inside(where, directory, words[0])
    if not source.exists():
        fail(where, f"there is no file '{words[0]}'")
    if not re.fullmatch(r"(/[^/\s]+)+", words[1]) or ".." in words[1].split("/"):
        fail(where, f"'{words[1]}' is no absolute path")
    return [str(source), words[1]]


def read_root(where, text, directory):
    kind, _, rest = text.partition(":")
    if kind not in ("tar", "oci", "oci-archive", "docker-archive") or not rest:
        fail(where, f"'{text}' is none of tar:FILE, oci:DIRECTORY[:TAG],"
                    " oci-archive:FILE, docker-archive:FILE")
    name = rest.partition(":")[0]
    if not inside(where, directory, name).exists():
        fail(where, f"there is no file '{name}'")
    return [f"{kind}:{directory.resolve()}/{rest}"]


def read_environment(where, text, _):
    name, equals, _ = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        fail(where, f"'{text}' is not of the form NAME=value")
    if name in AGENT_NAMES:
        fail(where, f"'{name}' is the guest agent's to set")
    return [text]


def read_pool(where, text, _):
    for value in text.split():
        name, _, number = value.partition("=")
        patterns = {"memory": r"[1-9][0-9]*[MG]", "disk": r"[1-9][0-9]*[MGT]",
                    "vcpus": r"[1-9][0-9]?"}
        if name not in patterns:
            fail(where, f"'{name}' is none of {', '.join(patterns)}")
        if not re.fullmatch(patterns[name], number):
            fail(where, f"'{value}' has no such number as {name} needs"
                        " (memory=1G disk=2G vcpus=1)")
    return text.split()


def read_kernel(where, text, _):
    if text not in ("debian", "own", "cached"):
        fail(where, f"'{text}' is none of debian, own, cached")
    return [text]


# How each keyword's values are read.
READERS = {
    "base": one(checked(r"[a-z0-9][a-z0-9.-]{0,30}", "name of a recipe")),
    "suite": one(checked(r"[a-z]+", "release of Debian")),
    "root": read_root,
    "packages": checked(r"[a-z0-9][a-z0-9+.-]+", "name of a Debian package"),
    "kernel": read_kernel,
    "compression": one(checked(r"none|(lz4|lz4hc|lzma|deflate|zstd)(,[0-9]+)?",
                               "compression of mkfs.erofs")),
    "exclude": checked(r"/[^\s]+", "absolute path"),
    "files": read_files,
    "wheels": read_wheels,
    "run": lambda where, text, _: [text],
    "environment": read_environment,
    "preimport": checked(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*",
                         "module's name"),
    "cmdline": checked(r"[!-~]+", "word of a kernel command line"),
    "pool": read_pool,
}
# Of these the last one counts; of all others the values add up.
SINGLE = {"suite", "root", "kernel", "compression"}
# What a root file system does not depend on: initrd and manifest have it.
NOT_OF_ROOT = {"base", "kernel", "preimport", "environment", "cmdline", "pool"}
FILE_KEYWORDS = {"files", "wheels", "root"}


def find_base(where, name, directory, bases):
    for place in (directory.parent, bases):
        if (place / name / "recipe").is_file():
            return place / name
    fail(where, f"there is no recipe '{name}'")


def read_lines(path):
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        fail(path, f"it cannot be read ({getattr(e, 'strerror', None) or e})")
    return [line.strip() for line in text.split("\n")]


def read_line(where, line, directory):
    keyword, _, text = line.partition(" ")
    if "\t" in keyword:
        keyword, _, text = line.partition("\t")
    text = text.strip()
    if keyword not in READERS:
        fail(where, f"'{keyword}' is no keyword;"
                    f" these are: {' '.join(READERS)}")
    if not text or len(text) > VALUE_MAX or not text.isprintable():
        what = ("is empty" if not text else
                f"is longer than {VALUE_MAX} characters"
                if len(text) > VALUE_MAX else "has control characters")
        fail(where, f"the value of '{keyword}' {what}")
    return keyword, READERS[keyword](where, text.replace("\t", " "), directory)


def read_into(recipe, directory, bases, depth=0):
    seen = set()
    for number, line in enumerate(read_lines(directory / "recipe"), 1):
        if not line or line.startswith("#"):
            continue
        where = f"{directory / 'recipe'}:{number}"
        keyword, values = read_line(where, line, directory)
        if keyword in SINGLE | {"base"} and keyword in seen:
            fail(where, f"'{keyword}' is said a second time")
        if keyword == "base":
            if seen:
                fail(where, "'base' has to come first")
            if depth == BASES_MAX:
                fail(where, f"more than {BASES_MAX} recipes build on each"
                            " other, or on themselves")
            read_into(recipe, find_base(where, values[0], directory, bases),
                      bases, depth + 1)
        seen.add(keyword)
        if keyword in SINGLE:
            recipe[keyword] = values
        else:
            recipe[keyword] += values


def check(recipe, path):
    """What is wrong with the whole is told without a line."""
    for keyword in ("suite", "compression"):
        if not recipe[keyword]:
            fail(path, f"the keyword '{keyword}' is missing")
    if recipe["root"] and recipe["packages"]:
        fail(path, "'packages' need Debian's root file system, but 'root'"
                   " brings another")
    if not recipe["root"] and not recipe["packages"]:
        fail(path, "the keyword 'packages' or 'root' is missing")
    for keyword, limit in (("environment", ENVIRONMENT_MAX),
                           ("cmdline", CMDLINE_MAX)):
        if len(" ".join(recipe[keyword]).encode()) > limit:
            fail(path, f"'{keyword}' has more than {limit} bytes")
    recipe["kernel"] = recipe["kernel"] or ["debian"]


def read_recipe(directory, bases):
    directory = pathlib.Path(directory)
    recipe = {keyword: [] for keyword in READERS}
    read_into(recipe, directory, pathlib.Path(bases))
    check(recipe, directory / "recipe")
    return recipe


def add_file(digest, path):
    """What a file is, to a digest: name, mode and content, all below it."""
    mode = os.lstat(path).st_mode
    digest.update(f"{os.path.basename(path)}\0{mode & 0o111:o}\0".encode())
    if stat.S_ISLNK(mode):
        digest.update(os.readlink(path).encode())
    elif stat.S_ISDIR(mode):
        for name in sorted(os.listdir(path)):
            add_file(digest, os.path.join(path, name))
    else:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())


def root_key(recipe):
    """Of all that a root file system is made from and is in the recipe."""
    digest = hashlib.sha256()
    for keyword, values in recipe.items():
        if keyword in NOT_OF_ROOT:
            continue
        for value in values:
            digest.update(f"{keyword}\0".encode())
            path = value.partition(":")[2].partition(":")[0] \
                if keyword == "root" else value
            if keyword in FILE_KEYWORDS and os.path.lexists(path):
                add_file(digest, path)
            else:
                digest.update(f"{value}\0".encode())
    return digest.hexdigest()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    bases = sys.argv[2] if len(sys.argv) == 3 \
        else pathlib.Path(__file__).resolve().parents[1]
    try:
        recipe = read_recipe(sys.argv[1], bases)
    except RecipeError as e:
        sys.exit(str(e))
    for keyword, values in recipe.items():
        print(f"recipe_{keyword}=({' '.join(map(shlex.quote, values))})")
    print(f"recipe_key={root_key(recipe)}")


if __name__ == "__main__":
    main()
