import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent.parent

sys.path.insert(0, str(TESTS / "e2e"))
sys.path.insert(0, str(TESTS / "upstream"))

# So that a condition which does not hold is told with its values.
pytest.register_assert_rewrite("invariants")

from cupola import Daemon  # noqa: E402
from invariants import Canary, Growth, Watch  # noqa: E402
from model import Model  # noqa: E402

NODE_MIN = 20


@pytest.fixture(scope="session")
def model():
    """A model that does what messages say: tests/upstream/model.py."""
    with Model() as model:
        yield model


@pytest.fixture(scope="session")
def models(model):
    """Settings: it in both protocols and in a hurry, and one that is not there."""
    return {"model.url": model.url, "model.name": model.name,
            "model.responses.url": model.url,
            "model.responses.protocol": "responses",
            "model.slow.url": model.url, "model.slow.timeout": "2",
            "model.lost.url": "http://127.0.0.1:9/v1",
            "model.lost.retries": "0"}


@pytest.fixture(scope="session")
def daemon(models):
    """One daemon that all tests share which do not restart or break it."""
    d = Daemon(settings={"pool.default.max_artifact": "256M", **models})
    try:
        yield d.start()
        left = d.audit()
        pid = d.pid
        assert d.stop() == 0, d.log_text()[-4000:]
        assert left == []
        assert "ERROR: AddressSanitizer" not in d.log_text()
        assert "runtime error:" not in d.log_text()
        assert not d.qemus() and not d.backends() and not d.vmd_pid(), pid
    finally:
        d.remove()


@pytest.fixture
def fresh_daemon():
    """Makes daemons of a test's own; all are removed at its end."""
    made = []

    def make(start=True, **kwargs):
        d = Daemon(**kwargs)
        made.append(d)
        if start:
            d.start()
        return d

    yield make
    for d in made:
        if d.process:
            d.remove()


def node_version():
    try:
        text = subprocess.run(["node", "--version"], capture_output=True,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(text.lstrip("v").split(".")[0])


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The client programs beside the libraries they use.

    CUPOLA_CLIENTS may name a directory where npm has put these already.
    """
    made = os.environ.get("CUPOLA_CLIENTS")
    if made:
        return pathlib.Path(made)
    if node_version() < NODE_MIN:
        pytest.skip(f"there is no Node.js {NODE_MIN} or newer")
    directory = tmp_path_factory.mktemp("npm")
    for path in (TESTS / "clients").iterdir():
        shutil.copy(path, directory)
    subprocess.run(["npm", "install", "--no-package-lock", "--no-audit",
                    "--no-fund", "--loglevel=error"],
                   cwd=directory, check=True)
    return directory


@pytest.fixture(scope="module")
def box(daemon):
    """A container that the tests of a file share: booting is what costs."""
    container = daemon.container(name="shared")
    yield container
    container.delete()


@pytest.fixture
def new_box(daemon):
    made = []

    def make(**fields):
        container = daemon.container(**fields)
        made.append(container)
        return container

    yield make
    for container in made:
        daemon.call("DELETE", container.path)


@pytest.fixture(scope="session")
def canary(daemon):
    return Canary(daemon)


def pytest_collection_modifyitems(items):
    """What a file's `box` takes is there after growth is first measured."""
    for item in items:
        if "growth" in item.fixturenames:
            item.fixturenames.remove("growth")
            item.fixturenames.insert(0, "growth")


@pytest.fixture(scope="module")
def growth(daemon, canary):
    growth = Growth(daemon, canary)
    yield
    growth.check()


@pytest.fixture
def invariants(daemon, canary, growth):
    watch = Watch(daemon, canary)
    yield watch
    watch.check()
