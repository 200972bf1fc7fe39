#!/usr/bin/python3
"""What prolongs a container's idle time, and what does not: every route, as TAP.

Activity is a request of the owner's about the container or its files that succeeds,
and nothing else: not the operator's calls, lists of containers, or what strangers
ask. A route that has no line here fails the test. Processes stand for VMs.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("abs_top_builddir", os.environ.get("CUPOLA_BUILD", "build"))).resolve()
os.environ.setdefault("CUPOLA_BUILD", str(BUILD))
sys.path.insert(0, str(TOP / "tests" / "chaos"))
sys.path.insert(0, str(TOP / "tests" / "upstream"))

import tap  # noqa: E402
from host import serving, wait_until  # noqa: E402
from model import Model  # noqa: E402

PATIENCE = 60
# Times are told in seconds.
STEP_SECONDS = 2

SESSIONS = "/pools/default"
IDENTIFIER = "identifier=s"
OLD = f"api-version=2024-02-02-preview&{IDENTIFIER}"
NEW = f"api-version=2025-10-02-preview&{IDENTIFIER}"
TOOLBOX = "/api/projects/p/toolboxes/t"


def code(**more):
    return {"code": "count", **more}


def mcp(name, **arguments):
    """A call of a tool, in the era in which no session is needed."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


class Bench:
    """A daemon with a container and a dynamic session, and someone else's key."""

    def __init__(self, host):
        self.host = host
        self.mine = self.key = (host.dir / "api-key").read_text().strip()
        self.admin("POST", "/admin/v1/tenants", {"id": "stranger"})
        self.strangers = self.admin("POST", "/admin/v1/keys", {
            "tenant": "stranger", "name": "k", "scopes": ["containers", "sessions", "responses", "files", "toolboxes"]})["key"]
        self.container = self.make()
        self.at = f"/v1/containers/{self.container}"
        self.file = self.upload(f"{self.at}/files")["id"]
        self.doomed = self.upload(f"{self.at}/files", "doomed.txt")["id"]
        self.run = self.post(f"{self.at}/exec", code())["id"]
        self.old_run = self.post(f"{SESSIONS}/executions?{NEW}", {**code(), "executionType": "Asynchronous"},
                                 expect=202)["id"]
        for name in ("a.txt", "doomed.txt"):
            self.upload(f"{SESSIONS}/files?{NEW}", name)
        self.session = self.get(f"{SESSIONS}/session?{NEW}")["sessionId"]
        self.wait_running(self.session)
        self.post(f"{TOOLBOX}/versions?api-version=v1", {
            "tools": [{"type": "code_interpreter", "container": self.container}]})
        self.response = self.respond()["id"]
        self.conversation = self.post("/v1/conversations", {})["id"]

    def make(self):
        made = self.post("/v1/containers", {"name": "x"})["id"]
        self.wait_running(made)
        return made

    def wait_running(self, container):
        wait_until(lambda: self.watch(container)["state"] == "running", PATIENCE, "the container")

    def respond(self):
        return self.post("/v1/responses", {
            "model": "m", "input": "```python\ncount\n```",
            "tools": [{"type": "code_interpreter", "container": self.container}]})

    # ------------------------------------------------------------- requests

    def ask(self, method, path, body=None, headers=None, expect=(200,), admin=False):
        headers = dict(headers or {})
        if isinstance(body, dict):
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        if not admin:
            headers["Authorization"] = f"Bearer {self.key}"
        with contextlib.closing(self.host.connection(admin, PATIENCE)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            if not expect or self.key != self.mine:
                return None     # whatever it is, perhaps without an end
            data = answer.read()
        assert answer.status in expect, f"{method} {path}: {answer.status} {data[:500]}"
        return json.loads(data) if answer.headers.get("Content-Type", "").startswith("application/json") else data

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body, headers=None, expect=200):
        return self.ask("POST", path, body, headers, (expect, 201))

    def upload(self, path, name="a.txt"):
        form = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\na\r\n--x--\r\n'
        return self.post(path, form, {"Content-Type": "multipart/form-data; boundary=x"})

    def delete(self, path):
        return self.ask("DELETE", path, expect=(200, 204))

    def admin(self, method, path, body=None):
        return self.ask(method, path, body, expect=(200, 201, 202), admin=True)

    def call_tool(self, path, **arguments):
        said = self.post(path, mcp("code_interpreter", code="count", **arguments))
        assert said is None or not said["result"].get("isError"), said

    # ------------------------------------------------------------- watching

    def watch(self, container):
        """The operator's view, which must not be activity itself."""
        mine, self.key = self.key, self.mine
        try:
            return self.admin("GET", f"/admin/v1/sessions/{container}")
        finally:
            self.key = mine

    def advance(self):
        mine, self.key = self.key, self.mine
        self.admin("POST", "/admin/v1/clock", {"advance_s": STEP_SECONDS})
        self.key = mine

    def active(self, *containers):
        """When they were last, and they still live."""
        views = [self.watch(container) for container in containers]
        assert all(view["state"] == "running" for view in views), views
        return [view["last_active_at"] for view in views]

    def moves(self, container, how):
        """Whether a request is activity of that container."""
        before = self.active(container)
        self.advance()
        how(self)
        return self.active(container) != before

    def moves_neither(self, how):
        before = self.active(self.container, self.session)
        self.advance()
        how(self)
        return self.active(self.container, self.session) == before

    @contextlib.contextmanager
    def stranger(self):
        self.key = self.strangers
        try:
            yield
        finally:
            self.key = self.mine


# What is activity, of the container or, below /pools, of the dynamic session.
ACTIVITY = {
    "GET /v1/containers/{}": lambda b: b.get(b.at),
    "GET /v1/containers/{}/files": lambda b: b.get(f"{b.at}/files"),
    "POST /v1/containers/{}/files": lambda b: b.upload(f"{b.at}/files"),
    "GET /v1/containers/{}/files/{}": lambda b: b.get(f"{b.at}/files/{b.file}"),
    "DELETE /v1/containers/{}/files/{}": lambda b: b.delete(f"{b.at}/files/{b.doomed}"),
    "GET /v1/containers/{}/files/{}/content": lambda b: b.get(f"{b.at}/files/{b.file}/content"),
    "GET /v1/containers/{}/files.zip": lambda b: b.get(f"{b.at}/files.zip"),
    "POST /v1/containers/{}/exec": lambda b: b.post(f"{b.at}/exec", code()),
    "GET /v1/containers/{}/executions/{}": lambda b: b.get(f"{b.at}/executions/{b.run}"),
    "GET /v1/containers/{}/executions/{}/events": lambda b: b.get(f"{b.at}/executions/{b.run}/events"),
    "POST /v1/containers/{}/executions/{}/interrupt":
        lambda b: b.post(f"{b.at}/executions/{b.run}/interrupt", None, expect=202),
    "POST /v1/responses": Bench.respond,
    "POST /mcp": lambda b: b.call_tool("/mcp", container_id=b.container),
    "POST /api/projects/{}/toolboxes/{}/mcp": lambda b: b.call_tool(f"{TOOLBOX}/mcp?api-version=v1"),
    "POST /api/projects/{}/toolsets/{}/mcp": lambda b: b.call_tool("/api/projects/p/toolsets/t/mcp?api-version=v1"),
    "POST /api/projects/{}/toolboxes/{}:invoke_mcp": lambda b: b.call_tool(f"{TOOLBOX}:invoke_mcp?api-version=v1"),
    "POST /api/projects/{}/toolboxes/{}/versions/{}/mcp":
        lambda b: b.call_tool(f"{TOOLBOX}/versions/1/mcp?api-version=v1"),
    "POST /pools/{}/mcp": lambda b: b.call_tool(f"{SESSIONS}/mcp", container_id=b.session),
    "POST /pools/{}/code/execute": lambda b: b.post(f"{SESSIONS}/code/execute?{OLD}", {"properties": {
        "codeInputType": "inline", "executionType": "synchronous", **code()}}),
    "POST /pools/{}/identifier/{}/code/execute": lambda b: b.post(
        f"{SESSIONS}/identifier/s/code/execute?{OLD}", {"properties": {
            "codeInputType": "inline", "executionType": "synchronous", **code()}}),
    "POST /pools/{}/files/upload": lambda b: b.upload(f"{SESSIONS}/files/upload?{OLD}"),
    "POST /pools/{}/files/{}:uploadFile": lambda b: b.upload(f"{SESSIONS}/files/a.txt:uploadFile?{OLD}"),
    "GET /pools/{}/files/content/{}": lambda b: b.get(f"{SESSIONS}/files/content/a.txt?{OLD}"),
    "POST /pools/{}/executions": lambda b: b.post(f"{SESSIONS}/executions?{NEW}", code()),
    "GET /pools/{}/executions/{}": lambda b: b.get(f"{SESSIONS}/executions/{b.old_run}?{NEW}"),
    "POST /pools/{}/files": lambda b: b.upload(f"{SESSIONS}/files?{NEW}"),
    "GET /pools/{}/files/{}/content": lambda b: b.get(f"{SESSIONS}/files/a.txt/content?{NEW}"),
    "GET /pools/{}/files": lambda b: b.get(f"{SESSIONS}/files?{NEW}"),
    "GET /pools/{}/files/{}": lambda b: b.get(f"{SESSIONS}/files/a.txt?{NEW}"),
    "DELETE /pools/{}/files/{}": lambda b: b.delete(f"{SESSIONS}/files/doomed.txt?{NEW}"),
    "GET /pools/{}/session": lambda b: b.get(f"{SESSIONS}/session?{NEW}"),
}

# What ends a session instead: it is called for one that was made for that.
ENDS = {
    "DELETE /v1/containers/{}": lambda b, made: b.delete(f"/v1/containers/{made}"),
    "DELETE /admin/v1/sessions/{}": lambda b, made: b.admin("DELETE", f"/admin/v1/sessions/{made}"),
    "DELETE /pools/{}/session": lambda b, _: b.delete(f"{SESSIONS}/session?{NEW}"),
    "POST /pools/{}/.management/stopSession":
        lambda b, _: b.post(f"{SESSIONS}/.management/stopSession?{NEW}", None),
}

# What is no activity, though it succeeds and is about a container of ours.
QUIET = {
    "GET /v1/containers": lambda b: b.get("/v1/containers"),
    "POST /v1/containers": lambda b: b.post("/v1/containers", {"name": "another"}),
    "GET /pools/{}/listSessions": lambda b: b.get(f"{SESSIONS}/listSessions?{NEW}"),
    "GET /pools/{}/metadata": lambda b: b.get(f"{SESSIONS}/metadata?{NEW}"),
    "GET /v1/responses/{}": lambda b: b.get(f"/v1/responses/{b.response}"),
    "GET /v1/responses/{}/input_items": lambda b: b.get(f"/v1/responses/{b.response}/input_items"),
    "GET /v1/conversations/{}": lambda b: b.get(f"/v1/conversations/{b.conversation}"),
    "GET /v1/conversations/{}/items": lambda b: b.get(f"/v1/conversations/{b.conversation}/items"),
    "GET /metrics": lambda b: b.ask("GET", "/metrics", admin=True),
    "GET /healthz": lambda b: b.get("/healthz"),
    "GET /readyz": lambda b: b.get("/readyz"),
    "GET /api/projects/{}/toolboxes/{}": lambda b: b.get(f"{TOOLBOX}?api-version=v1"),
    "GET /admin/v1/sessions": lambda b: b.admin("GET", "/admin/v1/sessions"),
    "GET /admin/v1/sessions/{}": lambda b: b.admin("GET", f"/admin/v1/sessions/{b.container}"),
    "GET /admin/v1/sessions/{}/console": lambda b: b.admin("GET", f"/admin/v1/sessions/{b.container}/console"),
    "GET /admin/v1/top": lambda b: b.admin("GET", "/admin/v1/top"),
    "GET /admin/v1/status": lambda b: b.admin("GET", "/admin/v1/status"),
    "GET /admin/v1/audit": lambda b: b.admin("GET", "/admin/v1/audit"),
    "POST /admin/v1/audit": lambda b: b.admin("POST", "/admin/v1/audit"),
    "GET /admin/v1/usage": lambda b: b.admin("GET", "/admin/v1/usage"),
    "GET /admin/v1/artifacts": lambda b: b.admin("GET", f"/admin/v1/artifacts?container={b.container}"),
    "GET /admin/v1/artifacts/{}/content": lambda b: b.admin("GET", f"/admin/v1/artifacts/{b.file}/content"),
    "DELETE /admin/v1/artifacts/{}": lambda b: b.admin("DELETE", f"/admin/v1/artifacts/{b.file}"),
    "POST /admin/v1/clock": Bench.advance,
}

# What cannot name a container at all, or only changes what others may do: asked with
# one's id wherever something is to be named, and whatever comes of it.
ELSEWHERE = """
GET /v1/files
POST /v1/files
GET /v1/files/{}
DELETE /v1/files/{}
GET /v1/files/{}/content
POST /v1/uploads
POST /v1/uploads/{}/parts
POST /v1/uploads/{}/complete
POST /v1/uploads/{}/cancel
POST /v1/conversations
POST /v1/conversations/{}
DELETE /v1/conversations/{}
POST /v1/conversations/{}/items
GET /v1/conversations/{}/items/{}
DELETE /v1/conversations/{}/items/{}
DELETE /v1/responses/{}
POST /v1/responses/{}/cancel
GET /v1/models
GET /v1/models/{*}
GET /api/projects/{}/toolboxes
PATCH /api/projects/{}/toolboxes/{}
DELETE /api/projects/{}/toolboxes/{}
POST /api/projects/{}/toolboxes/{}/versions
GET /api/projects/{}/toolboxes/{}/versions
GET /api/projects/{}/toolboxes/{}/versions/{}
DELETE /api/projects/{}/toolboxes/{}/versions/{}
GET /api/projects/{}/agents
POST /api/projects/{}/agents
GET /api/projects/{}/agents/{}
POST /api/projects/{}/agents/{}
PATCH /api/projects/{}/agents/{}
DELETE /api/projects/{}/agents/{}
POST /api/projects/{}/agents/{}:enable
POST /api/projects/{}/agents/{}:disable
GET /api/projects/{}/agents/{}/versions
POST /api/projects/{}/agents/{}/versions
GET /api/projects/{}/agents/{}/versions/{}
DELETE /api/projects/{}/agents/{}/versions/{}
DELETE /mcp
DELETE /pools/{}/mcp
DELETE /api/projects/{}/toolboxes/{}/mcp
DELETE /api/projects/{}/toolsets/{}/mcp
DELETE /api/projects/{}/toolboxes/{}:invoke_mcp
DELETE /api/projects/{}/toolboxes/{}/versions/{}/mcp
POST /admin/v1/sessions/{}/nmi
GET /admin/v1/keys
POST /admin/v1/keys
DELETE /admin/v1/keys/{}
GET /admin/v1/tenants
POST /admin/v1/tenants
GET /admin/v1/tenants/{}
POST /admin/v1/tenants/{}
DELETE /admin/v1/tenants/{}
GET /admin/v1/doctor
GET /admin/v1/images
GET /admin/v1/models
GET /admin/v1/pools
POST /admin/v1/pools/{}
POST /admin/v1/probe
POST /admin/v1/models/test
GET /admin/v1/drain
POST /admin/v1/drain
DELETE /admin/v1/drain
GET /admin/v1/events
GET /admin/v1/backup
""".split("\n")[1:-1]


def routes():
    said = subprocess.run([BUILD / "tests" / "unit" / "api_routes"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()


@contextlib.contextmanager
def bench():
    with Model() as model, serving({"test.clock": "yes", "test.minute_seconds": "60", "model.url": model.url,
                                    "model.name": "m"}) as host:
        yield Bench(host)


def watched(b, route):
    return b.session if "/pools/" in route else b.container


def ask_elsewhere(route):
    """Asked about the container's id; of the operator, over the operator's socket."""
    method, path = route.split(" ")
    path = path.replace("/pools/{}", SESSIONS).replace("/projects/{}", "/projects/p")

    def ask(b):
        b.ask(method, path.replace("{}", b.container), {} if method != "GET" else None, expect=(),
              admin=path.startswith("/admin/"))
    return ask


def every_route_has_a_line():
    lines = [*ACTIVITY, *ENDS, *QUIET, *ELSEWHERE]
    assert len(lines) == len(set(lines)), "a route has two lines"
    there = set(routes())
    assert there - set(lines) == set(), f"without a line: {sorted(there - set(lines))}"
    assert set(lines) - there == set(), f"no such route: {sorted(set(lines) - there)}"


def what_is_activity_counts_for_the_owner_only():
    with bench() as b:
        for route, how in ACTIVITY.items():
            container = watched(b, route)
            assert b.moves(container, how), f"{route} does not count"
            with b.stranger():
                assert not b.moves(container, how), f"{route} counts when a stranger asks"


def what_is_no_activity_does_not_count():
    with bench() as b:
        for route, how in QUIET.items():
            assert b.moves_neither(how), f"{route} counts"
        for route in ELSEWHERE:
            assert b.moves_neither(ask_elsewhere(route)), f"{route} counts"


def what_ends_a_session_is_no_activity_either():
    with bench() as b:
        for route, how in ENDS.items():
            if "/pools/" in route:
                b.post(f"{SESSIONS}/executions?{NEW}", code())
                made = b.get(f"{SESSIONS}/session?{NEW}")["sessionId"]
            else:
                made = b.make()
            before = b.watch(made)
            b.advance()
            how(b, made)
            after = b.watch(made)
            assert after["state"] != "running", f"{route}: {after}"
            assert after["last_active_at"] == before["last_active_at"], f"{route} counts"


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run([every_route_has_a_line,
                      what_is_activity_counts_for_the_owner_only,
                      what_is_no_activity_does_not_count,
                      what_ends_a_session_is_no_activity_either], with_user))
