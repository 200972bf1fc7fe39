import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

# So that a condition which does not hold is told with its values.
pytest.register_assert_rewrite("invariants")

from cupola import Daemon  # noqa: E402
from invariants import Canary, Growth, Watch  # noqa: E402


@pytest.fixture(scope="session")
def daemon():
    """One daemon that all tests share which do not restart or break it."""
    d = Daemon(settings={"pool.default.max_artifact": "256M"})
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
