"""What one execution leaves to the next, and how each ends."""

import time


def test_state_is_kept_between_executions(box):
    assert box.run("answer = 41")["status"] == "ok"
    done = box.run("answer += 1\nprint(answer)\nanswer * 2")
    assert done["status"] == "ok"
    assert done["stdout"] == "42\n"
    assert done["stderr"] == ""
    assert done["results"] == [{"text/plain": "84"}]
    assert done["error"] is None
    assert done["state_lost"] is False
    assert done["truncated"] == {"stdout": False, "stderr": False,
                                 "total_bytes": 3, "omitted_bytes": 0}


def test_the_object_reads_the_same_afterwards(box):
    done = box.run("print('kept')")
    again = box.daemon.json("GET", f"{box.path}/executions/{done['id']}")
    assert again == done


def test_a_traceback_is_plain_text(box):
    done = box.run("def broken():\n    return {}['missing']\nbroken()")
    assert done["status"] == "error"
    assert done["error"]["name"] == "KeyError"
    assert done["error"]["value"] == "'missing'"
    assert "return {}['missing']" in done["error"]["traceback"]
    assert "\x1b" not in done["error"]["traceback"]
    assert box.run("print(1)")["stdout"] == "1\n"


def test_display_magics_and_rich_results(box):
    done = box.run("from IPython.display import HTML, display\n"
                   "display(HTML('<b>x</b>'))\n"
                   "%time 1 + 1")
    assert done["status"] == "ok", done
    assert {"text/html": "<b>x</b>"}.items() <= done["results"][0].items()
    done = box.run("%%bash\necho $((6 * 7))")
    assert done["stdout"] == "42\n"


def test_a_nul_in_the_source_is_pythons_error(box):
    done = box.run("print(1)\0\nprint(2)")
    assert done["status"] == "error"
    assert done["stdout"] == ""


def test_memory_hunger_stays_inside_the_kernels_group(box):
    done = box.run("hog = []\nwhile True: hog.append(bytearray(1 << 24))",
                   timeout_s=120)
    assert done["status"] in ("oom", "error"), done
    assert box.run("print(3)")["stdout"] == "3\n"


def test_shared_memory_left_behind_does_not_starve_what_follows(new_box):
    """System V segments outlive the process that the OOM killer takes."""
    box = new_box()
    done = box.run("import ctypes\n"
                   "libc = ctypes.CDLL(None)\n"
                   "libc.shmat.restype = ctypes.c_void_p\n"
                   "while True:\n"
                   "    at = libc.shmat(libc.shmget(0, 32 << 20, 0o1600),"
                   " None, 0)\n"
                   "    ctypes.memset(at, 1, 32 << 20)", timeout_s=120)
    assert done["status"] == "oom", done
    done = box.run("x = bytearray(100 << 20)\nprint(len(x))")
    assert (done["status"], done["stdout"]) == ("ok", "104857600\n"), done

    # The same container, since booting is what costs.
    done = box.run("import os\nfor fd in (0, 1, 2): os.close(fd)")
    done = box.run("print('back')\ninput()")
    assert done["stdout"] == "back\n"
    assert done["error"]["name"] == "EOFError"

    done = box.run("from IPython.display import display\n"
                   "for i in range(3000): display(i)")
    assert done["status"] == "ok"
    assert len(done["results"]) == 1024
    assert box.run("print(1)")["stdout"] == "1\n"


def test_a_lease_does_not_delay_the_harvest(box):
    began = time.monotonic()
    done = box.run("import fcntl, os\n"
                   "fd = os.open('leased', os.O_RDWR | os.O_CREAT)\n"
                   "os.write(fd, b'x')\n"
                   "try: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
                   "except OSError: pass")
    assert time.monotonic() - began < 20
    assert [a["bytes"] for a in done["artifacts"]] == [1]
    box.run("os.close(fd); os.unlink('leased')")


def test_large_output_is_cut_with_counts_and_kept_in_full(box):
    done = box.run("import sys\nsys.stdout.write('é' * 1_500_000)")
    assert done["status"] == "ok"
    assert done["truncated"]["stdout"] is True
    assert done["truncated"]["total_bytes"] == 3_000_000
    assert "\ufffd" not in done["stdout"]
    assert 1_000_000 < len(done["stdout"].encode()) < 1_100_000
    spilled = [a for a in done["artifacts"]
               if a["path"].endswith(f"/stdout-{done['id']}.txt")]
    assert len(spilled) == 1 and spilled[0]["bytes"] == 3_000_000
    assert box.content(spilled[0]["id"]) == ("é" * 1_500_000).encode()


def test_a_stream_tells_output_as_it_comes(box):
    events = list(box.stream("import time\n"
                             "for i in range(3):\n"
                             "    print(i, flush=True)\n"
                             "    time.sleep(0.3)\n"
                             "open('/mnt/data/streamed.txt', 'w').write('s')\n"
                             "'last'"))
    names = [name for name, _, _ in events]
    assert names[0] == "execution.started"
    assert names[-1] == "execution.done"
    out = [data for name, _, data in events if name == "execution.output"]
    assert len(out) >= 2, "output came in one piece at the end"
    assert "".join(o["data"] for o in out if o["stream"] == "stdout") \
        == "0\n1\n2\n"
    assert "execution.result" in names and "execution.artifact" in names
    done = events[-1][2]
    assert done["status"] == "ok"
    assert "stdout" not in done and "stderr" not in done

    ids = [int(ident) for _, ident, _ in events]
    assert ids == sorted(set(ids))
    response = box.daemon.ok(
        "GET", f"{box.path}/executions/{done['id']}/events?after={ids[-2]}",
        stream=True)
    from cupola import read_events
    assert [name for name, _, _ in read_events(response)] \
        == ["execution.done"]
