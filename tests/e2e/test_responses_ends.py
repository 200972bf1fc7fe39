"""What of a talk outlives its container, and its daemon."""

import pytest

from cupola import running, wait_until
from stream import Reader
from test_responses import Client, block, calls_of, interpreter, logs, text_of

IDLE_MINUTES = 20


@pytest.fixture(scope="module")
def client(model, models):
    """Of a daemon of its own, which is killed and whose clock is moved."""
    with running(settings=models) as d:
        yield Client(d, model, None)


@pytest.fixture(scope="module")
def talk(client):
    """A conversation, whose container is made when it is needed."""
    conversation = client.daemon.json("POST", "/v1/conversations", json={})
    return {"conversation": conversation["id"], "tools": [interpreter()]}


def result_of(client, words):
    """What the model was told of its last call."""
    return [m["content"] for m in client.asked(words)[-1]["body"]["messages"] if m["role"] == "tool"][-1]


def test_a_model_is_told_that_its_container_is_gone_and_which_files_are_left(client, talk):
    make = "value = 42\nopen('/mnt/data/kept.txt', 'w').write('kept')\nprint('made')"
    before, = calls_of(client.ask(block(make), **talk))
    same, = calls_of(client.ask(block("print(value)"), **talk))
    assert logs(same) == "42\n" and same["container_id"] == before["container_id"]

    client.daemon.advance(IDLE_MINUTES * 60 + 1)
    path = f"/v1/containers/{before['container_id']}"
    wait_until(lambda: client.daemon.json("GET", path)["status"] == "expired", 60, "the container to expire")
    after, = calls_of(client.ask(block("print('value' in globals())") + "!say so it is gone", **talk))
    assert after["container_id"] != before["container_id"] and logs(after) == "False\n"
    told = result_of(client, "so it is gone")
    assert told.startswith("This is a new container: the one of earlier calls is gone. ")
    assert "\nleft in the old one: /mnt/data/kept.txt, 4 bytes\n" in told
    file, = client.daemon.json("GET", f"{path}/files")["data"]
    assert client.daemon.ok("GET", f"{path}/files/{file['id']}/content").content == b"kept"
    # Once is enough.
    again, = calls_of(client.ask(block("print(1)") + "!say still there", **talk))
    assert again["container_id"] == after["container_id"]
    assert "new container" not in result_of(client, "still there")


def test_a_named_container_that_has_expired_is_refused(client, talk):
    old = client.ask(block("print(1)"), **talk)
    client.daemon.advance(IDLE_MINUTES * 60 + 1)
    ident = calls_of(old)[0]["container_id"]
    wait_until(lambda: client.daemon.json("GET", f"/v1/containers/{ident}")["status"] == "expired", 60, "the end")
    refused = client.refused("hi", tools=[interpreter(ident)])
    assert (refused.status, refused.code, refused.param) == (400, "container_expired", "tools[0].container")
    assert refused.message.startswith("Container is expired.")


def test_what_a_killed_daemon_leaves_has_failed_and_the_talk_goes_on(client, talk):
    """One was running code, one had its model speaking, one waited for its turn."""
    daemon = client.daemon
    said = client.ask("!say Remember this.", **talk)
    running, speaking = Reader(), Reader()
    one = client.stream(block("import time\nprint('begun', flush=True)\ntime.sleep(5)"), **talk)
    one.read(running, "response.code_interpreter_call.interpreting")
    two = client.stream("!say stalls here\n!stall", background=True)
    two.read(speaking, "response.output_text.delta")
    waiting = client.ask("!say never said", background=True, **talk)
    daemon.kill()
    for stream, reader in ((one, running), (two, speaking)):
        with pytest.raises((OSError, AssertionError), match="cut|reset"):
            stream.read(reader)
        stream.close()
        assert reader.end is None
    daemon.start()

    for ident in (running.id, speaking.id, waiting["id"]):
        response = client.get(ident)
        assert response["status"] == "failed" and response["error"]["code"] == "server_error"
        assert "restarted" in response["error"]["message"] and response["completed_at"]
        assert daemon.call("GET", f"/v1/responses/{ident}?stream=true").status_code == 400
        unclear = daemon.call("GET", f"/v1/responses/{ident}?stream=maybe")
        assert unclear.status_code == 400
        assert unclear.json()["error"]["param"] == "stream"
        assert daemon.call("POST", f"/v1/responses/{ident}/cancel").status_code in (200, 400)
        assert client.get(ident)["status"] == "failed"
    # Failed ones have left nothing in the talk, and the next turn works, code and all.
    context = text_of(client.ask("!context", **talk))
    assert "Remember this." in context and "never said" not in context and "begun" not in context
    last, = calls_of(client.ask(block("print('on it goes')"), **talk))
    assert logs(last) == "on it goes\n"
    items = daemon.json("GET", f"/v1/conversations/{talk['conversation']}/items?limit=100")["data"]
    assert said["output"][0]["id"] in [i["id"] for i in items]
    daemon.json("DELETE", f"/v1/conversations/{talk['conversation']}")
    wait_until(lambda: not daemon.qemus(), 60, "the container to end with its talk")
