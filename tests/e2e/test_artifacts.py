"""Files in, files out: byte for byte, with their hashes."""

import hashlib
import io
import os
import struct
import zipfile
import zlib

from cupola import ApiError, resident_bytes

import pytest


def test_a_csv_and_a_figure_come_back_byte_exact(box):
    code = """
import hashlib, struct, zlib
rows = ''.join(f'{i},{i * i}\\n' for i in range(1000))
open('/mnt/data/squares.csv', 'w').write(rows)

def chunk(kind, data):
    body = kind + data
    return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))

pixels = b''.join(b'\\0' + bytes((x ^ y) & 255 for x in range(64)) for y in range(64))
png = (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 64, 64, 8, 0, 0, 0, 0))
       + chunk(b'IDAT', zlib.compress(pixels)) + chunk(b'IEND', b''))
from IPython.display import Image, display
display(Image(data=png))
print(hashlib.sha256(rows.encode()).hexdigest(), hashlib.sha256(png).hexdigest())
"""
    done = box.run(code)
    assert done["status"] == "ok", done
    csv_hash, png_hash = done["stdout"].split()

    made = {a["path"]: a for a in done["artifacts"]}
    csv = made["/mnt/data/squares.csv"]
    assert csv["source"] == "assistant"
    assert csv["object"] == "container.file"
    assert csv["container_id"] == box.id
    assert hashlib.sha256(box.content(csv["id"])).hexdigest() == csv_hash

    figure_id = done["results"][0]["image/png"]["file_id"]
    figure = made[f"/mnt/data/figure-{done['id']}-1.png"]
    assert figure["id"] == figure_id
    png = box.content(figure_id)
    assert hashlib.sha256(png).hexdigest() == png_hash
    assert png.startswith(b"\x89PNG") and zlib.crc32(png[12:29]) \
        == struct.unpack(">I", png[29:33])[0]

    listed = {f["id"] for f in box.files()}
    assert {csv["id"], figure_id} <= listed


def test_a_changed_file_gets_a_new_id_and_the_old_keeps_its_bytes(box):
    first = box.run("open('/mnt/data/twice.txt', 'w').write('one')")
    second = box.run("open('/mnt/data/twice.txt', 'w').write('two')")
    nothing = box.run("print(open('/mnt/data/twice.txt').read())")
    old = first["artifacts"][0]
    new = second["artifacts"][0]
    assert old["path"] == new["path"] and old["id"] != new["id"]
    assert nothing["artifacts"] == []
    assert box.content(old["id"]) == b"one"
    assert box.content(new["id"]) == b"two"
    listed = {f["id"] for f in box.files()}
    assert new["id"] in listed and old["id"] not in listed


def test_only_regular_files_are_taken(box):
    done = box.run("import os, socket\n"
                   "os.symlink('/etc/passwd', '/mnt/data/link')\n"
                   "os.mkfifo('/mnt/data/fifo')\n"
                   "os.makedirs('/mnt/data/deep/er')\n"
                   "open('/mnt/data/deep/er/file.txt', 'w').write('deep')\n")
    assert [a["path"] for a in done["artifacts"]] \
        == ["/mnt/data/deep/er/file.txt"]
    assert {s["path"] for s in done["skipped"]} \
        >= {"/mnt/data/link", "/mnt/data/fifo"}
    box.run("os.unlink('/mnt/data/link'); os.unlink('/mnt/data/fifo')")


def test_an_upload_is_visible_and_a_deleted_one_is_gone(box):
    placed = box.put("table.csv", b"a,b\n1,2\n")
    assert placed["path"] == "/mnt/data/table.csv"
    assert placed["source"] == "user" and placed["bytes"] == 8
    assert box.run("print(open('/mnt/data/table.csv').read())")["stdout"] \
        == "a,b\n1,2\n\n"
    box.daemon.json("DELETE", f"{box.path}/files/{placed['id']}")
    with pytest.raises(ApiError) as e:
        box.content(placed["id"])
    assert e.value.status == 404
    assert box.run("import os; print(os.path.exists('/mnt/data/table.csv'))"
                   )["stdout"] == "False\n"


def test_files_given_at_creation_are_there_before_the_first_execution(daemon,
                                                                      new_box):
    up = daemon.upload("données 1.csv", b"x\n1\n")
    box = new_box(file_ids=[up["id"]])
    files = box.files()
    assert [f["source"] for f in files] == ["user"]
    assert files[0]["path"] == "/mnt/data/données 1.csv"
    daemon.json("DELETE", f"/v1/files/{up['id']}")
    assert box.run("import os; print(os.listdir('/mnt/data'))")["stdout"] \
        == "['données 1.csv']\n"
    assert box.content(files[0]["id"]) == b"x\n1\n"


def test_two_containers_at_once_do_not_see_each_other(box, new_box):
    other = new_box()
    box.run("secret = 'mine'\nopen('/mnt/data/mine.txt', 'w').write('mine')")
    done = other.run("import os\nprint('secret' in globals(), "
                     "os.path.exists('/mnt/data/mine.txt'))")
    assert done["stdout"] == "False False\n"
    mine = [f for f in box.files() if f["path"] == "/mnt/data/mine.txt"][0]
    with pytest.raises(ApiError) as e:
        other.content(mine["id"])
    assert e.value.status == 404


def test_a_hundred_megabytes_up_and_down_in_constant_memory(daemon, box,
                                                            tmp_path):
    size = 100 * 1000 * 1000
    path = tmp_path / "big.bin"
    digest = hashlib.sha256()
    with open(path, "wb") as f:
        for i in range(100):
            piece = hashlib.shake_128(str(i).encode()).digest(size // 100)
            digest.update(piece)
            f.write(piece)
    daemon.json("GET", box.path)
    before = resident_bytes(daemon.pid)
    # requests builds multipart bodies in memory; curl streams them.
    import json
    import subprocess
    answer = subprocess.run(
        ["curl", "-sS", "--fail-with-body", "-H",
         f"Authorization: Bearer {daemon.key}", "-F",
         f"file=@{path};filename=big.bin", daemon.url + box.path + "/files"],
        check=True, capture_output=True, text=True).stdout
    placed = json.loads(answer)
    assert placed["bytes"] == size
    during = resident_bytes(daemon.pid)

    done = box.run("import hashlib, shutil\n"
                   "d = hashlib.sha256()\n"
                   "with open('/mnt/data/big.bin', 'rb') as f:\n"
                   "    while piece := f.read(1 << 20): d.update(piece)\n"
                   "print(d.hexdigest())\n"
                   "shutil.copy('/mnt/data/big.bin', '/mnt/data/copy.bin')",
                   timeout_s=300)
    assert done["status"] == "ok", done
    assert done["stdout"].strip() == digest.hexdigest()
    copy = [a for a in done["artifacts"]
            if a["path"] == "/mnt/data/copy.bin"][0]
    assert copy["bytes"] == size

    back = hashlib.sha256()
    with daemon.ok("GET", f"{box.path}/files/{copy['id']}/content",
                   stream=True) as response:
        for piece in response.iter_content(1 << 20):
            back.update(piece)
    after = resident_bytes(daemon.pid)
    assert back.hexdigest() == digest.hexdigest()
    grown = max(during, after) - before
    print(f"resident size grew by {grown / 1048576:.1f} MiB")
    assert grown < 16 * 1024 * 1024
    box.run("import os\nos.unlink('/mnt/data/big.bin')\n"
            "os.unlink('/mnt/data/copy.bin')")


def archive_of(box):
    answer = box.call("GET", "/files.zip")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    return zipfile.ZipFile(io.BytesIO(answer.content))


def test_all_files_come_as_an_archive_that_unpacks_anywhere(daemon, new_box,
                                                            tmp_path):
    box = new_box(name="archive")
    box.put("given.csv", b"1,2\n")
    done = box.run("""
import os
os.makedirs('/mnt/data/plots/old', exist_ok=True)
made = {
    'plots/old/a.txt': 'a',
    '\\u6570 \\u00e9.txt': 'unicode',
    '..\\\\..\\\\evil.txt': 'back',
    '.._.._evil.txt': 'same',
    '-rf': 'dash',
    'big.bin': 'x' * 3000000,
    'empty': '',
}
for name, text in made.items():
    open('/mnt/data/' + name, 'w').write(text)
os.chmod('/mnt/data/-rf', 0o4777)
os.symlink('/etc/passwd', '/mnt/data/link')
""")
    assert done["status"] == "ok", done
    want = {f["path"].removeprefix("/mnt/data/"): box.content(f["id"])
            for f in box.files()}
    assert want["given.csv"] == b"1,2\n" and len(want) == 8, sorted(want)

    with archive_of(box) as archive:
        assert archive.testzip() is None
        got = {i.filename: archive.read(i) for i in archive.infolist()}
        assert len(got) == len(archive.infolist()) == len(want)
        assert all(i.external_attr >> 16 == 0o100644 for i in archive.infolist())
        archive.extractall(tmp_path / "unpacked")
    # Both are ".._.._evil.txt" once they are safe; which one is numbered
    # depends on the order in which they were found.
    safe = {name for name in want if "evil" not in name}
    assert {n: got[n] for n in safe} == {n: want[n] for n in safe}
    evil = sorted(n for n in got if "evil" in n)
    assert evil == [".._.._evil (2).txt", ".._.._evil.txt"], evil
    assert {got[n] for n in evil} == {b"back", b"same"}
    assert os.listdir(tmp_path) == ["unpacked"]

    # The same from the command line, also once the container has ended.
    assert box.daemon.ctl("kill", box.id).returncode == 0
    box.wait_ended()
    saved = tmp_path / "all.zip"
    daemon.ctl("files", "get", "--all", box.id, "--out", str(saved))
    with zipfile.ZipFile(saved) as archive:
        assert {i.filename: archive.read(i) for i in archive.infolist()} == got
