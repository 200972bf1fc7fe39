#!/usr/bin/python3
"""Whether doc/openapi.yaml says what cupolad does, as TAP.

Its schemas are valid; it has every route of the table and no other; and what a
running daemon answers, in good and bad cases, is as described. Processes stand
for VMs. That it is OpenAPI as a whole is checked by clients/description.mjs.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("abs_top_builddir", os.environ.get("CUPOLA_BUILD", "build"))).resolve()
os.environ.setdefault("CUPOLA_BUILD", str(BUILD))
sys.path.insert(0, str(TOP / "tests" / "chaos"))

import tap  # noqa: E402
from host import serving, wait_until  # noqa: E402

METHODS = ("get", "put", "post", "delete", "patch")
PATIENCE = 60


def need(name):
    try:
        return __import__(name)
    except ImportError:
        raise tap.Skip(f"Python's module {name} is missing") from None


def description():
    return need("yaml").safe_load((TOP / "doc" / "openapi.yaml").read_text())


def resolve(document, node):
    while "$ref" in node:
        target = document
        for word in node["$ref"].removeprefix("#/").split("/"):
            target = target[word.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def expand(document, node):
    """The same without references: jsonschema trips over properties called $id."""
    if isinstance(node, list):
        return [expand(document, value) for value in node]
    if not isinstance(node, dict):
        return node
    return {key: expand(document, value) for key, value in resolve(document, node).items()}


def operations(document):
    """(METHOD, path, operation, parameters) of each."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                parameters = item.get("parameters", []) + operation.get("parameters", [])
                yield method.upper(), path, operation, [resolve(document, p) for p in parameters]


def schemas(node, key=None):
    """Every schema below a node that is not inside of another."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "schema" or key == "schemas":
                yield value
            else:
                yield from schemas(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from schemas(value)


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


# ------------------------------------------------------------------ by itself


def the_description_is_valid():
    document = description()
    validator = need("jsonschema").Draft202012Validator
    for schema in schemas(document):
        validator.check_schema(schema)
    for node in references(document):
        resolve(document, node)
    names = [operation["operationId"] for _, _, operation, _ in operations(document)]
    assert len(set(names)) == len(names), "an operationId is there twice"
    tags = {tag["name"] for tag in document["tags"]}
    for method, path, operation, parameters in operations(document):
        where = f"{method} {path}"
        assert set(operation["tags"]) <= tags, where
        assert operation["summary"] and operation["responses"], where
        in_path = {p["name"] for p in parameters if p["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), where


def every_route_is_described_and_no_other():
    program = BUILD / "tests" / "unit" / "api_routes"
    printed = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
    routes = set(printed.replace("{*}", "{}").splitlines())
    described = {f"{method} {re.sub(r'{[^}]*}', '{}', path)}"
                 for method, path, _, _ in operations(description())}
    assert not routes - described, f"not described: {sorted(routes - described)}"
    assert not described - routes, f"no such route: {sorted(described - routes)}"


# ------------------------------------------------------------- what is answered


class Checked:
    """Calls a daemon, and compares each answer with the description."""

    def __init__(self, host):
        self.host = host
        self.document = description()
        self.jsonschema = need("jsonschema")
        self.key = (host.dir / "api-key").read_text().strip()
        self.seen = set()
        self.templates = []
        for method, path, operation, _ in operations(self.document):
            pattern = "".join("[^/]+" if part.startswith("{") else re.escape(part)
                              for part in re.split(r"(\{\w+\})", path))
            self.templates.append((path.count("{"), method, re.compile(pattern), path, operation))
        # A name that is written out comes before one that stands for any.
        self.templates.sort(key=lambda template: (template[0], -len(template[3])))

    def operation(self, method, path):
        for _, verb, pattern, template, operation in self.templates:
            if verb == method and pattern.fullmatch(path):
                return template, operation
        raise AssertionError(f"{method} {path} is not described")

    def check(self, method, path, status, kind, body):
        template, operation = self.operation(method, path.split("?")[0])
        where = f"{method} {path}: {status}"
        answers = operation["responses"]
        assert str(status) in answers or (status >= 400 and "default" in answers), f"{where} is not described"
        answer = resolve(self.document, answers.get(str(status), answers.get("default")))
        self.seen.add((method, template))
        if "content" not in answer:
            assert not body, f"{where} has a body"
            return None
        kinds = answer["content"]
        kind = kind.split(";")[0]
        assert kind in kinds or "*/*" in kinds, f"{where}: type {kind} is not described"
        if kind not in kinds or kind != "application/json":
            return body
        value = json.loads(body)
        schema = expand(self.document, kinds[kind]["schema"])
        for error in self.jsonschema.Draft202012Validator(schema).iter_errors(value):
            raise AssertionError(f"{where}: {error.json_path}: {error.message}\n{json.dumps(value, indent=1)}")
        return value

    def call(self, method, path, body=None, headers=None, expect=200):
        """The answer's value; below /admin it is the operator's call. None expects anything."""
        headers = dict(headers or {})
        admin = path.startswith("/admin/")
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if not admin:
            headers.setdefault("api-key", self.key)
        connection = self.host.connection(admin, PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        assert expect in (answer.status, None), f"{method} {path}: {answer.status}, not {expect}: {data[:500]}"
        return self.check(method, path, answer.status, answer.headers.get("Content-Type", ""), data)

    def form(self, path, name, data, fields=(), expect=200, part="file"):
        text = b"".join(f'--x\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields)
        text += f'--x\r\nContent-Disposition: form-data; name="{part}"; filename="{name}"\r\n\r\n'.encode()
        return self.call("POST", path, text + data + b"\r\n--x--\r\n",
                         {"Content-Type": "multipart/form-data; boundary=x"}, expect)


@contextlib.contextmanager
def daemon(settings=None):
    with serving({"test.clock": "yes", "model.url": "http://127.0.0.1:9/v1", "model.name": "m:7b",
                  "model.retries": "0", "model.slash.url": "http://127.0.0.1:9/v1", "model.slash.name": "maker/m",
                  **(settings or {})}) as host:
        yield Checked(host)


def try_files(c):
    purpose = [("purpose", "user_data"), ("expires_after[anchor]", "created_at"), ("expires_after[seconds]", 3600)]
    file = c.form("/v1/files", "a.csv", b"1,2\n", purpose)["id"]
    c.form("/v1/files", "a.csv", b"1,2\n", [("purpose", "none")], 400)
    c.call("GET", "/v1/files")
    c.call("GET", "/v1/files?limit=0", expect=400)
    c.call("GET", f"/v1/files/{file}")
    assert c.call("GET", f"/v1/files/{file}/content") == b"1,2\n"
    c.call("GET", f"/v1/files/{file}/content", headers={"Range": "bytes=1-1"}, expect=206)
    c.call("GET", f"/v1/files/{file}/content", headers={"Range": "bytes=9-"}, expect=416)
    c.call("GET", "/v1/files", headers={"api-key": "no"}, expect=401)
    c.call("DELETE", f"/v1/files/{file}")
    c.call("DELETE", f"/v1/files/{file}", expect=404)
    c.call("GET", f"/v1/files/{file}/content", expect=404)


def try_uploads(c):
    wanted = {"filename": "a", "purpose": "batch", "bytes": 2, "mime_type": "text/plain"}
    upload = c.call("POST", "/v1/uploads", wanted)["id"]
    part = c.form(f"/v1/uploads/{upload}/parts", "blob", b"ab", part="data")["id"]
    c.call("POST", f"/v1/uploads/{upload}/complete", {"part_ids": ["part_no"]}, expect=400)
    c.call("POST", f"/v1/uploads/{upload}/complete", {"part_ids": [part]})
    other = c.call("POST", "/v1/uploads", wanted)["id"]
    c.call("POST", f"/v1/uploads/{other}/cancel")
    c.form(f"/v1/uploads/{other}/parts", "blob", b"ab", part="data", expect=400)
    c.call("POST", "/v1/uploads/upload_no/cancel", expect=404)


def try_containers(c):
    container = c.call("POST", "/v1/containers", {"name": "x", "memory_limit": "1g", "skills": [], "more": 1})["id"]
    at = f"/v1/containers/{container}"
    c.call("POST", "/v1/containers", {}, expect=400)
    c.call("POST", "/v1/containers", {"name": "x", "memory_limit": "64g"}, expect=400)
    c.call("POST", "/v1/containers", {"name": "x", "network_policy": {"type": "allowlist"}}, expect=400)
    c.call("POST", "/v1/containers", "{", {"Content-Type": "application/json"}, expect=400)
    c.call("POST", "/v1/containers", "x", {"Content-Type": "text/plain"}, expect=415)
    c.call("GET", "/v1/containers")
    wait_until(lambda: c.call("GET", at)["session"]["state"] == "running", PATIENCE, "the container")
    file = c.form(f"{at}/files", "a b.txt", b"hello")["id"]
    c.call("POST", f"{at}/files", {"file_id": "file-no"}, expect=404)
    c.call("GET", f"{at}/files")
    c.call("GET", f"{at}/files?path=a%20b.txt")
    c.call("GET", f"{at}/files/{file}")
    c.call("GET", f"{at}/files/{file}/content")
    c.call("GET", f"{at}/files.zip")
    try_executions(c, at)
    c.call("DELETE", f"{at}/files/{file}")
    c.call("GET", f"{at}/files/{file}", expect=404)
    c.call("DELETE", at)
    c.call("GET", at, expect=404)


def try_executions(c, at):
    done = c.call("POST", f"{at}/exec", {"code": "count"})["id"]
    c.call("POST", f"{at}/exec", {"code": "count", "stream": True})
    c.call("POST", f"{at}/exec", {"code": "count", "unknown": 1}, expect=400)
    later = c.call("POST", f"{at}/exec", {"code": "count", "background": True}, expect=202)["id"]
    c.call("GET", f"{at}/executions/{later}")
    c.call("GET", f"{at}/executions/{done}")
    c.call("GET", f"{at}/executions/{done}/events")
    c.call("POST", f"{at}/executions/{done}/interrupt", expect=None)
    c.call("POST", f"{at}/executions/exec_no/interrupt", expect=404)
    c.call("GET", f"{at}/executions/exec_no", expect=404)
    wait_until(lambda: c.call("GET", f"{at}/executions/{later}")["status"] == "ok", PATIENCE, "the execution")


def try_conversations(c):
    said = [
        {"role": "user", "content": [
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "https://example.org/a.png"},
            {"type": "input_file", "filename": "a", "file_data": "data:text/plain;base64,YQ=="}]},
        {"role": "assistant", "content": "b"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "d"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "e"}], "encrypted_content": "f"},
        {"type": "code_interpreter_call", "container_id": "cntr_1", "code": "1",
         "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "data:,"}]}]
    at = "/v1/conversations"
    conversation = c.call("POST", at, {"metadata": {"a": "b"}, "items": said[:2]})["id"]
    c.call("POST", at)
    c.call("POST", at, {"items": [{"type": "none"}]}, expect=400)
    at += f"/{conversation}"
    c.call("GET", at)
    c.call("POST", at, {"metadata": {}})
    c.call("POST", at, {}, expect=400)
    made = c.call("POST", f"{at}/items", {"items": said[2:]})["data"]
    everything = "include[]=code_interpreter_call.outputs&include[]=message.input_image.image_url"
    assert len(c.call("GET", f"{at}/items?{everything}")["data"]) == len(said)
    assert made[-1]["outputs"] is None
    assert c.call("GET", f"{at}/items/{made[-1]['id']}?{everything}")["outputs"]
    c.call("POST", f"{at}/items", {"items": [{"id": made[0]["id"]}]}, expect=400)
    c.call("POST", "/v1/conversations", {"items": [{"id": made[0]["id"]}, {"id": made[-1]["id"]}]})
    c.call("GET", f"{at}/items?limit=0", expect=400)
    c.call("DELETE", f"{at}/items/{made[0]['id']}")
    c.call("GET", f"{at}/items/{made[0]['id']}", expect=404)
    c.call("DELETE", at)
    c.call("GET", at, expect=404)


def try_responses(c):
    # The model cannot be reached: so it is the upstream's failure that is told.
    at, asked = "/v1/responses", {"model": "m:7b", "input": "a", "tools": [{"type": "code_interpreter"}]}
    c.call("POST", at, {**asked, "model": None}, expect=400)
    c.call("POST", at, {**asked, "model": "none"}, expect=404)
    c.call("POST", at, {**asked, "tools": [{"type": "none"}]}, expect=400)
    c.call("POST", at, {**asked, "conversation": "conv_no"}, expect=404)
    c.call("POST", at, asked, expect=502)
    made = c.call("POST", at, {**asked, "background": True, "metadata": {"a": "b"}})["id"]
    at += f"/{made}"
    wait_until(lambda: c.call("GET", at)["status"] == "failed", PATIENCE, "the model's failure")
    c.call("GET", f"{at}?include[]=code_interpreter_call.outputs")
    c.call("GET", f"{at}?include[]=none", expect=400)
    c.call("GET", f"{at}?stream=true", expect=400)
    assert len(c.call("GET", f"{at}/input_items")["data"]) == 1
    c.call("GET", f"{at}/input_items?limit=0", expect=400)
    c.call("POST", f"{at}/cancel")
    c.call("POST", "/v1/responses/resp_no/cancel", expect=404)
    c.call("DELETE", at)
    c.call("GET", at, expect=404)
    c.call("DELETE", at, expect=404)


def try_sessions(c):
    old, new = "api-version=2024-02-02-preview&identifier=a", "api-version=2025-02-02-preview&identifier=a"
    at = "/pools/default"
    run = {"codeInputType": "inline", "executionType": "synchronous", "code": "count"}
    c.call("POST", f"{at}/code/execute?{old}", {"properties": run})
    c.call("POST", f"{at}/identifier/a/code/execute?{old.split('&')[0]}", {"properties": run})
    c.call("POST", f"{at}/executions?{new}", run)
    c.call("POST", f"{at}/executions?{new}", {**run, "code": 1}, expect=400)
    later = c.call("POST", f"{at}/executions?{new}", {**run, "executionType": "Asynchronous"}, expect=202)["id"]
    c.call("GET", f"{at}/executions/nothing?{new}", expect=404)
    wait_until(lambda: c.call("GET", f"{at}/executions/{later}?{new}")["status"] == "Succeeded", PATIENCE, "it")
    c.form(f"{at}/files/upload?{old}", "a.txt", b"hello")
    c.form(f"{at}/files?{new}", "b.txt", b"hello")
    c.form(f"{at}/files/c.txt:uploadFile?{old}", "c.txt", b"hello")
    for family in (old, new):
        c.call("GET", f"{at}/files?{family}")
        c.call("GET", f"{at}/files/a.txt?{family}")
        c.call("GET", f"{at}/files/none?{family}", expect=404)
    c.call("GET", f"{at}/files/content/a.txt?{old}")
    c.call("GET", f"{at}/files/a.txt/content?{new}")
    c.call("DELETE", f"{at}/files/a.txt?{new}", expect=204)
    c.call("GET", f"{at}/session?{new}")
    c.call("GET", f"{at}/session", expect=400)
    assert c.call("GET", f"{at}/metadata?{new}")["runtimes"] == [{"name": "python", "version": "3.13.5-1"}]
    c.call("GET", f"{at}/listSessions?{new}")
    c.call("DELETE", f"{at}/session?{new}", expect=204)
    c.call("GET", f"{at}/session?{new}", expect=404)
    c.call("POST", f"{at}/code/execute?{old}", {"properties": run})
    c.call("POST", f"{at}/.management/stopSession?{old}")


def try_toolboxes(c):
    at, query = "/api/projects/p/toolboxes", "?api-version=v1"
    entry = {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}], "metadata": {"a": "b"}}
    c.call("POST", f"{at}/box/versions{query}", entry)
    c.call("POST", f"{at}/box/versions{query}", {**entry, "description": "x", "policies": {"timeout_s": 9}})
    c.call("POST", f"{at}/box/versions{query}", {"tools": [{"type": "mcp"}]}, expect=400)
    c.call("GET", f"{at}{query}")
    c.call("GET", f"{at}/box{query}")
    c.call("GET", f"{at}/box", expect=400)
    c.call("GET", f"{at}/box/versions{query}&limit=1")
    c.call("GET", f"{at}/box/versions/1{query}")
    c.call("PATCH", f"{at}/box{query}", {"default_version": "2"})
    c.call("DELETE", f"{at}/box/versions/2{query}", expect=400)
    c.call("DELETE", f"{at}/box/versions/1{query}", expect=204)
    for path in (f"{at}/box/mcp", "/api/projects/p/toolsets/box/mcp", f"{at}/box:invoke_mcp", f"{at}/box/versions/2/mcp"):
        try_mcp(c, path + query)
    c.call("DELETE", f"{at}/box{query}", expect=204)
    c.call("GET", f"{at}/box{query}", expect=404)


def try_agents(c):
    at, query = "/api/projects/p/agents", "?api-version=v1"
    definition = {"kind": "prompt", "model": "m", "instructions": "hi {{x}}", "skills": [],
                  "tools": [{"type": "code_interpreter"}], "structured_inputs": {"x": {"default_value": 1}}}
    spec = {"definition": definition, "metadata": {"a": "b"}}
    c.call("POST", f"{at}{query}", {**spec, "name": "a"})
    c.call("POST", f"{at}{query}", {**spec, "name": "a"}, expect=409)
    c.call("POST", f"{at}{query}", {**spec, "name": "-a"}, expect=400)
    c.call("POST", f"{at}/a{query}", {"definition": {"kind": "prompt", "model": "n"}})
    c.call("POST", f"{at}/none{query}", spec, expect=404)
    c.call("POST", f"{at}/a/versions{query}", {**spec, "description": "d", "draft": True})
    c.call("POST", f"{at}/a/versions{query}", {"definition": {"kind": "hosted"}}, expect=400)
    c.call("GET", f"{at}{query}&kind=prompt")
    c.call("GET", f"{at}{query}&kind=hosted")
    c.call("GET", f"{at}/a{query}")
    c.call("GET", f"{at}/a/versions{query}&include_drafts=true&limit=1")
    c.call("GET", f"{at}/a/versions/3{query}")
    c.call("GET", f"{at}/a/versions/9{query}", expect=404)
    patch = {"Content-Type": "application/merge-patch+json"}
    c.call("PATCH", f"{at}/a{query}", {"agent_card": {"version": "1", "skills": []}}, patch)
    c.call("PATCH", f"{at}/a{query}", {"agent_card": None}, patch)
    c.call("POST", f"{at}/a:disable{query}", expect=204)
    c.call("GET", f"{at}/a{query}")
    c.call("POST", f"{at}/a:enable{query}", expect=204)
    c.call("DELETE", f"{at}/a/versions/2{query}")
    c.call("DELETE", f"{at}/a{query}&force=true")
    c.call("DELETE", f"{at}/a{query}", expect=404)


def try_mcp(c, path):
    def message(method, **params):
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    c.call("POST", path, message("initialize", protocolVersion="2025-11-25"))
    c.call("POST", path, {"jsonrpc": "2.0", "method": "notifications/initialized"}, expect=202)
    c.call("POST", path, message("tools/list"))
    c.call("POST", path, message("tools/call", name="code_interpreter", arguments={"code": "count"}))
    c.call("POST", path, message("tools/call", name="nothing"))
    c.call("POST", path, message("nothing"))
    c.call("POST", path, [], expect=400)
    c.call("POST", path, "{", {"Content-Type": "application/json"}, expect=400)
    c.call("POST", path, message("ping"), {"Origin": "http://other.example"}, expect=403)
    c.call("POST", path, message("ping"), {"Mcp-Session-Id": "no"}, expect=404)
    c.call("DELETE", path, expect=400)


def try_places(c):
    try_mcp(c, "/mcp")
    try_mcp(c, "/pools/default/mcp")


def try_operation(c):
    assert [m["id"] for m in c.call("GET", "/v1/models")["data"]] == ["m:7b", "maker/m"]
    c.call("GET", "/v1/models/m:7b")
    assert c.call("GET", "/v1/models/maker%2Fm")["id"] == "maker/m"
    c.call("GET", "/v1/models/none", expect=404)
    c.call("GET", "/healthz")
    wait_until(lambda: c.call("GET", "/readyz")["status"] == "ready", PATIENCE, "readiness")
    c.call("GET", "/metrics")


def try_admin(c):
    session = c.call("POST", "/v1/containers", {"name": "x"})["id"]
    c.call("GET", "/admin/v1/sessions")
    c.call("GET", "/admin/v1/sessions?all=true")
    c.call("GET", f"/admin/v1/sessions/{session}")
    c.call("GET", "/admin/v1/sessions/cntr_no", expect=404)
    c.call("GET", "/admin/v1/top")
    status = c.call("GET", "/admin/v1/status")
    assert c.call("GET", "/admin/v1/pools")["pools"][0]["name"] == "default"
    pool = c.call("POST", "/admin/v1/pools/default", {"ready": 2})
    assert pool["ready_target"] == 2, pool
    c.call("POST", "/admin/v1/pools/default", {"ready": 257}, expect=400)
    c.call("POST", "/admin/v1/pools/none", {"ready": 2}, expect=404)
    pool = c.call("POST", "/admin/v1/pools/default", {"ready": None})
    assert pool["ready_target"] == pool["ready_setting"], pool
    image = c.call("GET", "/admin/v1/images")["images"][0]
    assert image == {"image": status["pools"][0]["image"], "pools": [p["name"] for p in status["pools"]]}
    assert c.call("GET", "/admin/v1/doctor")["hypervisor"] == status["hypervisor"]
    c.call("GET", "/admin/v1/audit")
    c.call("POST", "/admin/v1/audit")
    c.call("POST", "/admin/v1/probe", {"accelerator": "none"}, expect=400)
    assert "text" in c.call("GET", f"/admin/v1/sessions/{session}/console")
    c.call("DELETE", f"/admin/v1/sessions/{session}")
    # What stands for a VM may end by it, so nobody needs this one any more.
    c.call("POST", f"/admin/v1/sessions/{session}/nmi", expect=None)
    c.call("POST", "/admin/v1/tenants", {"id": "t", "max_sessions": 2})
    c.call("POST", "/admin/v1/tenants/t", {"max_sessions": 3})
    c.call("POST", "/admin/v1/tenants/t", {"more": 3}, expect=400)
    c.call("GET", "/admin/v1/tenants/t")
    c.call("GET", "/admin/v1/tenants")
    key = c.call("POST", "/admin/v1/keys", {"tenant": "t", "scopes": ["files"], "expires_after_s": 60})
    c.call("GET", "/v1/containers", headers={"api-key": key["key"]}, expect=403)
    c.call("GET", "/admin/v1/keys?tenant=t")
    c.call("DELETE", f"/admin/v1/keys/{key['id']}")
    c.call("DELETE", "/admin/v1/tenants/t")
    c.call("GET", "/admin/v1/usage")
    c.call("GET", "/admin/v1/artifacts")
    c.call("GET", "/admin/v1/artifacts/cfile_no/content", expect=404)
    c.call("DELETE", "/admin/v1/artifacts/cfile_no", expect=404)
    c.call("POST", "/admin/v1/drain", {"deadline_s": 60})
    c.call("POST", "/admin/v1/drain", {"deadline": 60}, expect=400)
    c.call("GET", "/admin/v1/drain")
    assert c.call("GET", "/admin/v1/models")["models"][0]["id"] == "m:7b"
    assert not c.call("POST", "/admin/v1/models/test", {"model": "m:7b"})["ok"]
    c.call("POST", "/admin/v1/models/test", {"model": "none"}, expect=404)
    c.call("POST", "/admin/v1/models/test", {}, expect=400)
    c.call("DELETE", "/admin/v1/drain")
    c.call("GET", "/admin/v1/events?after=x", expect=400)
    c.call("GET", "/admin/v1/backup")
    c.call("POST", "/admin/v1/clock", {"advance_s": 1})
    c.call("POST", "/admin/v1/clock", {}, expect=400)


def what_is_answered_is_as_described():
    tap.need_user()
    with daemon() as c:
        for group in (try_operation, try_files, try_uploads, try_containers, try_responses, try_conversations,
                      try_sessions,
                      try_toolboxes, try_agents, try_places, try_admin):
            group(c)
        all_of_them = {(method, path) for method, path, _, _ in operations(c.document)}
        print(f"# {len(c.seen)} of {len(all_of_them)} operations were tried")
        for method, path in sorted(all_of_them - c.seen):
            print(f"# not tried: {method} {path}")


TESTS = [the_description_is_valid,
         every_route_is_described_and_no_other,
         what_is_answered_is_as_described]


if __name__ == "__main__":
    sys.exit(tap.run(TESTS))
