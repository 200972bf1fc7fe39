"""Files that programs make badly, and uploads that lie."""

import base64
import errno
import gzip
import hashlib
import io
import json
import re
import socket
import subprocess
import tarfile
import threading
import time
import zipfile

import pytest

from cupola import ApiError, BUILD, wait_until

pytestmark = pytest.mark.usefixtures("invariants")

MIB = 1 << 20
# That of the daemon fixture's pool.
MAX_ARTIFACT = 256 * MIB

SWEEP = """
import subprocess
subprocess.run('chmod -R u+rwX /mnt/data/* 2>/dev/null;'
               'find /mnt/data -mindepth 1 -delete', shell=True)
"""


@pytest.fixture(autouse=True)
def swept(box):
    """Each test finds an empty directory."""
    yield
    done = box.run(SWEEP, timeout_s=300)
    assert done["status"] == "ok", done


def names(done):
    """Names below /mnt/data of what an execution kept."""
    assert done["status"] == "ok", done
    return sorted(a["path"][len("/mnt/data/"):] for a in done["artifacts"])


def skipped(done):
    """name -> its entry in skipped."""
    return {s["path"][len("/mnt/data/"):]: s for s in done["skipped"]}


def reasons(done):
    return {name: s["reason"] for name, s in skipped(done).items()}


def check_content(box, artifact):
    """An artifact's bytes; what is said of them must be so."""
    content = box.content(artifact["id"])
    assert len(content) == artifact["bytes"]
    assert hashlib.sha256(content).hexdigest() == artifact["sha256"]
    return content


def find(box, path):
    """What a name finds: an id, or None."""
    found = box.daemon.json("GET", f"{box.path}/files",
                            params={"path": path})["data"]
    assert len(found) <= 1
    return found[0]["id"] if found else None


# ------------------------------------------------------- what is not a file


def test_links_out_of_the_directory_are_not_followed(box):
    done = box.run("""
import os
for t, n in (('/etc/shadow', 'a.txt'), ('/proc/self/environ', 'b.txt'),
             ('/dev/zero', 'c.bin'), ('../../../etc/hostname', 'd'),
             ('/', 'e'), ('loop', 'loop'), ('/nonexistent', 'dangling')):
    os.symlink(t, '/mnt/data/' + n)
""")
    assert names(done) == []
    assert reasons(done) == dict.fromkeys(
        ("a.txt", "b.txt", "c.bin", "d", "e", "loop", "dangling"), "symlink")
    assert done["skipped_count"] == 7


def test_linked_directories_and_mounts_are_not_entered(box):
    done = box.run("""
import os
os.symlink('/etc', '/mnt/data/dir')
os.makedirs('/mnt/data/ok/sub')
open('/mnt/data/ok/sub/f', 'w').write('1')
os.mkdir('/mnt/data/p')
print(os.system('mount --bind /proc /mnt/data/p 2>/dev/null') != 0)
""")
    assert done["stdout"] == "True\n"
    assert names(done) == ["ok/sub/f"]
    assert reasons(done) == {"dir": "symlink"}


def test_hard_links_are_files_of_their_own_and_foreign_ones_cannot_be(box):
    done = box.run("""
import os
for t in ('/etc/shadow', '/etc/hostname', '/usr/bin/env', '/proc/version'):
    try:
        os.link(t, '/mnt/data/h_' + os.path.basename(t))
        print('linked', t)
    except OSError as e:
        assert e.errno in (1, 13, 18), e
open('/mnt/data/x', 'w').write('x')
os.link('/mnt/data/x', '/mnt/data/y')
""")
    assert done["stdout"] == ""
    assert names(done) == ["x", "y"]
    assert [check_content(box, a) for a in done["artifacts"]] == [b"x", b"x"]
    assert names(box.run("1")) == []


def test_fifos_sockets_and_devices_are_never_opened(box):
    done = box.run("""
import os, socket, stat
os.mkfifo('/mnt/data/p')
os.mkfifo('/mnt/data/report.csv')
s = socket.socket(socket.AF_UNIX)
s.bind('/mnt/data/s.sock')
try:
    os.mknod('/mnt/data/zero', 0o666 | stat.S_IFCHR, os.makedev(1, 5))
except OSError as e:
    print(e.errno)
""")
    assert done["stdout"] == "1\n"
    assert names(done) == []
    assert reasons(done) == dict.fromkeys(("p", "report.csv", "s.sock"),
                                          "special_file")
    assert done["duration_ms"] < 10_000


def test_what_its_owner_may_not_read_is_kept_all_the_same(box):
    done = box.run("""
import os
open('/mnt/data/n', 'w').write('1')
os.chmod('/mnt/data/n', 0)
os.mkdir('/mnt/data/d')
open('/mnt/data/d/x', 'w').write('2')
os.chmod('/mnt/data/d', 0)
""")
    assert names(done) == ["d/x", "n"]
    assert sorted(check_content(box, a) for a in done["artifacts"]) \
        == [b"1", b"2"]
    assert done["skipped"] == []


# ------------------------------------------------------------------- limits


def test_a_sparse_giant_is_refused_by_its_size(box):
    done = box.run("""
import os
fd = os.open('/mnt/data/big.bin', os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 1 << 40)
fd2 = os.open('/mnt/data/sparse.bin', os.O_CREAT | os.O_RDWR)
os.ftruncate(fd2, 32 << 20)
os.pwrite(fd2, b'end', (32 << 20) - 3)
""")
    assert skipped(done) == {"big.bin": {
        "path": "/mnt/data/big.bin", "reason": "too_large",
        "bytes": 1 << 40, "limit_bytes": MAX_ARTIFACT}}
    assert names(done) == ["sparse.bin"]
    content = check_content(box, done["artifacts"][0])
    assert content == bytes((32 << 20) - 3) + b"end"


def test_the_limit_itself_is_kept_and_one_byte_more_is_not(box):
    done = box.run(f"""
import os
for name, size in (('a', {MAX_ARTIFACT}), ('b', {MAX_ARTIFACT} + 1),
                   ('empty', 0)):
    with open('/mnt/data/' + name, 'wb') as f:
        f.truncate(size)
""", timeout_s=300)
    made = {a["path"]: a for a in done["artifacts"]}
    assert made.keys() == {"/mnt/data/a", "/mnt/data/empty"}
    zeros = hashlib.sha256()
    for _ in range(MAX_ARTIFACT // MIB):
        zeros.update(bytes(MIB))
    assert made["/mnt/data/a"]["bytes"] == MAX_ARTIFACT
    assert made["/mnt/data/a"]["sha256"] == zeros.hexdigest()
    assert made["/mnt/data/empty"]["bytes"] == 0
    assert made["/mnt/data/empty"]["sha256"] == hashlib.sha256().hexdigest()
    assert skipped(done)["b"] == {
        "path": "/mnt/data/b", "reason": "too_large",
        "bytes": MAX_ARTIFACT + 1, "limit_bytes": MAX_ARTIFACT}


def test_a_hundred_thousand_files_are_counted_and_512_kept(box):
    code = """
import os
for i in range(100_000):
    os.mknod(f'/mnt/data/f{i:06d}')
"""
    response = box.daemon.ok("POST", f"{box.path}/exec",
                             json={"code": code, "timeout_s": 300})
    done = response.json()
    assert done["status"] == "ok", done["status"]
    assert len(done["artifacts"]) == 512
    assert done["skipped_count"] == 100_000 - 512
    assert done["skipped"] == [{"path": "/mnt/data/", "reason": "too_many",
                                "count": 100_000 - 512}]
    assert len(response.content) < MIB
    again = box.run("open('/mnt/data/f000007', 'w').write('7')\n"
                    "open('/mnt/data/new', 'w').write('n')")
    assert names(again) == ["f000007", "new"]
    assert again["skipped_count"] == 0


def test_a_tree_too_deep_is_left_at_its_sixteenth_directory(box):
    done = box.run("""
import os, shutil
os.chdir('/mnt/data')
for i in range(5000):
    os.mkdir('d')
    os.chdir('d')
open('leaf', 'w').write('x')
os.chdir('/mnt/data')
open('/mnt/data/' + 'd/' * 15 + 'deep', 'w').write('deep')
open('/mnt/data/' + 'd/' * 16 + 'deeper', 'w').write('deeper')
""", timeout_s=300)
    assert names(done) == ["d/" * 15 + "deep"]
    assert set(reasons(done).values()) == {"too_deep"}
    # Too deep for rm, which the sweep would use.
    assert box.run("""
os.chdir('/mnt/data')
for i in range(6000):
    if os.path.isdir('d/d'):
        os.rename('d/d', 'e')
        shutil.rmtree('d')
        os.rename('e', 'd')
shutil.rmtree('d')
""", timeout_s=300)["status"] == "ok"


def test_a_full_disk_refuses_an_upload_and_leaves_nothing(box):
    for fill, free in (
            ("with open('/mnt/data/full', 'wb') as f:\n"
             " try:\n"
             "  os.posix_fallocate(f.fileno(), 0, 1 << 40)\n"
             " except OSError: pass\n"
             " size = 1 << 34\n"
             " while size >= 4096:\n"
             "  try:\n"
             "   os.posix_fallocate(f.fileno(), os.fstat(f.fileno()).st_size,"
             " size)\n"
             "  except OSError: size //= 2\n"
             "print(os.statvfs('/mnt/data').f_bavail < 64)",
             "os.unlink('/mnt/data/full')"),):
        filled = box.run("import os\n" + fill, timeout_s=300)
        assert filled["stdout"] == "True\n", filled
        with pytest.raises(ApiError) as e:
            box.put("in.bin", bytes(4 * MIB))
        assert (e.value.status, e.value.code) \
            == (507, "container_storage_full")
        freed = box.run(free + "\nprint(os.path.exists('/mnt/data/in.bin'))")
        assert freed["stdout"] == "False\n"
        assert find(box, "in.bin") is None
        placed = box.put("in.bin", b"there is room again")
        assert check_content(box, placed) == b"there is room again"


# ------------------------------------------------- files that do not hold still


def test_a_file_that_grows_is_kept_as_it_was_at_one_moment(box):
    done = box.run("""
import threading, time
f = open('/mnt/data/log.txt', 'ab', buffering=0)
stop = False
def w():
    while not stop:
        f.write(b'x' * 65536)
        time.sleep(0.001)
threading.Thread(target=w, daemon=True).start()
time.sleep(.5)
""")
    try:
        if done["artifacts"]:
            artifact, = done["artifacts"]
            content = check_content(box, artifact)
            assert set(content) == {ord("x")}
            assert artifact["changed_during_read"] is True
        else:
            assert reasons(done) == {"log.txt": "changed"}
    finally:
        box.run("stop = True")


def test_a_file_that_shrinks_and_vanishes_is_whole_or_skipped(box):
    done = box.run("""
import threading, os, time
stop = False
def w():
    while not stop:
        open('/mnt/data/t', 'wb').write(b'y' * 8_000_000)
        os.truncate('/mnt/data/t', 10)
        os.unlink('/mnt/data/t')
threading.Thread(target=w, daemon=True).start()
time.sleep(1)
""")
    try:
        assert done["status"] == "ok"
        for artifact in done["artifacts"]:
            assert set(check_content(box, artifact)) <= {ord("y")}
        assert set(reasons(done).values()) <= {"changed"}
    finally:
        box.run("stop = True\ntime.sleep(1)")


def test_a_file_that_comes_late_belongs_to_the_next_execution(box):
    first = box.run("import subprocess\n"
                    "p = subprocess.Popen(['sh', '-c', "
                    "'sleep 1; echo late > /mnt/data/late.txt'])")
    assert names(first) == []
    time.sleep(3)
    second = box.run("p.wait()")
    assert names(second) == ["late.txt"]
    assert find(box, "late.txt") == second["artifacts"][0]["id"]


# ------------------------------------------------------------------- names


HELL = ["a\nb", "a\r\nSet-Cookie: x=1", 'a"b', "a\\b", "a;b", "-rf", "--help",
        ".hidden", " lead", "trail ", "dot.", "...", "%0d%0aX-Y: z",
        "%2e%2e%2f", "con", "a\tb", "a\x1b[2Jb", "\u202egnp.exe", "\u00e9",
        "e\u0301", "\U0001f600", "x" * 255, "a b", "$(id)", "`id`", "{{7*7}}",
        "<img src=x onerror=alert(1)>.html".replace("/", ""), "a'b", "a|b",
        "a*?b"]


def raw_headers(box, ident):
    """The head of a download, byte for byte."""
    host, port = box.daemon.url.split("//")[1].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as s:
        s.sendall((f"GET {box.path}/files/{ident}/content HTTP/1.1\r\n"
                   f"Host: x\r\nAuthorization: Bearer {box.daemon.key}\r\n"
                   "Connection: close\r\n\r\n").encode())
        data = b""
        while b"\r\n\r\n" not in data:
            piece = s.recv(65536)
            assert piece, data
            data += piece
    return data.split(b"\r\n\r\n")[0].split(b"\r\n")


def check_headers(box, ident):
    lines = raw_headers(box, ident)
    assert lines[0] == b"HTTP/1.1 200 OK"
    for line in lines[1:]:
        assert re.fullmatch(rb"[A-Za-z-]+: [ -~]*", line), line
    heads = [line.split(b":")[0].lower() for line in lines[1:]]
    assert heads.count(b"content-disposition") == 1
    assert b"set-cookie" not in heads and b"x-y" not in heads
    disposition = [line for line in lines
                   if line.lower().startswith(b"content-disposition")][0]
    assert re.fullmatch(rb'[^:]+: attachment; filename="[^"\\]*"'
                        rb"; filename\*=UTF-8''[A-Za-z0-9%!#$&+.^_`|~-]+",
                        disposition), disposition


def test_every_name_is_kept_exactly_found_and_downloaded(box):
    assert len(HELL) == 30
    done = box.run(f"for n in {HELL!r}:\n"
                   "    open('/mnt/data/' + n, 'w').write(n)")
    assert names(done) == sorted(HELL)
    assert all("path_b64" not in a for a in done["artifacts"])
    for artifact in done["artifacts"]:
        name = artifact["path"][len("/mnt/data/"):]
        assert check_content(box, artifact).decode() == name
        assert find(box, name) == artifact["id"]
        check_headers(box, artifact["id"])
    composed, apart = (find(box, n) for n in ("\u00e9", "e\u0301"))
    assert composed != apart
    # Only one is left that looks like it.
    box.daemon.json("DELETE", f"{box.path}/files/{composed}")
    assert find(box, "\u00e9") == apart
    check_bundle(box, len(HELL) - 1)


def test_names_that_are_not_utf8_have_their_bytes_beside_them(box, tmp_path):
    raw = [b"\xff\xfe.csv", b"caf\xe9", b"\xc0\xaf", b"\xed\xa0\x80",
           b"a\x80b", b"a\x81b"]
    done = box.run(f"for n in {raw!r}:\n"
                   "    open(b'/mnt/data/' + n, 'wb').write(n)")
    assert done["status"] == "ok" and done["skipped"] == []
    assert sorted(base64.b64decode(a["path_b64"])
                  for a in done["artifacts"]) == sorted(raw)
    for artifact in done["artifacts"]:
        content = check_content(box, artifact)
        assert content == base64.b64decode(artifact["path_b64"])
        assert "\ufffd" in artifact["path"]
        check_headers(box, artifact["id"])
    # What stands for the name finds it, if it stands for one name only.
    by_name = {base64.b64decode(a["path_b64"]): a for a in done["artifacts"]}
    assert find(box, "caf\ufffd") == by_name[b"caf\xe9"]["id"]
    assert find(box, "a\ufffdb") is None
    box.daemon.ctl("files", "get", "-o", str(tmp_path), box.id, "caf\ufffd")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"caf\xe9"]
    check_bundle(box, len(raw))
    box.daemon.json("DELETE",
                    f"{box.path}/files/{by_name[b'caf' + bytes([0xe9])]['id']}")
    assert box.run("import os\nprint(os.path.exists(b'/mnt/data/caf\\xe9'))"
                   )["stdout"] == "False\n"


def check_bundle(box, least):
    """All files in one archive: plain names, none leads out, none twice."""
    data = box.daemon.ok("GET", f"{box.path}/files.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        assert z.testzip() is None
        entries = z.namelist()
        modes = {(info.external_attr >> 16) & 0o170000 for info in z.infolist()}
    assert len(entries) >= least and len(set(entries)) == len(entries)
    assert modes <= {0, 0o100000}
    for name in entries:
        assert not name.startswith("/") and ".." not in name.split("/"), name


# ------------------------------------------------------------------ uploads


def put_raw(box, path_bytes):
    """An upload whose filename is exactly these bytes."""
    body = (b'--b\r\nContent-Disposition: form-data; name="file"; filename="'
            + path_bytes + b'"\r\n\r\nhi\r\n--b--\r\n')
    return box.daemon.call(
        "POST", f"{box.path}/files", data=body,
        headers={"Content-Type": "multipart/form-data; boundary=b"})


def test_a_name_of_an_upload_never_leads_out(box):
    box.run("import os\nopen('/tmp/mark', 'w').close()")
    refused = [b"", b".", b"..", b"a/..", b"a/", b"../", b"..\\..\\..",
               b"a" * 256, b"a/" * 3000, b"a\0b", b"\xff", b"a\x1bb"]
    for name in refused:
        response = put_raw(box, name)
        assert response.status_code == 400, (name, response.text)
    # Only the last component counts.
    taken = {b"../../etc/cron.d/x": "x", b"/etc/passwd": "passwd",
             b"a/../../b": "b", b"..\\..\\y": "y", b"a//c": "c",
             b"a/./d": "d", b"a/" * 400 + b"e": "e",
             b"%2e%2e%2fx": "%2e%2e%2fx"}
    for name, kept in taken.items():
        response = put_raw(box, name)
        assert response.status_code == 200, (name, response.text)
        assert response.json()["path"] == "/mnt/data/" + kept
    found = box.run("import subprocess\n"
                    "print(sorted(os.listdir('/mnt/data')))\n"
                    "print(subprocess.run(['find', '/', '-xdev', '-newer', "
                    "'/tmp/mark', '-type', 'f', '-not', '-path', '/proc/*', "
                    "'-not', '-path', '/sys/*'], capture_output=True, "
                    "text=True).stdout)")
    lines = found["stdout"].splitlines()
    assert lines[0] == repr(sorted(taken.values()))
    assert all(line.startswith(("/mnt/data/", "/tmp/")) for line in lines[1:]
               if line), lines


GONE = (errno.ECONNRESET, errno.ENOTCONN, errno.EPIPE)


def send_raw(box, head, body, reset=False):
    """A request as bytes; what came back until the other end closed.

    That may be in the midst of what is sent, and then is not seen by all.
    """
    host, port = box.daemon.url.split("//")[1].rsplit(":", 1)
    data = b""
    with socket.create_connection((host, int(port)), timeout=120) as s:
        try:
            s.sendall((f"POST {box.path}/files HTTP/1.1\r\nHost: x\r\n"
                       f"Authorization: Bearer {box.daemon.key}\r\n"
                       "Connection: close\r\n").encode()
                      + head + b"\r\n" + body)
            if reset:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             b"\1\0\0\0\0\0\0\0")
                return b""
            s.shutdown(socket.SHUT_WR)
            while piece := s.recv(65536):
                data += piece
        except OSError as e:
            assert e.errno in GONE, e
    return data


FORM = b"Content-Type: multipart/form-data; boundary=b\r\n"
PART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="lie"'


def test_an_upload_that_lies_about_its_length_leaves_nothing(box):
    begun = PART + b"\r\n\r\n" + b"z" * 500_000
    whole = begun + b"\r\n--b--\r\n"
    liars = [
        (b"Content-Length: 1000000\r\n", begun),
        (b"Content-Length: %d\r\n" % len(begun), begun),
        (b"Content-Length: %d\r\n" % (len(whole) - 9), whole),
        (b"Transfer-Encoding: chunked\r\n", b"zz\r\n" + begun),
        (b"Transfer-Encoding: chunked\r\n",
         b"%x\r\n%s\r\n" % (len(begun), begun)),
        (b"Content-Length: %d\r\n" % (2 * len(begun) + 9),
         begun + b"\r\n" + begun + b"\r\n--b--\r\n"),
    ]
    for length, body in liars:
        answer = send_raw(box, FORM + length, body)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:200]
    send_raw(box, FORM + b"Content-Length: 1000000\r\n", begun, reset=True)
    nameless = whole.replace(b'; filename="lie"', b"")
    assert send_raw(box, FORM + b"Content-Length: %d\r\n" % len(nameless),
                    nameless).startswith(b"HTTP/1.1 4")
    parts = b"".join(b'--b\r\nContent-Disposition: form-data; name="p%d"'
                     b"\r\n\r\nx\r\n" % i for i in range(10_000)) + b"--b--"
    assert send_raw(box, FORM + b"Content-Length: %d\r\n" % len(parts),
                    parts).startswith(b"HTTP/1.1 4")
    assert box.files() == [] or find(box, "lie") is None
    assert box.run("import os\nprint(os.listdir('/mnt/data'))")["stdout"] \
        == "[]\n"
    temporary = box.daemon.dir / "blobs" / "tmp"
    wait_until(lambda: not list(temporary.iterdir()), 30,
               "temporary files to go")


def test_fifty_uploads_to_one_name_leave_one_of_them_whole(box):
    answers = []

    def put(letter):
        body = bytes([letter]) * 1_000_000
        done = subprocess.run(
            ["curl", "-sS", "-w", "\n%{http_code}", "-H",
             f"Authorization: Bearer {box.daemon.key}", "-F",
             "file=@-;filename=same.bin", box.daemon.url + box.path + "/files"],
            input=body, capture_output=True, timeout=300)
        text, status = done.stdout.decode().rsplit("\n", 1)
        answers.append((letter, int(status), json.loads(text)))

    threads = [threading.Thread(target=put, args=(65 + i % 26,))
               for i in range(50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(answers) == 50
    kept = [(letter, a) for letter, status, a in answers if status == 200]
    assert len(kept) == 50, {status for _, status, _ in answers}
    assert len({a["id"] for _, a in kept}) == 50
    for letter, a in kept:
        body = bytes([letter]) * 1_000_000
        assert a["sha256"] == hashlib.sha256(body).hexdigest()
        assert a["bytes"] == len(body)
    done = box.run("d = open('/mnt/data/same.bin', 'rb').read()\n"
                   "print(len(d), len(set(d)), d[0])")
    length, kinds, letter = map(int, done["stdout"].split())
    assert (length, kinds) == (1_000_000, 1)
    assert letter in {found for found, _ in kept}
    # What is listed is what is there.
    assert box.content(find(box, "same.bin")) == bytes([letter]) * 1_000_000


def bombs():
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("zeros", bytes(8 * MIB))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as z:
        for i in range(16):
            z.writestr(f"{i}.zip", inner.getvalue())
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as t:
        for name, kind, target in (("../../x", tarfile.REGTYPE, ""),
                                   ("/etc/x", tarfile.REGTYPE, ""),
                                   ("hard", tarfile.LNKTYPE, "/etc/passwd"),
                                   ("soft", tarfile.SYMTYPE, "/etc/passwd")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            t.addfile(info)
    return {"42.zip": outer.getvalue(), "links.tar": tar.getvalue(),
            "zeros.gz": gzip.compress(bytes(64 * MIB))}


def test_archives_are_kept_as_they_are_and_never_unpacked(box):
    sent = bombs()
    for name, data in sent.items():
        placed = box.put(name, data)
        assert placed["bytes"] == len(data)
        assert check_content(box, placed) == data
    done = box.run("import hashlib, os\n"
                   "print({n: hashlib.sha256(open('/mnt/data/' + n, 'rb')"
                   ".read()).hexdigest() for n in os.listdir('/mnt/data')})")
    assert done["stdout"].strip() == repr(
        {n: hashlib.sha256(sent[n]).hexdigest()
         for n in re.findall(r"'([^']+)': '", done["stdout"])})
    assert len(re.findall("': '", done["stdout"])) == len(sent)
    response = box.daemon.call(
        "POST", f"{box.path}/files", data=gzip.compress(b"x" * 1000),
        headers={"Content-Type": "multipart/form-data; boundary=b",
                 "Content-Encoding": "gzip"})
    assert response.status_code == 415, response.text


# ------------------------------------------------------------- the end of a life


def test_a_download_goes_on_when_its_session_expires(fresh_daemon):
    daemon = fresh_daemon()
    box = daemon.container(name="expires")
    done = box.run("import os\n"
                   "open('/mnt/data/big', 'wb').write(os.urandom(4 << 20))\n"
                   "import mmap\n"
                   "f = open('/mnt/data/late', 'w+b')\n"
                   "f.truncate(4096)\n"
                   "m = mmap.mmap(f.fileno(), 4096)")
    big = [a for a in done["artifacts"] if a["path"] == "/mnt/data/big"][0]
    curl = subprocess.Popen(
        ["curl", "-sS", "--fail", "--limit-rate", "1M", "-H",
         f"Authorization: Bearer {daemon.key}",
         f"{daemon.url}{box.path}/files/{big['id']}/content"],
        stdout=subprocess.PIPE)
    time.sleep(0.5)
    daemon.advance(3601)
    statuses = set()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        statuses.add(daemon.call("GET", f"{box.path}/files").status_code)
    content = curl.communicate(timeout=120)[0]
    assert curl.returncode == 0
    assert hashlib.sha256(content).hexdigest() == big["sha256"]
    assert statuses == {200}
    assert box.wait_ended()["ended"]["reason"] == "hard_limit"
    # What it had is had for as long as the files are kept.
    assert check_content(box, big) == content


STAGES = ("blob-before-rename", "blob-after-rename", "store-before-commit",
          "store-after-commit")


def has_failpoints():
    return b"CUPOLA_FAILPOINT" in (BUILD / "cupolad").read_bytes()


def unfinished_blobs(d):
    """By inode: the daemon fetches the file again, under a name as before."""
    return {path.stat().st_ino for path in (d.dir / "blobs" / "tmp").iterdir()}


@pytest.mark.skipif(not has_failpoints(),
                    reason="a build without --enable-failpoints")
def test_a_daemon_killed_while_it_writes_has_the_file_in_the_end(
        fresh_daemon):
    """At no stage is there half a file, or a second one, or none at last."""
    d = fresh_daemon(start=False)
    armed = d.dir / "failpoint"
    d.env["CUPOLA_FAILPOINT"] = f"@{armed}"
    d.start()
    box = d.container(name="killed")
    box.run("import os, time")
    for i, stage in enumerate(STAGES):
        started = box.start(f"time.sleep(2)\n"
                            f"open('/mnt/data/f{i}', 'wb').write({stage!r}"
                            ".encode() * 100_000)")
        box.wait_status(started, ("running",))
        armed.write_text(f"{stage}:kill9")
        armed.chmod(0o666)
        d.process.wait(120)
        armed.unlink(missing_ok=True)
        assert d.qemus()
        half = unfinished_blobs(d)
        d.start()
        assert not half & unfinished_blobs(d)
        done = box.wait_status(started, ("ok",), 120)
        artifact, = done["artifacts"]
        assert check_content(box, artifact) == stage.encode() * 100_000
    paths = [f["path"] for f in box.files()]
    assert sorted(paths) == [f"/mnt/data/f{i}" for i in range(len(STAGES))]
    box.delete()
    wait_until(lambda: not d.qemus(), 60, "the VM to end")
    assert d.audit() == []
