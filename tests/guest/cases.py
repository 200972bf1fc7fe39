# SPDX-License-Identifier: Apache-2.0
"""What the tests of the guest share."""

import os

IN_VM = "CUPOLA_GUEST_VSOCK" in os.environ


class Skipped(Exception):
    """A test needs what is not here."""


def needs_vm():
    if not IN_VM:
        raise Skipped("needs a VM")


def needs_module(g, name):
    """A module that only some images have."""
    if g.run(f"import {name}").status != "ok":
        raise Skipped(f"needs {name}")
