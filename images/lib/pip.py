#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pip, in a guest: there is no network, and maybe a directory of wheels.

Stands before Debian's pip. What cannot be installed is told at once, with what
is there instead of it; all else is pip's own affair.
"""

import glob
import os
import re
import sys

WHEELS = "/opt/wheels"
SYSTEM = "/usr/lib/python3/dist-packages"
# By its path, since this file has taken its name.
PIP = f"""import sys
sys.path.insert(0, {SYSTEM!r})
sys.argv[0] = "pip"
from pip._internal.cli.main import main
sys.exit(main())
"""
# Where the image has its packages, and where pip puts others.
PLACES = (
    SYSTEM,
    os.path.expanduser("~/.local/lib/python%d.%d/site-packages"
                       % sys.version_info[:2]),
)
COMMANDS = ("install", "download", "wheel")
NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*([<>=!~;].*)?$")
FILES = (".whl", ".gz", ".zip", ".bz2", ".xz")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed():
    """Names and versions, from the names of directories: quick, and enough."""
    found = {}
    for place in PLACES:
        for path in glob.glob(f"{place}/*-info"):
            name, _, rest = os.path.basename(path).partition("-")
            version = re.split(r"-py\d|[.](dist|egg)-info", rest)[0]
            found[normal(name)] = version
    return found


def offered():
    """What the directory of wheels has."""
    found = {}
    for path in os.listdir(WHEELS) if os.path.isdir(WHEELS) else ():
        if path.endswith(FILES):
            name, _, rest = path.partition("-")
            found[normal(name)] = rest.split("-")[0]
    return found


def listing(packages):
    return ", ".join(f"{name} {version}".strip()
                     for name, version in sorted(packages.items()))


def print_installed(packages):
    """All but what only type checkers read: Debian has two hundred at once."""
    print("These are there: " + listing(
        {name: version for name, version in packages.items()
         if not name.startswith("types-")}), file=sys.stderr)


def wanted(words):
    """Names that an index would have to know; None if it is about files too."""
    names = []
    for word in words:
        found = NAME.match(word)
        if word.startswith("-"):
            # An option, maybe with a value: but for a few, pip's to read.
            if word not in ("-q", "-qq", "-U", "--quiet", "--upgrade", "--user",
                            "--break-system-packages", "--no-cache-dir"):
                return None
        elif not found or os.path.exists(word) or word.endswith(FILES):
            return None
        else:
            names.append(found)
    return names


def refuse(names, there):
    missing = [f[0] for f in names if f[3] or normal(f[1]) not in there]
    print("There is no network here, and no wheelhouse to install from, so"
          f" this cannot be installed: {', '.join(missing)}.", file=sys.stderr)
    print_installed(there)
    return 1


def run_pip(words):
    if not os.path.isdir(f"{SYSTEM}/pip"):
        print("There is no network here, and this image has no pip, so"
              " packages cannot be installed.", file=sys.stderr)
        print_installed(installed())
        return 1
    return os.spawnv(os.P_WAIT, sys.executable,
                     [sys.executable, "-c", PIP, *words])


def main(words):
    if not words or words[0] not in COMMANDS:
        return run_pip(words)
    names, packages = wanted(words[1:]), offered()
    if names and not packages:
        there = installed()
        if any(f[3] or normal(f[1]) not in there for f in names):
            return refuse(names, there)
        for found in names:
            print(f"{found[1]} {there[normal(found[1])]} is there already")
        return 0
    status = run_pip(words)
    if status != 0 and packages:
        print("There is no network here. The wheelhouse has:"
              f" {listing(packages)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
