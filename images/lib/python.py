# SPDX-License-Identifier: Apache-2.0
"""What a guest's Python has to know of a guest: that there is no network to
install from, and which fonts to fall back to.

lib/settle runs this in the tree, in the sandbox, as its root; stdin is lib/pip.py.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

SANDBOX_ID = 1000
VERSION = "python%d.%d" % sys.version_info[:2]
LOCAL = pathlib.Path("/usr/local/lib") / VERSION / "dist-packages"
PIP_CONF = """[global]
no-index = true
find-links = /opt/wheels
break-system-packages = true
disable-pip-version-check = true
no-warn-script-location = true
"""
# The fonts that matplotlib takes a character from when those before do not have
# it: one for each script, then what has nearly everything, if in coarse dots.
FAMILIES = ("DejaVu Sans", "Droid Sans Fallback", "NanumGothic",
            "Lohit Devanagari", "Loma", "Symbola", "Unifont", "Unifont Upper")
ONE_FAMILY = "for family in prop.get_family():"
ALL_FAMILIES = ("for family in dict.fromkeys("
                "prop.get_family() + mpl.rcParamsDefault['font.family']):")


def settle_pip(source):
    """Stands before Debian's pip, as a command and as the module that "python3
    -m pip" finds first. Another Python's pip is left alone."""
    pathlib.Path("/etc/pip.conf").write_text(PIP_CONF)
    pathlib.Path("/opt/wheels").mkdir(parents=True, exist_ok=True)
    # There from the start, or a running Python would not look into it.
    path = pathlib.Path("/home/sandbox")
    for part in (".local", "lib", VERSION, "site-packages"):
        path /= part
        path.mkdir(exist_ok=True)
        os.chown(path, SANDBOX_ID, SANDBOX_ID)
    if str(LOCAL) not in sys.path or shutil.which("pip") == "/usr/local/bin/pip":
        return
    LOCAL.mkdir(parents=True, exist_ok=True)
    (LOCAL / "pip.py").write_text(source)
    (LOCAL / "pip.py").chmod(0o755)
    for name in ("pip", "pip3"):
        os.symlink(LOCAL / "pip.py", f"/usr/local/bin/{name}")


def families():
    """Those of the list that the tree has."""
    if not shutil.which("fc-list"):
        return []
    return [f for f in FAMILIES
            if subprocess.run(["fc-list", f":family={f}"], check=True,
                              stdout=subprocess.PIPE).stdout]


def settle_matplotlib(found):
    """The list is matplotlib's default, and what any other choice of fonts falls
    back to: seaborn's themes, and whoever asks for a serif, name one family only,
    and characters that it lacks would be boxes."""
    spec = importlib.util.find_spec("matplotlib")
    if not spec or not spec.origin or not found:
        return
    package = pathlib.Path(spec.origin).parent
    for path in ("/etc/matplotlibrc", package / "mpl-data/matplotlibrc",
                 "/usr/share/matplotlib/mpl-data/matplotlibrc"):
        path = pathlib.Path(path)
        if path.exists():
            lines = path.read_text().splitlines()
            path.write_text("".join(
                f"font.family: {', '.join(found)}\n"
                if line.startswith("#font.family:") else line + "\n"
                for line in lines))
    manager = package / "font_manager.py"
    text = manager.read_text()
    if text.count(ONE_FAMILY) != 1:
        print("this matplotlib looks for fonts in another way, so only its"
              " default falls back to other fonts")
        return
    manager.write_text(text.replace(ONE_FAMILY, ALL_FAMILIES))


settle_pip(sys.stdin.read())
settle_matplotlib(families())
