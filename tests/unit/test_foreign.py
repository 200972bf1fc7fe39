#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What belongs to another tenant answers exactly as what is not there: every route, as TAP.

A stranger asks with the ids of all that an owner has, wherever an id may stand: in
paths, in queries, in bodies and in header fields, and then with ids that nobody
has. But for the ids both answers have to be the same, and what the owner has must
be as before. A route with a place for an id that has no line here fails the test.
"""

import contextlib
import json
import re
import sys

import tap
from test_activity import Bench, NEW, OLD, PATIENCE, SESSIONS, mcp, routes, serving
from model import Model

PROJECT = "/api/projects/p"
V = "?api-version=v1"
FORM = ("--x\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"a.txt\"\r\n\r\na\r\n--x--\r\n",
        {"Content-Type": "multipart/form-data; boundary=x"})
RUN = {"code": "count"}
OLD_RUN = {"properties": {"codeInputType": "inline", "executionType": "synchronous", **RUN}}
# The same alphabets and lengths, and nobody's.
NOBODYS = {
    "container": "cntr_" + "6" * 48, "cfile": "cfile_" + "6" * 32, "exec": "exec_" + "6" * 32,
    "file": "file-" + "6" * 24, "upload": "upload_" + "6" * 32, "part": "part_" + "6" * 32,
    "conversation": "conv_" + "6" * 48, "item": "msg_" + "6" * 48, "response": "resp_" + "6" * 48,
    "toolbox": "nobodys", "agent": "nobodys", "name": "6.txt", "old_exec": "exec_" + "6" * 32,
    "mcp": "mcp_" + "6" * 44, "session": "cntr_" + "6" * 48, "identifier": "nobodys",
}


def form(field):
    return FORM[0].format(field), FORM[1]


def json_body(body):
    return json.dumps(body), {"Content-Type": "application/json"}


# Of each route with places for ids: what they name, and the body that goes with it.
PATHS = {
    "GET /v1/files/{}": ("file",), "DELETE /v1/files/{}": ("file",), "GET /v1/files/{}/content": ("file",),
    "POST /v1/uploads/{}/parts": ("upload", form("data")),
    "POST /v1/uploads/{}/complete": ("upload", json_body({"part_ids": ["part_" + "1" * 32]})),
    "POST /v1/uploads/{}/cancel": ("upload",),
    "GET /v1/containers/{}": ("container",), "DELETE /v1/containers/{}": ("container",),
    "GET /v1/containers/{}/files": ("container",),
    "POST /v1/containers/{}/files": ("container", form("file")),
    "GET /v1/containers/{}/files/{}": ("container", "cfile"),
    "DELETE /v1/containers/{}/files/{}": ("container", "cfile"),
    "GET /v1/containers/{}/files/{}/content": ("container", "cfile"),
    "GET /v1/containers/{}/files.zip": ("container",),
    "POST /v1/containers/{}/exec": ("container", json_body(RUN)),
    "GET /v1/containers/{}/executions/{}": ("container", "exec"),
    "GET /v1/containers/{}/executions/{}/events": ("container", "exec"),
    "POST /v1/containers/{}/executions/{}/interrupt": ("container", "exec"),
    "GET /v1/conversations/{}": ("conversation",),
    "POST /v1/conversations/{}": ("conversation", json_body({"metadata": {"a": "b"}})),
    "DELETE /v1/conversations/{}": ("conversation",),
    "POST /v1/conversations/{}/items": ("conversation", json_body({"items": [{"role": "user", "content": "x"}]})),
    "GET /v1/conversations/{}/items": ("conversation",),
    "GET /v1/conversations/{}/items/{}": ("conversation", "item"),
    "DELETE /v1/conversations/{}/items/{}": ("conversation", "item"),
    "GET /v1/responses/{}": ("response",), "DELETE /v1/responses/{}": ("response",),
    "POST /v1/responses/{}/cancel": ("response",), "GET /v1/responses/{}/input_items": ("response",),
    "GET /api/projects/{}/toolboxes/{}": ("toolbox",),
    "PATCH /api/projects/{}/toolboxes/{}": ("toolbox", json_body({"default_version": "1"})),
    "DELETE /api/projects/{}/toolboxes/{}": ("toolbox",),
    "GET /api/projects/{}/toolboxes/{}/versions": ("toolbox",),
    "GET /api/projects/{}/toolboxes/{}/versions/{}": ("toolbox", "version"),
    "DELETE /api/projects/{}/toolboxes/{}/versions/{}": ("toolbox", "version"),
    "GET /api/projects/{}/agents/{}": ("agent",), "DELETE /api/projects/{}/agents/{}": ("agent",),
    "POST /api/projects/{}/agents/{}": ("agent", json_body({"definition": {"kind": "prompt", "model": "m"}})),
    "PATCH /api/projects/{}/agents/{}": ("agent", json_body({"description": "x"})),
    "POST /api/projects/{}/agents/{}:enable": ("agent",), "POST /api/projects/{}/agents/{}:disable": ("agent",),
    "GET /api/projects/{}/agents/{}/versions": ("agent",),
    "GET /api/projects/{}/agents/{}/versions/{}": ("agent", "version"),
    "DELETE /api/projects/{}/agents/{}/versions/{}": ("agent", "version"),
    "GET /pools/{}/files/content/{}": ("name",), "GET /pools/{}/executions/{}": ("old_exec",),
    "GET /pools/{}/files/{}/content": ("name",), "GET /pools/{}/files/{}": ("name",),
    "DELETE /pools/{}/files/{}": ("name",),
}
for where in ("toolboxes/{}/mcp", "toolsets/{}/mcp", "toolboxes/{}:invoke_mcp"):
    PATHS[f"POST /api/projects/{{}}/{where}"] = ("toolbox", json_body(mcp("code_interpreter", **RUN)))
    PATHS[f"DELETE /api/projects/{{}}/{where}"] = ("toolbox",)
PATHS["POST /api/projects/{}/toolboxes/{}/versions/{}/mcp"] = ("toolbox", "version",
                                                              json_body(mcp("code_interpreter", **RUN)))
PATHS["DELETE /api/projects/{}/toolboxes/{}/versions/{}/mcp"] = ("toolbox", "version")

# What these name is everybody's, or is made by whoever names it.
SHARED = {
    "GET /v1/models/{*}", "GET /api/projects/{}/toolboxes", "GET /api/projects/{}/agents",
    "POST /api/projects/{}/agents", "POST /api/projects/{}/toolboxes/{}/versions",
    "POST /api/projects/{}/agents/{}/versions",
    "POST /pools/{}/identifier/{}/code/execute", "POST /pools/{}/files/{}:uploadFile", "POST /pools/{}/mcp",
    "DELETE /pools/{}/mcp", "POST /pools/{}/code/execute", "POST /pools/{}/files/upload",
    "POST /pools/{}/executions", "POST /pools/{}/files", "GET /pools/{}/files", "GET /pools/{}/session",
    "DELETE /pools/{}/session", "GET /pools/{}/listSessions", "GET /pools/{}/metadata",
    "POST /pools/{}/.management/stopSession",
}

# Ids in queries, bodies and header fields: method, path, body, header fields.
ELSEWHERE = [
    ("GET", "/v1/files?after={file}", None, {}),
    ("GET", "/v1/containers?after={container}", None, {}),
    ("GET", "{mine}/files?after={cfile}", None, {}),
    ("GET", "{mine}/files/{cfile}", None, {}),
    ("DELETE", "{mine}/files/{cfile}", None, {}),
    ("GET", "{mine}/files/{cfile}/content", None, {}),
    ("GET", "{mine}/executions/{exec}", None, {}),
    ("GET", "{mine}/executions/{exec}/events", None, {}),
    ("POST", "{mine}/executions/{exec}/interrupt", None, {}),
    ("POST", "{mine}/files", {"file_id": "{file}"}, {}),
    ("POST", "{mine}/files", {"file_id": "{cfile}"}, {}),
    ("POST", "/v1/containers", {"name": "x", "file_ids": ["{file}"]}, {}),
    ("POST", "/v1/containers", {"name": "x", "file_ids": ["{cfile}"]}, {}),
    ("POST", "/v1/uploads/{my_upload}/complete", {"part_ids": ["{part}"]}, {}),
    ("GET", "/v1/conversations/{my_conversation}/items/{item}", None, {}),
    ("GET", "/v1/conversations/{my_conversation}/items?after={item}", None, {}),
    ("DELETE", "/v1/conversations/{my_conversation}/items/{item}", None, {}),
    ("POST", "/v1/responses", {"model": "m", "input": "x", "conversation": "{conversation}"}, {}),
    ("POST", "/v1/responses", {"model": "m", "input": "x", "previous_response_id": "{response}"}, {}),
    ("POST", "/v1/responses", {"model": "m", "input": "x", "tools": [
        {"type": "code_interpreter", "container": "{container}"}]}, {}),
    ("POST", "/v1/responses", {"model": "m", "input": "x", "tools": [
        {"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["{file}"]}}]}, {}),
    ("POST", PROJECT + "/openai/v1/responses" + V, {
        "input": "x", "agent_reference": {"type": "agent_reference", "name": "{agent}"}}, {}),
    ("POST", "/v1/responses", {"model": "m", "input": [{"role": "user", "content": [
        {"type": "input_file", "file_id": "{file}"}]}], "tools": [
            {"type": "code_interpreter", "container": {"type": "auto"}}]}, {}),
    ("POST", "/v1/responses", {"model": "m", "input": [{"type": "item_reference", "id": "{item}"}]}, {}),
    ("POST", "/v1/conversations", {"items": [{"type": "item_reference", "id": "{item}"}]}, {}),
    ("POST", PROJECT + "/toolboxes/strange/versions" + V,
     {"tools": [{"type": "code_interpreter", "container": "{container}"}]}, {}),
    ("POST", PROJECT + "/toolboxes/strange/versions" + V,
     {"tools": [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["{file}"]}}]}, {}),
    ("POST", "/mcp", mcp("code_interpreter", code="count", container_id="{container}"), {}),
    ("POST", "/mcp", mcp("code_interpreter", code="count", container_id="{session}"), {}),
    ("POST", "/mcp", mcp("list_files", container_id="{container}"), {}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {"Mcp-Session-Id": "{mcp}"}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "resources/read",
                      "params": {"uri": "cupola://containers/{container}/files/{cfile}"}}, {}),
    ("DELETE", "/mcp", None, {"Mcp-Session-Id": "{mcp}"}),
    ("POST", SESSIONS + "/mcp", mcp("code_interpreter", code="count", container_id="{session}"), {}),
    ("GET", SESSIONS + "/session?" + NEW.replace("identifier=s", "identifier={session}"), None, {}),
    ("GET", SESSIONS + "/files?" + NEW.replace("identifier=s", "identifier={session}"), None, {}),
]


# What passes by itself: times, and the hours of a session that lives.
CHANGES = re.compile(r'"(last_active_at|[a-z]*_?expires_at|lastAccessedAt|expiresAt|[a-zA-Z]*Time|assigned_s'
                     r'|memory_gib_s)": ?("[^"]*"|[0-9.]+)')


class Asker:
    """An owner with one of everything, and a stranger who has a little."""

    def __init__(self, host):
        self.bench = b = Bench(host)
        self.host = host
        body, fields = form("file")
        purpose = '--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
        file = b.post("/v1/files", purpose + body, fields)["id"]
        upload = b.post("/v1/uploads", {"filename": "u", "purpose": "user_data", "bytes": 1,
                                        "mime_type": "text/plain"})["id"]
        body, fields = form("data")
        part = b.post(f"/v1/uploads/{upload}/parts", body, fields)["id"]
        item = b.post(f"/v1/conversations/{b.conversation}/items",
                      {"items": [{"role": "user", "content": "secret"}]})["data"][0]["id"]
        b.post(f"{PROJECT}/agents{V}", {"name": "a", "definition": {"kind": "prompt", "model": "m"}})
        self.theirs = {
            "container": b.container, "cfile": b.file, "exec": b.run, "file": file, "upload": upload, "part": part,
            "conversation": b.conversation, "item": item, "response": b.response, "toolbox": "t", "agent": "a",
            "name": "a.txt", "old_exec": b.old_run, "mcp": self.initialize(b.mine), "session": b.session,
            "identifier": "s",
        }
        self.stranger("POST", f"{SESSIONS}/executions?{NEW}", *json_body(RUN))
        self.mine = {
            "mine": "/v1/containers/" + self.made("/v1/containers", {"name": "x"}),
            "my_upload": self.made("/v1/uploads", {"filename": "u", "purpose": "user_data", "bytes": 1,
                                                   "mime_type": "text/plain"}),
            "my_conversation": self.made("/v1/conversations", {}),
        }

    def initialize(self, key):
        body, fields = json_body({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}})
        _, headers, _ = self.ask(key, "POST", "/mcp", body, fields)
        return headers["Mcp-Session-Id"]

    def made(self, path, body):
        status, _, text = self.stranger("POST", path, *json_body(body))
        assert status in (200, 201), text
        return json.loads(text)["id"]

    def ask(self, key, method, path, body=None, headers=None):
        fields = {"Authorization": f"Bearer {key}", **(headers or {})}
        with contextlib.closing(self.host.connection(False, PATIENCE)) as connection:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read().decode()

    def stranger(self, method, path, body=None, headers=None):
        return self.ask(self.bench.strangers, method, path, body, headers)

    def with_ids(self, request, ids):
        """What a stranger is answered, without what differs anyway."""
        text = json.dumps(request)
        for name, value in {**ids, **self.mine}.items():
            text = text.replace("{%s}" % name, value)
        method, path, body, headers = json.loads(text)
        if isinstance(body, dict):
            body, more = json_body(body)
            headers = {**headers, **more}
        status, fields, said = self.stranger(method, path, body, headers)
        for name, value in ids.items():
            if len(value) > 3:
                said = said.replace(value, "ID")
            else:
                said = re.sub(rf"(?<=['\"]){value}(?=['\"])", "ID", said)
        said = re.sub(r"\b(cntr|resp|conv|msg|exec|req|tbxv?|agtv?|ci|mcp)_[0-9a-zA-Z]+", r"\1_ID", said)
        said = re.sub(r'"[a-z_]+_at": ?[0-9]+', "TIME", said)
        kept = {name for name in fields if name.lower() not in ("content-length",)}
        return status, kept, said

    def belongings(self):
        """All that the owner has, as it is told."""
        b, t = self.bench, self.theirs
        paths = [b.at, f"{b.at}/files", f"{b.at}/files/{b.file}", f"{b.at}/files/{b.file}/content",
                 f"{b.at}/executions/{b.run}", f"/v1/files/{t['file']}", "/v1/files",
                 f"/v1/files/{t['file']}/content", f"/v1/conversations/{b.conversation}",
                 f"/v1/conversations/{b.conversation}/items", f"/v1/responses/{b.response}",
                 f"{PROJECT}/toolboxes/t/versions{V}", f"{PROJECT}/agents/a{V}", f"{SESSIONS}/files?{NEW}",
                 f"{SESSIONS}/executions/{b.old_run}?{NEW}"]
        said = [self.ask(b.mine, "GET", path) for path in paths]
        assert all(status == 200 for status, _, _ in said), list(zip(paths, said))
        return [(path, CHANGES.sub("CHANGES", text)) for path, (_, _, text) in zip(paths, said)]


@contextlib.contextmanager
def asker():
    with Model() as model, serving({"test.clock": "yes", "test.minute_seconds": "60", "model.url": model.url,
                                    "model.name": "m"}) as host:
        yield Asker(host)


def request_of(route):
    """A route's line, as those in ELSEWHERE are."""
    method, path = route.split(" ")
    names = [name for name in PATHS[route] if isinstance(name, str)]
    body, headers = next((part for part in PATHS[route] if not isinstance(part, str)), (None, {}))
    path = path.replace("/pools/{}", SESSIONS).replace("/projects/{}", "/projects/p")
    for name in names:
        path = path.replace("{}", "1" if name == "version" else "<%s>" % name, 1)
    path = path.replace("<", "{").replace(">", "}")
    if "/pools/" in route:
        path += "?" + (OLD if "content/{" in path else NEW)
    elif "/projects/" in route:
        path += V
    return method, path, body, headers


def every_route_with_an_id_has_a_line():
    there = {r for r in routes() if "{" in r and not r.split(" ")[1].startswith("/admin/")}
    lines = {*PATHS, *SHARED}
    assert there == lines, f"without a line: {sorted(there - lines)}; no such route: {sorted(lines - there)}"


def what_others_have_is_not_there():
    with asker() as a:
        before = a.belongings()
        for route in PATHS:
            request = request_of(route)
            foreign, nobodys = a.with_ids(request, a.theirs), a.with_ids(request, NOBODYS)
            assert foreign[0] == 404, f"{route}: {foreign}"
            assert foreign == nobodys, f"{route}:\n{foreign}\n{nobodys}"
        after = a.belongings()
        assert after == before, [pair for pair in zip(before, after) if pair[0] != pair[1]]


def nor_does_an_id_elsewhere_tell_of_it():
    with asker() as a:
        before = a.belongings()
        for request in ELSEWHERE:
            foreign, nobodys = a.with_ids(request, a.theirs), a.with_ids(request, NOBODYS)
            assert foreign == nobodys, f"{request}:\n{foreign}\n{nobodys}"
            assert "secret" not in foreign[2], f"{request}: {foreign}"
        after = a.belongings()
        assert after == before, [pair for pair in zip(before, after) if pair[0] != pair[1]]


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run([every_route_with_an_id_has_a_line, what_others_have_is_not_there,
                      nor_does_an_id_elsewhere_tell_of_it], with_user))
