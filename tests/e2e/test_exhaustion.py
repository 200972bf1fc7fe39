"""Programs that take all there is of something: of processes, memory, disk. They fail by themselves, and harm nobody else."""

import time

import pytest

from cupola import ApiError, Daemon
from invariants import SLOWNESS, Canary

pytestmark = pytest.mark.usefixtures("invariants")

DISK_BYTES = 64 << 20


@pytest.fixture(scope="module")
def daemon():
    """One whose VMs have little, so that it is used up soon."""
    d = Daemon(settings={"pool.default.memory": "256M",
                         "pool.default.disk": str(DISK_BYTES)})
    try:
        yield d.start()
        assert d.stop() == 0, d.log_text()[-4000:]
        assert "ERROR: AddressSanitizer" not in d.log_text()
        assert "runtime error:" not in d.log_text()
    finally:
        d.remove()


@pytest.fixture(scope="module")
def canary(daemon):
    return Canary(daemon)


def check_usable(box):
    done = box.run("print('ok')")
    assert (done["status"], done["stdout"]) == ("ok", "ok\n"), done
    return done


def renew(box):
    """A new kernel, without what the last one held."""
    assert box.run("import os; os._exit(0)")["status"] == "kernel_died"


def code_of(attempt):
    with pytest.raises(ApiError) as e:
        attempt()
    return e.value.status, e.value.code


# Processes


def test_a_fork_bomb_ends_at_its_deadline(box):
    done = box.run("import os\n"
                   "while True:\n"
                   "    try: os.fork()\n"
                   "    except OSError: pass", timeout_s=10)
    assert done["status"] == "timeout", done
    assert done["duration_ms"] < 30_000
    check_usable(box)
    done = box.run("import os\n"
                   "print(sum(name.isdigit() for name in os.listdir('/proc')))")
    assert int(done["stdout"]) <= 2, "some of it are left"


def test_threads_end_at_the_limit_of_processes(box):
    done = box.run("import threading, time\n"
                   "try:\n"
                   "    while True: threading.Thread(target=time.sleep,"
                   " args=(1000,), daemon=True).start()\n"
                   "except RuntimeError as e: print(e)", timeout_s=120)
    assert done["stdout"] == "can't start new thread\n", done
    check_usable(box)
    renew(box)


# Memory


def test_more_memory_than_there_is_is_an_ordinary_error(box):
    before = check_usable(box)
    done = box.run("x = bytearray(64 * 1024**3)")
    assert (done["status"], done["error"]["name"]) == ("error", "MemoryError")
    assert check_usable(box)["kernel_epoch"] == before["kernel_epoch"]


def test_a_leak_ends_as_oom_and_its_peak_is_told(box):
    before = check_usable(box)
    done = box.run("l = []\nwhile True: l.append(bytearray(1 << 20))",
                   timeout_s=120)
    assert done["status"] == "oom", done
    assert done["state_lost"] is True
    assert 100 << 20 < done["peak_memory_bytes"] < 256 << 20
    assert check_usable(box)["kernel_epoch"] == before["kernel_epoch"] + 1


def test_file_systems_in_memory_have_their_own_limits(box):
    done = box.run("import os\n"
                   "for d in ('/dev/shm', '/tmp', '/run', '/dev'):\n"
                   "    try:\n"
                   "        f = open(d + '/fill', 'wb', 0)\n"
                   "        while f.write(b'0' * (1 << 20)): pass\n"
                   "    except OSError as e: print(d, e.errno)\n"
                   "os.unlink('/tmp/fill')", timeout_s=120)
    # Two are on the disk or limited in memory, two are not user code's.
    assert done["stdout"] == "/dev/shm 28\n/tmp 28\n/run 13\n/dev 13\n", done
    check_usable(box)
    box.run("os.unlink('/dev/shm/fill')")


# The disk


def disks(daemon):
    return [path for path in daemon.dir.glob("vm/**/*")
            if path.is_file() and path.stat().st_size > DISK_BYTES // 2]


def test_a_full_disk_is_told_to_who_writes_and_heals(box):
    done = box.run("f = open('/mnt/data/fill', 'wb', 0)\n"
                   "try:\n"
                   "    while f.write(b'0' * (1 << 20)): pass\n"
                   "except OSError as e: print(e.errno)", timeout_s=120)
    assert done["stdout"] == "28\n", done
    for path in disks(box.daemon):
        stat = path.stat()
        assert stat.st_size == DISK_BYTES + 4096
        assert stat.st_blocks * 512 <= DISK_BYTES + (1 << 20)
    done = box.run("print('ok')\n"
                   "with open('/mnt/data/small.txt', 'w') as f:\n"
                   "    f.write('x' * 10000)")
    assert done["stdout"] == "ok\n"
    assert done["error"]["value"].startswith("[Errno 28]"), done
    assert code_of(lambda: box.put("up.txt", b"u" * 100_000)) \
        == (507, "container_storage_full")
    box.run("import os; os.unlink('/mnt/data/fill')")
    assert box.put("up.txt", b"u" * 100_000)["bytes"] == 100_000
    assert box.run("print(len(open('/mnt/data/up.txt').read()))")["stdout"] \
        == "100000\n"


def test_a_disk_without_inodes_is_told_and_heals(box):
    done = box.run("import os\n"
                   "i = 0\n"
                   "try:\n"
                   "    while True:\n"
                   "        open(f'/mnt/data/i{i}', 'w').close(); i += 1\n"
                   "except OSError as e: print(e.errno)", timeout_s=290)
    assert done["stdout"] == "28\n", done
    # Not all are taken, and that is said.
    assert len(done["artifacts"]) <= 512 and done["skipped"], done["skipped"]
    check_usable(box)
    began = time.monotonic()
    assert len(box.files()) == 100
    assert time.monotonic() - began < 2 * SLOWNESS
    assert code_of(lambda: box.put("one_more", b"x")) \
        == (507, "container_storage_full")
    box.run("for j in range(i): os.unlink(f'/mnt/data/i{j}')", timeout_s=120)
    assert box.put("one_more", b"x")["bytes"] == 1
