# SPDX-License-Identifier: Apache-2.0
"""One part of a run: what it needs of the machine, and how it fails.

A run takes minutes, so what is missing is told before the first part begins.
"""

import http.client
import importlib
import importlib.util
import shutil
import subprocess
import time

from cupola import BUILD, ApiError
from guest_client import Closed, Refused
from measure import BenchError, progress
from plain_machine import MachineError
from sides import image_directory

# How a daemon, a VM or a program that is measured fails.
FAILURES = (ApiError, AssertionError, Closed, MachineError, OSError, Refused,
            http.client.HTTPException, subprocess.SubprocessError)

JUPYTER = {"jupyter_client": "python3-jupyter-client",
           "ipykernel": "python3-ipykernel"}
# It draws the floor's figure.
FIGURE = {"matplotlib": "python3-matplotlib"}


class Needs:
    """Images, and Debian's package by what it brings: a program, a module."""

    def __init__(self, images=("python-minimal",), programs=None,
                 modules=None):
        self.images = images
        self.programs = programs or {}
        self.modules = modules or {}


USUAL = {
    "executions": Needs(images=("python-minimal", "python"),
                        modules={**JUPYTER, **FIGURE}),
    "creates": Needs(modules=JUPYTER),
    "transfer": Needs(),
    "memory": Needs(images=("python-minimal", "python")),
    "instructions": Needs(programs={"cc": "gcc"}),
    "small_calls": Needs(programs={"wrk": "wrk", "nginx": "nginx-light"}),
}
# Where a short run needs less.
SHORT = {
    "executions": Needs(modules=JUPYTER),
    "memory": Needs(),
}


def check_one(needs):
    for image in needs.images:
        image_directory(image)
    for program, package in needs.programs.items():
        if not shutil.which(program):
            raise BenchError(f"{program} is missing: install Debian's"
                             f" {package}")
    for module, package in needs.modules.items():
        if not importlib.util.find_spec(module):
            raise BenchError(f"Python's {module} is missing: install Debian's"
                             f" {package}")


def check(parts, options):
    if not (BUILD / "cupolad").exists():
        raise BenchError(f"there is no cupolad in {BUILD}: build it there, or"
                         " name its build directory in CUPOLA_BUILD")
    for part in parts:
        usual = USUAL[part]
        check_one(SHORT.get(part, usual) if options.short else usual)


def run(name, options):
    """Return: rows, and splits."""
    start = time.monotonic()
    progress(f"{name}: begins")
    try:
        rows, splits = importlib.import_module(name).run(options)
    except BenchError as e:
        raise BenchError(f"{name}: {e}") from e
    except FAILURES as e:
        raise BenchError(f"{name}: {type(e).__name__}: {e}") from e
    for row in rows:
        row.part = name
    progress(f"{name}: took {time.monotonic() - start:.0f} s")
    return rows, splits
