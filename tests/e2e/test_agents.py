"""Prompt agents in real turns: the model is scripted, code runs in VMs.

What the script of a message means is in tests/upstream/model.py.
"""

PROJECT = "/api/projects/default"
AGENTS = f"{PROJECT}/agents"
VERSION = {"api-version": "v1"}
OUTPUTS = {"include": ["code_interpreter_call.outputs"]}


def make_agent(host, name, model, **more):
    definition = {"kind": "prompt", "model": model.name, "tools": [{"type": "code_interpreter"}], **more}
    return host.json("POST", f"{AGENTS}/{name}/versions", params=VERSION, json={"definition": definition})


def ask(host, agent, text, **more):
    """The answer, whatever it is."""
    if agent:
        more["agent_reference"] = {"type": "agent_reference", "name": agent}
    return host.call("POST", f"{PROJECT}/openai/v1/responses", json={"input": text, **OUTPUTS, **more})


def answer(host, agent, text, **more):
    response = ask(host, agent, text, **more)
    assert response.status_code == 200, response.text
    value = response.json()
    assert value["status"] == "completed", value
    return value


def python(code):
    return f"```python\n{code}\n```"


def call_of(response):
    return next(item for item in response["output"] if item["type"] == "code_interpreter_call")


def text_of(response):
    return "".join(part["text"] for item in response["output"] if item["type"] == "message"
                   for part in item["content"])


def logs_of(response):
    return "".join(output["logs"] for output in call_of(response)["outputs"] if output["type"] == "logs")


def conversation(host):
    return host.json("POST", "/v1/conversations", json={})["id"]


def test_structured_inputs_choose_instructions_and_files(daemon, model):
    host = daemon
    make_agent(host, "filled", model, instructions="Rules for {{ who }}.",
               tools=[{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["{{one}}", "{{two}}"]}}],
               structured_inputs={"who": {"default_value": "nobody"}, "two": {},
                                  "one": {"required": True, "schema": {"type": "string"}}})
    file = host.upload("req.txt", b"per-request-9c1")["id"]
    said = answer(host, "filled", "!instructions", structured_inputs={"one": file, "who": "{{one}}"})
    assert "Rules for {{one}}." in text_of(said)
    assert said["agent_reference"] == {"type": "agent_reference", "name": "filled", "version": "1"}
    ran = answer(host, "filled", python("import glob\nprint([open(p).read() for p in glob.glob('/mnt/data/*req.txt')])"),
                 structured_inputs={"one": file})
    assert "per-request-9c1" in logs_of(ran)
    refused = ask(host, "filled", "x")
    assert refused.status_code == 400 and refused.json()["error"]["param"] == "structured_inputs.one"


def test_two_agents_in_a_conversation_have_a_container_each(daemon, model):
    host = daemon
    for name in ("left", "right"):
        make_agent(host, name, model)
    talk = conversation(host)
    left = call_of(answer(host, "left", python("x = 1; print(x)"), conversation=talk))["container_id"]
    right = answer(host, "right", python("print('x' in globals())"), conversation=talk)
    assert call_of(right)["container_id"] != left
    assert "False" in logs_of(right)
    again = answer(host, "left", python("print(x + 1)"), conversation=talk)
    assert call_of(again)["container_id"] == left
    assert "2" in logs_of(again)
    # Another conversation of the same agent never comes there.
    other = answer(host, "left", python("print('x' in globals())"), conversation=conversation(host))
    assert call_of(other)["container_id"] != left
    host.json("DELETE", f"/v1/conversations/{talk}")
    for container in (left, call_of(right)["container_id"]):
        state = host.call("GET", f"/v1/containers/{container}")
        assert state.status_code == 404 or state.json()["status"] == "expired", state.text


def test_an_agent_that_is_gone_or_off_answers_clearly(daemon, model):
    host = daemon
    make_agent(host, "gone", model)
    talk = conversation(host)
    assert answer(host, "gone", "!say here", conversation=talk)["status"] == "completed"
    host.ok("POST", f"{AGENTS}/gone:disable", params=VERSION)
    off = ask(host, "gone", "!say here", conversation=talk)
    assert off.status_code == 403 and off.json()["error"]["code"] == "agent_disabled", off.text
    host.ok("POST", f"{AGENTS}/gone:enable", params=VERSION)
    assert answer(host, "gone", "!say here", conversation=talk)["status"] == "completed"
    host.ok("DELETE", f"{AGENTS}/gone", params=VERSION)
    gone = ask(host, "gone", "!say here", conversation=talk)
    assert gone.status_code == 404
    assert gone.json()["error"]["message"] == "Agent 'gone' not found"
    # The conversation goes on without it.
    assert answer(host, None, "!say here", model=model.name, conversation=talk)["status"] == "completed"


def test_an_agents_own_path_implies_it(daemon, model):
    host = daemon
    make_agent(host, "own", model, instructions="First.")
    make_agent(host, "own", model, instructions="Second.")
    path = f"{AGENTS}/own/endpoint/protocols/openai/responses"
    said = host.json("POST", path, params=VERSION, json={"input": "!instructions"})
    assert "Second." in text_of(said)
    assert said["agent_reference"]["version"] == "2"
    rule = {"type": "FixedRatio", "agent_version": "1", "traffic_percentage": 100}
    host.ok("PATCH", f"{AGENTS}/own", params=VERSION,
            json={"agent_endpoint": {"version_selector": {"version_selection_rules": [rule]}}})
    assert "First." in text_of(host.json("POST", path, params=VERSION, json={"input": "!instructions"}))


def test_what_the_agent_decides_is_not_the_requests(daemon, model):
    host = daemon
    make_agent(host, "strict", model)
    refused = ask(host, "strict", "x", tools=[{"type": "code_interpreter", "container": {"type": "auto"}}])
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "Not allowed when agent is specified."
    outside = host.call("POST", "/v1/responses", json={"input": "x", "agent_reference": {"name": "strict"}})
    assert outside.status_code == 400 and "projects" in outside.json()["error"]["message"]
