"""The client libraries as their makers ship them: tests/clients."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "clients"
PROGRAMS = sorted(p.stem for p in SOURCE.glob("*.mjs") if p.stem not in ("description", "lib", "project"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_client(daemon, programs, name):
    done = subprocess.run(["node", f"{name}.mjs"], cwd=programs, text=True,
                          capture_output=True, check=False, timeout=900,
                          env={**os.environ, "CUPOLA_URL": daemon.url,
                               "CUPOLA_API_KEY": daemon.key,
                               "PATH": f"{programs}/node_modules/.bin:"
                                       f"{os.environ['PATH']}"})
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
