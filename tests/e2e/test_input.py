"""Bad input: the right refusal, nothing created, nothing lost."""

import json
import socket

import pytest

NO_ID = "cntr_" + "0" * 48


def refused(daemon, status, method, path, **kwargs):
    response = daemon.call(method, path, **kwargs)
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"].startswith("application/json")
    assert response.headers["x-request-id"].startswith("req_")
    error = response.json()["error"]
    assert isinstance(error["message"], str) and error["message"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def count(daemon):
    return len(daemon.json("GET", "/v1/containers?limit=100")["data"])


def raw(daemon, data):
    host, port = daemon.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as s:
        s.sendall(data)
        got = b""
        while True:
            try:
                piece = s.recv(65536)
            except ConnectionResetError:
                break
            if not piece:
                break
            got += piece
        return got


@pytest.mark.parametrize("body, param", [
    ({}, "name"),
    ({"name": 7}, "name"),
    ({"name": ""}, "name"),
    ({"name": "x" * 10000}, "name"),
    ({"name": "x", "expires_after": {"minutes": 5}}, "expires_after.anchor"),
    ({"name": "x", "expires_after":
      {"anchor": "created_at", "minutes": 5}}, "expires_after.anchor"),
    ({"name": "x", "expires_after":
      {"anchor": "last_active_at", "minutes": 0}}, "expires_after.minutes"),
    ({"name": "x", "expires_after":
      {"anchor": "last_active_at", "minutes": 21}}, "expires_after.minutes"),
    ({"name": "x", "expires_after":
      {"anchor": "last_active_at", "minutes": 1.5}}, "expires_after.minutes"),
    ({"name": "x", "expires_after":
      {"anchor": "last_active_at", "minutes": "5"}}, "expires_after.minutes"),
    ({"name": "x", "memory_limit": "3g"}, "memory_limit"),
    ({"name": "x", "file_ids": "file-1"}, "file_ids"),
    ({"name": "x", "file_ids": [7]}, "file_ids[0]"),
    ({"name": "x", "network_policy":
      {"type": "allowlist", "allowed_domains": ["example.org"]}},
     "network_policy.type"),
])
def test_a_bad_field_of_a_container_is_named(daemon, body, param):
    before = count(daemon)
    error = refused(daemon, 400, "POST", "/v1/containers", json=body)
    assert error["param"] == param
    assert error["type"] == "invalid_request_error"
    assert count(daemon) == before


@pytest.mark.parametrize("body", [
    b'{"name":', b'{"name":"x",}', b'{"name":"x","name":"y"}', b"[]", b"7",
    b'{"name":"\xff"}', b'{"name":"\\ud800"}', b'{"name":NaN}',
    b'{"a\\u0000b":1,"name":"x"}', b'{"name":"x"} x', b"[" * 100000,
    b'{"name":"x","expires_after":{"anchor":"last_active_at",'
    b'"minutes":1e309}}',
])
def test_json_that_is_not_strict_is_refused(daemon, body):
    before = count(daemon)
    refused(daemon, 400, "POST", "/v1/containers", data=body,
            headers={"Content-Type": "application/json"})
    assert count(daemon) == before


def test_bodies_that_are_too_large_are_refused(daemon, box):
    huge = b'{"name":"' + b"x" * (1 << 20) + b'"}'
    refused(daemon, 413, "POST", "/v1/containers", data=huge,
            headers={"Content-Type": "application/json"})
    refused(daemon, 400, "POST", f"{box.path}/exec",
            json={"code": "x" * (512 * 1024 + 1)})
    # Announced, not sent: refused before a byte of it is read.
    got = raw(daemon, (
        f"POST {box.path}/exec HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {daemon.key}\r\n"
        "Content-Type: application/json\r\n"
        "Content-Length: 2147483648\r\n\r\n").encode())
    assert got.startswith(b"HTTP/1.1 413 "), got


def test_the_wrong_content_type_is_not_executed(daemon, box):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        refused(daemon, 415, "POST", f"{box.path}/exec",
                data=b'{"code":"open(\'/mnt/data/no\',\'w\')"}',
                headers={"Content-Type": kind})


@pytest.mark.parametrize("fields", [
    {"code": ""}, {"code": 1}, {}, {"code": "1", "timeout_s": 0},
    {"code": "1", "timeout_s": -1}, {"code": "1", "timeout_s": 100000},
    {"code": "1", "timeout_s": "5"}, {"code": "1", "encoding": "latin-1"},
    {"code": "1", "stdin": 5}, {"code": "1", "surprise": True},
])
def test_a_bad_execution_is_refused_not_clamped(daemon, box, fields):
    before = box.get()["session"]["usage"]["executions"]
    error = refused(daemon, 400, "POST", f"{box.path}/exec", json=fields)
    assert error["param"] in (set(fields) | {"code"})
    assert box.get()["session"]["usage"]["executions"] == before


@pytest.mark.parametrize("method, path", [
    ("GET", f"/v1/containers/{NO_ID}"),
    ("DELETE", f"/v1/containers/{NO_ID}"),
    ("GET", f"/v1/containers/{NO_ID}/files"),
    ("POST", f"/v1/containers/{NO_ID}/exec"),
    ("GET", "/v1/files/file-000000000000000000000000"),
    ("DELETE", "/v1/files/file-000000000000000000000000"),
    ("GET", "/v1/files/..%2f..%2fetc%2fpasswd/content"),
    ("GET", "/v1/nothing"),
])
def test_what_does_not_exist_is_not_found(daemon, method, path):
    json_body = {"code": "1"} if path.endswith("exec") else None
    error = refused(daemon, 404, method, path, json=json_body)
    assert error["code"] is None


def test_a_foreign_id_answers_exactly_like_a_missing_one(daemon, box):
    made = json.loads(daemon.ctl("keys", "create", "--tenant", "stranger",
                                 "--json").stdout)
    key = made["key"]
    up = daemon.upload("mine.txt", b"mine")
    missing = "file-" + "0" * len(up["id"].removeprefix("file-"))
    for mine, none in ((f"/v1/files/{up['id']}", f"/v1/files/{missing}"),
                       (box.path, f"/v1/containers/{NO_ID}"),
                       (box.path + "/files", f"/v1/containers/{NO_ID}/files")):
        a = daemon.call("GET", mine, key=key)
        b = daemon.call("GET", none, key=key)
        assert a.status_code == b.status_code == 404
        name_a, name_b = mine.split("/")[3], none.split("/")[3]
        assert a.json()["error"]["message"].replace(name_a, "") \
            == b.json()["error"]["message"].replace(name_b, "")
    refused(daemon, 404, "POST", "/v1/containers", key=key,
            json={"name": "x", "file_ids": [up["id"]]})
    assert daemon.json("GET", "/v1/containers", key=key)["data"] == []


@pytest.mark.parametrize("name, kept", [
    ("../../etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"),
    ("a b;c.txt", "a b;c.txt"), ("数据.csv", "数据.csv"),
    ("-rf.txt", "-rf.txt"), ("...", "..."),
])
def test_file_names_keep_only_the_base_name(daemon, box, name, kept):
    up = daemon.upload(name, b"x")
    assert up["filename"] == kept
    placed = box.put(name, b"x")
    assert placed["path"] == "/mnt/data/" + kept
    daemon.json("DELETE", f"{box.path}/files/{placed['id']}")


@pytest.mark.parametrize("name", [
    "..", ".", "", "a\0b", "a\nb", "x" * 300, "\x1b[2J",
])
def test_file_names_that_cannot_be_kept_are_refused(daemon, box, name):
    boundary = "xyzzy"
    quoted = name.replace("\n", "%0A")
    body = (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{quoted}"\r\n\r\nx\r\n--{boundary}--\r\n').encode()
    before = len(box.files())
    refused(daemon, 400, "POST", f"{box.path}/files", data=body,
            headers={"Content-Type":
                     f"multipart/form-data; boundary={boundary}"})
    assert len(box.files()) == before


def test_uploads_that_lack_something_are_refused(daemon):
    before = len(daemon.json("GET", "/v1/files")["data"])
    error = refused(daemon, 400, "POST", "/v1/files",
                    files={"file": ("x", b"x")})
    assert error["param"] == "purpose"
    error = refused(daemon, 400, "POST", "/v1/files",
                    files={"file": ("x", b"x")}, data={"purpose": "none"})
    assert error["param"] == "purpose"
    error = refused(daemon, 400, "POST", "/v1/files",
                    files={"purpose": (None, "assistants")})
    assert error["param"] == "file"
    assert len(daemon.json("GET", "/v1/files")["data"]) == before


def test_keys(daemon):
    for headers in ({"Authorization": "Bearer wrong"},
                    {"Authorization": ""}, {"api-key": "wrong"}):
        response = daemon.http.get(daemon.url + "/v1/files", headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "invalid_api_key"
    for headers in ({"api-key": daemon.key}, {"x-ms-apikey": daemon.key}):
        assert daemon.http.get(daemon.url + "/v1/files",
                               headers=headers).status_code == 200


def test_requests_that_two_servers_would_read_differently(daemon):
    auth = f"Authorization: Bearer {daemon.key}\r\n"
    for head in (
            "POST /v1/containers HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
            "Content-Length: 6\r\n",
            "POST /v1/containers HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
            "Transfer-Encoding: chunked\r\n",
            "POST /v1/containers HTTP/1.1\r\nHost: x\r\n"
            "Content-Length: +5\r\n",
            "GET http://198.51.100.1/ HTTP/1.1\r\nHost: 198.51.100.1\r\n",
            "CONNECT 198.51.100.1:22 HTTP/1.1\r\nHost: x\r\n",
            "GET /v1/files HTTP/1.1\r\nHost: x\r\nHost: y\r\n"):
        got = raw(daemon, (head + auth + "\r\n{}{}{}").encode())
        # libmicrohttpd 0.9.75 sends the head of its own refusals twice, so
        # heads are not counted: none of them may be a second answer.
        heads = [line for line in got.split(b"\r\n")
                 if line.startswith(b"HTTP/1.1 ")]
        assert len(set(heads)) == 1, (head, got)
        assert heads[0].split(b" ")[1][:1] == b"4", (head, got)


def test_methods(daemon):
    response = daemon.call("PATCH", "/v1/files")
    assert response.status_code == 405
    assert "GET" in response.headers["Allow"]
    assert daemon.call("TRACE", "/v1/files").status_code in (400, 405)


def test_paging(daemon):
    ids = [daemon.upload(f"page{i}.txt", b"x", purpose="evals")["id"]
           for i in range(3)]
    page = daemon.json("GET", "/v1/files?purpose=evals&limit=2")
    assert [f["id"] for f in page["data"]] == [ids[2], ids[1]]
    assert page["has_more"] is True
    assert (page["first_id"], page["last_id"]) == (ids[2], ids[1])
    page = daemon.json(
        "GET", f"/v1/files?purpose=evals&limit=2&after={ids[1]}")
    assert [f["id"] for f in page["data"]] == [ids[0]]
    assert page["has_more"] is False
    for query in ("limit=0", "limit=abc", "limit=10001", "order=up",
                  "after=file-none"):
        refused(daemon, 400, "GET", f"/v1/files?{query}")
    for ident in ids:
        daemon.json("DELETE", f"/v1/files/{ident}")
