#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the scripts of contrib, images and tests share, as TAP."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tap

HERE = pathlib.Path(__file__).resolve().parents[2]
SOURCE = pathlib.Path(os.environ.get("abs_top_srcdir", HERE))


def script(text, *sources):
    lines = ["set -euo pipefail", *(f". {SOURCE / each}" for each in sources),
             "say_init", text]
    return subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True,
                          text=True, check=False, timeout=60)


def stages(text):
    with tempfile.NamedTemporaryFile() as log:
        return script(f"say_log={log.name}\nbad() {{ false; echo went on; }}\n"
                      + text, "contrib/say.sh")


# Help


def scripts_for_people_explain_themselves():
    for name in ("quickstart", "check", "install-deps"):
        done = subprocess.run([SOURCE / "contrib" / name, "--help"], capture_output=True,
                              text=True, check=False, timeout=60)
        assert done.returncode == 0 and done.stderr == "", done
        assert f"contrib/{name} [--" in done.stdout and "#" not in done.stdout, done.stdout


def an_example_asks_for_all_that_it_needs():
    """Before it makes anything: what its first lines export is what its usage names."""
    for path in sorted((SOURCE / "examples").glob("*agent*")):
        text = path.read_text(encoding="utf-8")
        exported = re.findall(r"([A-Z_]+)=", " ".join(re.findall(r"export (.*)", text)))
        usage = re.search(r"usage: .*?set\"", text, re.S)
        asked = set(re.findall(r"[A-Z]+(?:_[A-Z]+)+|MODEL", usage[0]))
        assert exported and asked == set(exported), (path, asked, exported)


# Stages


def a_stage_ends_with_the_first_command_that_fails():
    done = stages("stage one bad; echo went on, too")
    assert done.returncode == 1, done
    assert "went on" not in done.stdout + done.stderr, done


def a_stage_that_may_fail_leaves_its_status():
    done = stages('stage_try one bad; echo "status $say_status"\n'
                  'stage_try two true; echo "status $say_status"')
    assert done.returncode == 0, done
    assert done.stdout == "status 1\nstatus 0\n", done


def a_stage_is_no_condition_since_failures_in_it_would_be_passed_over():
    for text in ("if stage_try one bad; then echo good; fi",
                 "! stage_try one bad",
                 "stage one bad || echo failed",
                 "outer() { stage one bad; }; outer && echo good"):
        done = stages(text)
        assert done.returncode == 1, (text, done)
        assert done.stdout == "", (text, done)
        assert "part of a condition" in done.stderr, (text, done)


def a_reason_is_told_instead_of_the_log():
    done = stages('why() { echo noise; die "no luck"; }; stage one why')
    assert done.returncode == 1
    assert done.stderr.endswith("one: no luck\n"), done


# Trees


def box(text, temp):
    return script(f"cd {temp}\n" + text, "contrib/say.sh",
                  "tests/kvmhost/lib/root.sh")


def a_tree_is_removed_only_when_nothing_is_mounted_there():
    if os.geteuid() != 0:
        raise tap.Skip("only root can mount")
    with tempfile.TemporaryDirectory() as temp:
        tree = pathlib.Path(temp) / "tree"
        (tree / "proc").mkdir(parents=True)
        (tree / "file").touch()
        done = box("here=.; unshare --mount sh -c 'mount -t tmpfs t tree/proc;"
                   " touch tree/proc/x; exec bash -c \"$1\"' sh"
                   f" '. {SOURCE}/contrib/say.sh;"
                   f" here=.; . {SOURCE}/tests/kvmhost/lib/root.sh;"
                   " tree_remove tree; echo removed'", temp)
        assert done.returncode == 1 and "removed" not in done.stdout, done
        assert f"unmount {tree}/proc" in done.stderr, done
        assert (tree / "file").exists()
        done = box("tree_remove tree none", temp)
        assert done.returncode == 0 and not tree.exists(), done


def dependencies_are_told_by_name():
    with tempfile.TemporaryDirectory() as temp:
        done = box("package_names <<<' libc6 (>= 2.38),\n mandoc <!nocheck>,"
                   "default | other, libstdc++6:amd64'", temp)
    assert done.stdout.split() == ["default", "libc6", "libstdc++6"], done


# Programs

# What is copied to where something else starts it.
COPIED = ("debian/cupola.config", "debian/cupola.postinst", "debian/cupola.postrm", "debian/cupola.prerm",
          "tests/kvmhost/guest/")


def what_begins_with_an_interpreter_can_be_run():
    for folder in ("bench", "contrib", "debian", "examples", "images", "tests"):
        for path in (SOURCE / folder).rglob("*"):
            name = str(path.relative_to(SOURCE))
            if not path.is_file() or name.startswith(COPIED):
                continue
            with open(path, "rb") as file:
                if file.read(2) == b"#!":
                    assert os.access(path, os.X_OK), name


TESTS = [
    scripts_for_people_explain_themselves, an_example_asks_for_all_that_it_needs,
    a_stage_ends_with_the_first_command_that_fails,
    a_stage_that_may_fail_leaves_its_status,
    a_stage_is_no_condition_since_failures_in_it_would_be_passed_over,
    a_reason_is_told_instead_of_the_log,
    a_tree_is_removed_only_when_nothing_is_mounted_there,
    dependencies_are_told_by_name, what_begins_with_an_interpreter_can_be_run,
]

if __name__ == "__main__":
    sys.exit(tap.run(TESTS))
