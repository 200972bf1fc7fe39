#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a tree is made of: packages with version and licence, as JSON lines.

usage: contents.py [--wheels] TREE

Debian's packages are read from dpkg's database and their copyright files; with
--wheels, what else Python has installed, from its metadata. A licence is an
SPDX expression over all of a package's files; what has no SPDX name is a
LicenseRef of Debian's name for it, and NOASSERTION is said where a package does
not say it in the format that programs can read.
"""

import email.parser
import fnmatch
import json
import os
import pathlib
import re
import stat
import sys

TEXT_MAX = 4 << 20
EXPRESSION_MAX = 1000

# Debian's short names whose SPDX name is not the same but for its versions.
NAMES = {
    "expat": "MIT", "mit": "MIT", "mit/x11": "MIT", "x11": "X11", "isc": "ISC",
    "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause", "zlib": "Zlib", "public-domain":
    "LicenseRef-public-domain", "artistic": "Artistic-1.0-Perl",
    "perl": "Artistic-1.0-Perl OR GPL-1.0-or-later", "python": "PSF-2.0",
    "psf": "PSF-2.0", "psf-2": "PSF-2.0", "ofl-1.1": "OFL-1.1",
    "cc0-1.0": "CC0-1.0", "cc0": "CC0-1.0", "mpl-1.1": "MPL-1.1",
    "mpl-2.0": "MPL-2.0", "bsl-1.0": "BSL-1.0", "unlicense": "Unlicense",
    "curl": "curl", "openssl": "OpenSSL", "ftl": "FTL", "bsd": "BSD-3-Clause",
}
GNU = re.compile(r"(a|l)?gpl-([123](?:\.[0-9])?)(?:\.0)?(\+)?")


def spdx_name(short):
    """One of Debian's short names of a licence, as SPDX has it."""
    lower = short.lower().rstrip(".,")
    if lower in NAMES:
        return NAMES[lower]
    if match := GNU.fullmatch(lower):
        family, version, later = match.groups()
        version = version if "." in version else version + ".0"
        return (f"{(family or '').upper()}GPL-{version}-"
                f"{'or-later' if later else 'only'}")
    if match := re.fullmatch(r"gfdl-([0-9.]+)(\+)?(?:-.*|\+)?", lower):
        return f"GFDL-{match[1]}-{'or-later' if '+' in lower else 'only'}"
    if match := re.fullmatch(r"apache-(2)(\.0)?", lower):
        return "Apache-2.0"
    clean = re.sub(r"[^A-Za-z0-9.-]+", "-", short).strip("-")
    return f"LicenseRef-Debian-{clean}"


def spdx_expression(text):
    """A field's "A and/or B, or C", as an SPDX expression."""
    words = re.split(r"\s+(and|or)(?:/or)?\s+|\s*,\s*(?:(and|or)\s+)?",
                     text.strip())
    parts, joint = [], None
    for word in words:
        if word in ("and", "or"):
            joint = word.upper()
        elif word and word.strip():
            exception = re.fullmatch(r"(\S+)\s+with\s+(.*?)(\s+exception)?",
                                     word.strip())
            name = spdx_name(exception[1] if exception else word.strip())
            if exception:
                # SPDX knows exceptions by names of its own: Debian's stays.
                name = spdx_name(re.sub(r"\s+", "-", word.strip()))
            if parts:
                parts.append(joint or "AND")
            parts.append(f"({name})" if " " in name else name)
            joint = None
    return " ".join(parts)


# Where a tree is read here, the host's files are in reach. So nothing is opened
# through a link, which could lead to one of them, and only files are read.


def open_in(tree, parts, flags):
    """A name of the tree without a link on its way."""
    directory = os.open(tree, os.O_PATH | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW,
                             dir_fd=directory)
            os.close(directory)
            directory = deeper
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=directory)
    finally:
        os.close(directory)


def read_text(tree, *parts):
    try:
        fd = open_in(tree, parts, os.O_RDONLY | os.O_NONBLOCK)
        with open(fd, encoding="utf-8", errors="replace") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return ""
            return file.read(TEXT_MAX)
    except OSError:
        return ""


def names_in(tree, *parts):
    try:
        fd = open_in(tree, parts, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return []
    try:
        return sorted(os.listdir(fd))
    finally:
        os.close(fd)


def link_in(tree, *parts):
    """The names of a link's target; None if it is no link."""
    try:
        fd = open_in(tree, parts, os.O_PATH)
    except OSError:
        return None
    try:
        return pathlib.PurePath(os.readlink("", dir_fd=fd)).parts
    except OSError:
        return None
    finally:
        os.close(fd)


def copyright_licence(text):
    """Of all "Files" paragraphs of a copyright file; None in no such format."""
    if not re.match(r"\s*Format(-Specification)?:\s*\S*copyright", text):
        return None
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:", paragraph, re.M)
        licence = re.search(r"^Licen[cs]e:[ \t]*(.*)$", paragraph, re.M | re.I)
        if files and licence and licence[1].strip():
            expression = spdx_expression(licence[1])
            if expression and expression not in found:
                found.append(expression)
    if not found:
        return None
    return " AND ".join(f"({e})" if " OR " in e and len(found) > 1 else e
                        for e in sorted(found))


DOC = ("usr", "share", "doc")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def debian_licence(tree, package):
    """Documentation of one package may be a link to another's."""
    name = package
    for _ in range(4):
        target = link_in(tree, *DOC, name)
        if not target:
            break
        name = target[-1]
    target = link_in(tree, *DOC, name, "copyright")
    if target and len(target) > 1:
        name = target[-2]
    return copyright_licence(read_text(tree, *DOC, name, "copyright"))


def paragraphs(text):
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.M))
        if fields.get("Status", "").endswith(" installed") \
                and PACKAGE.fullmatch(fields.get("Package", "")) \
                and "Version" in fields:
            yield fields


def debian_packages(tree):
    for fields in paragraphs(read_text(tree, "var", "lib", "dpkg", "status")):
        yield {"name": fields["Package"], "version": fields["Version"],
               "licence": debian_licence(tree, fields["Package"])}


def wheel_directories(tree):
    """Debian's own Python packages are in dist-packages of /usr/lib."""
    library = ("usr", "local", "lib")
    for python in fnmatch.filter(names_in(tree, *library), "python3*"):
        for packages in fnmatch.filter(names_in(tree, *library, python),
                                       "*-packages"):
            place = (*library, python, packages)
            for name in fnmatch.filter(names_in(tree, *place), "*.dist-info"):
                yield (*place, name)


def wheel_packages(tree):
    for place in wheel_directories(tree):
        fields = email.parser.HeaderParser().parsestr(
            read_text(tree, *place, "METADATA"))
        if not fields["Name"] or not fields["Version"]:
            continue
        licence = fields["License-Expression"]
        if not licence and re.fullmatch(r"[A-Za-z0-9.+-]+",
                                        fields["License"] or ""):
            licence = spdx_name(fields["License"])
        yield {"name": f"python:{fields['Name'].lower()}",
               "version": fields["Version"], "licence": licence}


def main():
    wheels = sys.argv[1:2] == ["--wheels"]
    if len(sys.argv) != 2 + wheels:
        sys.exit(__doc__)
    tree = pathlib.Path(sys.argv[-1])
    for package in (wheel_packages if wheels else debian_packages)(tree):
        licence = package["licence"] or "NOASSERTION"
        if len(licence) > EXPRESSION_MAX:
            licence = licence[:EXPRESSION_MAX].rpartition(" AND ")[0] \
                + " AND LicenseRef-Debian-further"
        print(json.dumps({**package, "licence": licence}))


if __name__ == "__main__":
    main()
