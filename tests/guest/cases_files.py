# SPDX-License-Identifier: Apache-2.0
"""Files that change while they are read, and files that are none."""

from cases import needs_vm
from guest_client import GET, Connection


def rest_of(link):
    """What comes after FILE: END's payload, and the bytes before it."""
    data = b""
    while True:
        name, _, payload = link.hear()
        if name == "END":
            return payload, data
        data += payload


def one_connection_gives_many_files(g):
    g.run("""
for i in range(20):
    open(f'one{i}', 'w').write(str(i) * i)
""")
    names = [f"one{i}" for i in range(20)]
    names.insert(7, "none")
    got = list(g.get_each(names))
    assert got.pop(7) == ("not_found", None)
    assert got == [("ok", (str(i) * i).encode()) for i in range(20)]
    g.run("import os\nfor i in range(20): os.remove(f'one{i}')")


def a_file_that_shrinks_while_it_is_sent_is_told(g):
    g.run("open('big', 'wb').write(bytes(1 << 25))")
    link = Connection(g.dial, g.nonce, GET)
    link.say("GET", 0, b"big")
    assert link.hear()[0] == "FILE"
    g.run("import os; os.truncate('big', 10)")
    assert rest_of(link)[0][0] == 7
    g.run("os.remove('big')")


def a_file_that_grows_while_it_is_sent_is_its_beginning(g):
    g.run("""
import os, threading, time
def grow():
    with open('grows', 'ab', buffering=0) as f:
        for i in range(4000):
            if stop.is_set(): break
            f.write(b'%07d\\n' % i * 512)
            time.sleep(.0005)
stop = threading.Event()
writer = threading.Thread(target=grow)
writer.start()
while not os.path.exists('grows') or os.stat('grows').st_size < 1 << 20:
    time.sleep(.01)
""")
    results = {g.get("grows")[0] for _ in range(3)}
    status, data = g.get("grows")
    g.run("stop.set(); writer.join()")
    assert "grown" in results | {status}, results
    whole = b"".join(b"%07d\n" % i * 512 for i in range(4000))
    assert len(data) >= 1 << 20 and whole.startswith(data)
    final = g.get("grows")
    assert final[0] == "ok" and final[1].startswith(data)
    g.run("os.remove('grows')")


def no_file_is_a_mixture(g):
    """The writer fills the file from its beginning, over and over: at each
    moment that is so many new bytes, then old ones, and so must be what is
    got."""
    ways = {
        "pwrite": "os.pwrite(f.fileno(), bytes([i % 256]) * size, 0)",
        # Page by page: a long copy may take its pages in another order.
        "mmap": "for j in range(0, size, 4096):"
                " m[j:j + 4096] = bytes([i % 256]) * 4096",
    }
    for way, how in ways.items():
        g.run(f"""
import mmap, os, subprocess, sys
size = 3 << 20
writer = subprocess.Popen([sys.executable, '-c', '''
import itertools, mmap, os
size = {3 << 20}
f = open('mix', 'wb+')
f.truncate(size)
m = mmap.mmap(f.fileno(), size)
for i in itertools.count():
    {how}
    if i == 1: os.close(1)
'''], stdout=subprocess.PIPE)
writer.stdout.read()
""")
        seen = []
        for _ in range(8):
            status, data = g.get("mix")
            seen.append(status)
            if status == "changed":
                continue
            new = len(data) - len(data.lstrip(data[:1]))
            old = data[new:]
            assert not old.strip(old[:1]), (way, status)
            assert not old or old[0] == (data[0] - 1) % 256, (way, status)
        g.run("writer.kill(); writer.wait()")
        assert set(seen) != {"ok"}, way
        assert g.get("mix")[0] == "ok"
    g.run("os.remove('mix')")


def a_file_that_vanishes_while_it_is_sent_is_whole(g):
    g.run("open('gone', 'wb').write(b'g' * (1 << 24))")
    link = Connection(g.dial, g.nonce, GET)
    link.say("GET", 0, b"gone")
    assert link.hear()[0] == "FILE"
    g.run("import os; os.remove('gone')")
    end, data = rest_of(link)
    assert (end[0], len(data)) == (10, 1 << 24)
    assert g.get("gone")[0] == "not_found"


def what_user_code_may_not_read_is_still_its_own(g):
    needs_vm()
    e = g.run("""
import os
open('shut', 'w').write('1'); os.chmod('shut', 0)
os.mkdir('room'); open('room/x', 'w').write('12'); os.chmod('room', 0)
""")
    assert sorted(e.names) == ["room/x", "shut"], e.changed
    assert g.get("shut") == ("ok", b"1")
    assert g.get("room/x") == ("ok", b"12")
    g.run("import shutil; os.chmod('room', 0o700); shutil.rmtree('room')\n"
          "os.remove('shut')")


def links_to_one_file_are_files_each(g):
    e = g.run("import os\nopen('x', 'w').write('x'); os.link('x', 'y')")
    assert sorted(e.names) == ["x", "y"]
    assert g.get("x") == g.get("y") == ("ok", b"x")
    e = g.run("open('y', 'a').write('!')")
    assert sorted(e.names) == ["x", "y"]
    g.run("os.remove('x'); os.remove('y')")


def an_empty_directory_is_looked_at_once_something_is_made_in_it(g):
    g.run("import os, shutil\n"
          "for name in os.listdir():\n"
          "    if os.path.isdir(name): shutil.rmtree(name)\n"
          "    else: os.remove(name)")
    for turn in range(4):
        assert [g.run("pass").names for _ in range(3)] == [[], [], []]
        assert g.put(f"{turn}", b"from the host") == "ok"
        assert g.run("pass").names == []
        assert g.run(f"open('{turn}', 'a').write('!')").names == [f"{turn}"]
        g.run(f"os.remove('{turn}'); os.mkdir('d')")
        assert g.run("open('d/x', 'w').close()").names == ["d/x"]
        # In one tick, as often as not.
        e = g.run("shutil.rmtree('d'); open('y', 'w').close()")
        assert e.names == ["y"]
        assert g.run("os.rename('y', 'z')").names == ["z"]
        assert g.run("os.remove('z')").names == []


def foreign_files_get_no_link(g):
    needs_vm()
    e = g.run("""
import os
for path in ('/etc/shadow', '/etc/hostname', '/usr/bin/true', '/proc/self/maps'):
    try: os.link(path, 'h'); print('linked', path)
    except OSError as error: pass
try: os.mknod('zero', 0o20666, os.makedev(1, 5)); print('made')
except OSError: pass
try: os.rename('/tmp', 'tmp'); print('moved')
except OSError: pass
""")
    assert (e.stdout, e.changed) == ("", []), (e.stdout, e.changed)
