"""doc/troubleshooting.md says what Cupola says, letter by letter.

Each message that it quotes is provoked here and has to be quoted as it comes. Those that
would take a full disk, a host out of memory or a model which breaks all rules are held to
the text in the source instead.
"""

import re

import pytest

from cupola import SOURCE, ApiError, wait_until
from test_responses import Client, block, interpreter

PAGE = (SOURCE / "doc" / "troubleshooting.md").read_text()
QUOTED = re.findall(r"^ *> (.*)$", PAGE, re.M)
SYMPTOMS = ["The interpreter does not run", "No file was generated", "An upload fails", "A file is corrupt or empty",
            "A session timed out, or is slow", "Unexpected charges", "A package is missing", "A download fails"]

IN_SOURCE = [
    "All … containers of pool '…' are in use",
    "The host has less than … MiB of disk space left, and starts no container with less",
    "its virtual machine did not start",
    "The file is larger than the … bytes that are allowed",
    "The host has no disk space left",
    "changed",
    "The model has called functions … times and come to no answer",
    "This is a new container: the one of earlier calls is gone. … "
    "Its variables, imports and files do not exist here; what is needed has to be made again.",
    "The budget of … session hours a day is used up: … were used today, which ends at 00:00 UTC",
]


def as_pattern(quoted):
    return ".*".join(map(re.escape, quoted.split("…")))


def literals():
    """All that the daemon can say: its string literals, each as one, with … for what varies."""
    for path in (SOURCE / "src").rglob("*.c"):
        text = re.sub(r'"\s*(?:PRI[a-z]\d+\s*)?"', lambda m: "llu" if "PRI" in m[0] else "", path.read_text())
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
            yield re.sub(r"%[-.\d*]*(?:ll|z|h)?[a-z]", "…", literal).removesuffix("\\n")


def refusal(call):
    with pytest.raises(ApiError) as e:
        call()
    return e.value.message


def told(client, words):
    """What the model was told of its last call, line by line."""
    messages = client.asked(words)[-1]["body"]["messages"]
    return [m["content"] for m in messages if m["role"] == "tool"][-1].splitlines()


@pytest.fixture(scope="module")
def provoked(daemon, model, box):
    """Everything that was said, a line each."""
    client = Client(daemon, model, box.id)
    missing = "0" * 48
    said = [
        refusal(lambda: client.ask("hi", model="none")),
        refusal(lambda: client.ask("hi", model="lost")),
        refusal(lambda: client.ask("!dead", model="slow")),
        refusal(lambda: daemon.json("POST", "/v1/files", files={"purpose": (None, "assistants")})),
        refusal(lambda: daemon.json("POST", "/v1/uploads", json={
            "filename": "a", "bytes": 1 << 32, "mime_type": "text/plain", "purpose": "assistants"})),
        refusal(lambda: daemon.json("GET", "/v1/files", key="sk-another")),
        refusal(lambda: daemon.json("GET", f"/v1/files/file-{missing}")),
        refusal(lambda: daemon.json("GET", f"/v1/containers/cntr_{missing}")),
        refusal(lambda: box.json("GET", f"/files/cfile_{missing}/content")),
        *(line.split("warning: ")[-1] for line in daemon.log_text().splitlines() if "emulated" in line),
    ]
    said += of_a_tenant(daemon)
    said += of_code(client, box)
    said += of_an_end(client)
    return said


def of_a_tenant(daemon):
    daemon.ctl("tenants", "create", "small", "sessions=1", "bytes=10")
    key = daemon.ctl("keys", "create", "--tenant", "small").stdout.strip()
    daemon.container(key=key)
    said = [refusal(lambda: daemon.container(key=key)), refusal(lambda: daemon.upload("a", b"x" * 100, key=key))]
    daemon.ctl("tenants", "delete", "small")
    return said


def of_code(client, box):
    client.ask(block("import os; os.symlink('/etc/passwd', '/mnt/data/link')") + "!say linked")
    client.ask(block("1") + block("2") + "!together\n!say one only", max_tool_calls=1)
    client.ask(block("import os; os._exit(3)") + "!say it died")
    said = told(client, "linked") + told(client, "one only") + told(client, "it died")
    for code in ("import nothing_of_the_kind", "%pip install x", "!pip install x",
                 "import urllib.request as u\nu.urlopen('http://example.org')"):
        done = box.run(code)
        said += (done["stdout"] + done["stderr"]).splitlines()
        said += [f"{done['error']['name']}: {done['error']['value']}"] if done["error"] else []
    waiting = [box.start("import time; time.sleep(60)") for _ in range(9)]
    said.append(refusal(lambda: box.run("1")))
    for ident in reversed(waiting):
        box.json("POST", f"/executions/{ident}/interrupt")
    wait_until(lambda: box.get()["session"]["state"] == "running", 60, "the executions to end")
    late = box.run("while True: pass", timeout_s=1)
    assert late["status"] == "timeout" and box.run("6*7")["status"] == "ok"
    # The same sentence goes to models and to clients of MCP.
    return said + [s for s in literals() if s == "The execution was stopped at its time limit."]


def of_an_end(client):
    """Of a container that nothing was asked of."""
    box = client.daemon.container(expires_after={"anchor": "last_active_at", "minutes": 1})
    box.run("1")  # while it boots it is not idle
    client.daemon.advance(61)
    box.wait_ended()
    return [refusal(lambda: box.run("1")), refusal(lambda: client.ask("hi", tools=[interpreter(box.id)]))]


def test_each_symptom_has_its_section():
    assert re.findall(r"^## (.*)$", PAGE, re.M) == SYMPTOMS


@pytest.mark.parametrize("quoted", [q for q in QUOTED if q not in IN_SOURCE])
def test_a_quoted_message_is_what_is_said(provoked, quoted):
    assert any(re.fullmatch(as_pattern(quoted), line) for line in provoked), "\n".join(provoked)


@pytest.mark.parametrize("quoted", IN_SOURCE)
def test_what_cannot_be_provoked_is_what_the_source_says(quoted):
    assert quoted in QUOTED
    assert any(literal == quoted for literal in literals())
