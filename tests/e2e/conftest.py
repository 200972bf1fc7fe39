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


def asks_for_invariants(module):
    marks = getattr(module, "pytestmark", [])
    return any("invariants" in mark.args
               for mark in (marks if isinstance(marks, list) else [marks]))


@pytest.fixture(scope="module", autouse=True)
def growth(request):
    """Of its own accord, so that it comes before the file's `box`."""
    if not asks_for_invariants(request.module):
        yield
        return
    daemon = request.getfixturevalue("daemon")
    request.getfixturevalue("canary")
    growth = Growth(daemon)
    yield
    growth.check()


@pytest.fixture
def invariants(daemon, canary, growth):
    watch = Watch(daemon, canary)
    yield watch
    watch.check()
