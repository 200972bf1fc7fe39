"""Programs that die, hang, forge and break what is around them."""

import pytest

pytestmark = pytest.mark.usefixtures("invariants")


def test_sys_exit_is_not_the_kernels_death(box):
    pid = box.run("import os\nx = 41\nprint(os.getpid())")["stdout"]
    done = box.run("import sys; sys.exit(3)")
    assert done["status"] == "error"
    assert done["error"]["name"] == "SystemExit"
    assert done["error"]["value"] == "3"
    assert done["state_lost"] is False
    assert box.run("print(os.getpid())\nprint(x + 1)")["stdout"] \
        == pid + "42\n"
