"""The client libraries as their makers ship them: tests/clients."""

import os
import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "clients"
PROGRAMS = sorted(p.stem for p in SOURCE.glob("*.mjs") if p.stem not in ("description", "lib", "project"))
NODE_MIN = 20


def node_version():
    try:
        text = subprocess.run(["node", "--version"], capture_output=True,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(text.lstrip("v").split(".")[0])


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The programs beside the libraries they use.

    CUPOLA_CLIENTS may name a directory where npm has put these already.
    """
    made = os.environ.get("CUPOLA_CLIENTS")
    if made:
        return pathlib.Path(made)
    if node_version() < NODE_MIN:
        pytest.skip(f"there is no Node.js {NODE_MIN} or newer")
    directory = tmp_path_factory.mktemp("npm")
    for path in SOURCE.iterdir():
        shutil.copy(path, directory)
    subprocess.run(["npm", "install", "--no-package-lock", "--no-audit",
                    "--no-fund", "--loglevel=error"],
                   cwd=directory, check=True)
    return directory


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
